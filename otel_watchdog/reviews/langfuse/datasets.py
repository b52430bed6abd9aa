"""Corrections as items of a Langfuse dataset, to be labelled there, and the labels back."""

import inspect
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from otel_watchdog import semconv
from otel_watchdog.reviews.langfuse.client import told
from otel_watchdog.reviews.langfuse.traces import observations

DATASET: Final = "watchdog-corrections"
FALSE_ALARM: Final = semconv.SCORE_FALSE_ALARM
"""The score by which people, or an evaluator, say that a correction was not called for."""

_PAGE: Final = 100
_PLACE: Final = ("observation_id", "trace_id")


class Label(NamedTuple):
    """What was said of a correction."""

    trace_id: str
    observation_id: str
    """The correction span's."""
    false_alarm: bool
    by: str
    """`ANNOTATION`: a person; `EVAL` or `API`: a program."""
    comment: str | None = None


def export_corrections(
    langfuse: Any, *, dataset: str = DATASET, since: datetime | None = None
) -> int:
    """Put each correction into a dataset; return how many.

    An item's id is the correction's, so what is put twice is one item. Its input is what fired and
    the message; what is expected is left to whoever labels it.

    Args:
        langfuse: A client.
        dataset: Made if it is not there.
        since: Corrections from then on; default: all.

    Raises:
        InputError: Langfuse refused, or could not be reached.
    """
    count = 0
    with told(f"the dataset {dataset!r}"):
        langfuse.create_dataset(name=dataset, description="What the watchdog said to agents.")
        for seen in observations(langfuse, type="GUARDRAIL", from_start_time=since):
            correction = _facts(seen.metadata).get(semconv.WATCHDOG_CORRECTION_ID)
            if correction is None:
                continue
            langfuse.create_dataset_item(
                dataset_name=dataset,
                id=str(correction),
                input={"fired": seen.input, "message": seen.output},
                metadata={"name": seen.name, "level": str(seen.level)},
                source_trace_id=seen.trace_id,
                source_observation_id=seen.id,
            )
            count += 1
    return count


def labels(langfuse: Any) -> Iterator[Label]:
    """Yield what was said of corrections, by scores called `watchdog.false_alarm`.

    Raises:
        InputError: Langfuse refused, or could not be reached.
    """
    with told("the labels"):
        for score in _scores(langfuse.api.scores.get_many):
            observation, trace = (getattr(score, key, None) for key in _PLACE)
            if observation is None:
                subject = getattr(score, "subject", None)
                observation, trace = (getattr(subject, key, None) for key in ("id", "trace_id"))
            if observation is None or trace is None:
                continue
            source = getattr(score.source, "value", score.source)
            yield Label(trace, observation, bool(score.value), str(source), score.comment)


def _scores(get_many: Any) -> Iterator[Any]:
    """Yield scores from either API: pages by cursor in version 5 of the SDK, numbered before."""
    by_cursor = "cursor" in inspect.signature(get_many).parameters
    options: dict[str, Any] = {"name": FALSE_ALARM, "limit": _PAGE}
    if by_cursor:
        options["fields"] = "details,subject"
    else:
        options["page"] = 1
    while True:
        answer = get_many(**options)
        yield from answer.data
        if by_cursor:
            options["cursor"] = getattr(answer.meta, "cursor", None)
            if not options["cursor"]:
                return
        elif options["page"] >= answer.meta.total_pages:
            return
        else:
            options["page"] += 1


def _facts(metadata: Any) -> dict[str, Any]:
    """Return metadata with dotted keys, whether Langfuse gave them nested or flat."""
    flat: dict[str, Any] = {}

    def walk(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{prefix}.{key}" if prefix else str(key), inner)
        else:
            flat[prefix] = value

    walk("", metadata or {})
    return flat
