"""Correction texts kept as Langfuse prompts, so that they are changed without a release."""

import logging
import re
import threading
from typing import Any, Final

from otel_watchdog import semconv
from otel_watchdog.model import MARKER, Finding, Tier
from otel_watchdog.reviews.langfuse.client import told
from otel_watchdog.transport.background import Worker
from otel_watchdog.wording import ADVICE, OPENING, Worded, left, message

PREFIX: Final = "watchdog/"
"""Opens the names of our prompts: `watchdog/<detector>/<tier>`, else `watchdog/<tier>`."""

CHECK: Final = f"{PREFIX}{semconv.DRIFT_CHECK}"
"""Name of the prompt that tells a judge of its task."""

_FIELD: Final = re.compile(r"\{\{\s*(guidance|turns_left|default)\s*\}\}")
_PAGE: Final = 100
_TIMEOUT_SECONDS: Final = 5

_logger = logging.getLogger(__name__)


class LangfusePrompts:
    """Words corrections by prompts of Langfuse's, and by the built-in texts where there is none.

        WatchdogSpanProcessor(wording=LangfusePrompts(langfuse))

    The prompt `watchdog/<detector>/<tier>` counts, else `watchdog/<tier>`, such as
    `watchdog/same_error/nudge` or `watchdog/force-wrap`. What a judge is told of its task stands in
    `watchdog/drift-check`. In it, `{{guidance}}` is what was seen and
    one way out, `{{turns_left}}` says how many turns are left, and `{{default}}` is the whole
    built-in text. Which prompt was used, and its version, stands on the correction span.

    Prompts are fetched on a thread of its own, again and again; while none has come, and where
    Langfuse cannot be reached, the texts known last are used.

    Args:
        langfuse: A client of `langfuse`, version 4 or 5.
        label: Which version of each prompt counts.
        refresh_seconds: Seconds between two looks, at least 1.
    """

    def __init__(
        self, langfuse: Any, *, label: str = "production", refresh_seconds: float = 60.0
    ) -> None:
        self._langfuse = langfuse
        self._label = label
        self._refresh_seconds = max(1.0, refresh_seconds)
        self._prompts: dict[str, tuple[str, int]] = {}
        self._has_failed = False
        self._fetched = threading.Event()
        self._worker = Worker(self._fetch, name="otel-watchdog langfuse prompts")
        self._worker.wake()

    def __call__(self, finding: Finding, tier: Tier, *, turns_left: int | None) -> Worded:
        """Return the message for a finding; waits for nothing."""
        default = message(finding, tier, turns_left=turns_left)
        name = f"{PREFIX}{finding.detector}/{tier.label}"
        if name not in self._prompts:
            name = f"{PREFIX}{tier.label}"
        text, version = self._prompts.get(name, ("", 0))
        if not text:
            return Worded(default)
        fields = {
            "guidance": finding.guidance,
            "turns_left": "" if turns_left is None else left(turns_left),
            "default": default.removeprefix(MARKER).lstrip(),
        }
        said = _FIELD.sub(lambda match: fields[match[1]], text).strip()
        return Worded(said if said.startswith(MARKER) else f"{MARKER} {said}", name, version)

    def instructions(self, default: str) -> Worded:
        """Return what a judge is told of its task, with the prompt it is from; waits for nothing.

        Args:
            default: The built-in text, for where there is no prompt `watchdog/drift-check`.
        """
        text, version = self._prompts.get(CHECK, ("", 0))
        return Worded(text, CHECK, version) if text else Worded(default)

    def __deepcopy__(self, _: object) -> "LangfusePrompts":
        """Return itself: sessions share what was fetched."""
        return self

    def wait(self, timeout_seconds: float) -> bool:
        """Wait until prompts were looked for once; say whether they were. For tests."""
        return self._fetched.wait(timeout_seconds)

    def close(self) -> None:
        """Fetch nothing more."""
        self._worker.close(timeout_seconds=1.0)

    def _fetch(self) -> float:
        try:
            found = {name: self._read(name) for name in _names(self._langfuse, self._label)}
        except Exception as error:  # noqa: BLE001 - whatever the client or the network raises
            if not self._has_failed:
                self._has_failed = True
                _logger.warning("prompts of Langfuse's cannot be read, so texts stay: %s", error)
        else:
            self._has_failed = False
            self._prompts = {name: one for name, one in found.items() if one is not None}
        self._fetched.set()
        return self._refresh_seconds

    def _read(self, name: str) -> tuple[str, int] | None:
        prompt = self._langfuse.get_prompt(
            name,
            label=self._label,
            cache_ttl_seconds=0,
            max_retries=0,
            fetch_timeout_seconds=_TIMEOUT_SECONDS,
        )
        text = prompt.prompt
        return (text, prompt.version) if isinstance(text, str) and text.strip() else None


def push_prompts(
    langfuse: Any, *, label: str = "production", instructions: str | None = None
) -> list[str]:
    """Put the built-in texts into Langfuse, to be edited there; return the names of those made.

    A prompt that is there already is left alone.

    Args:
        langfuse: A client.
        label: Of the version that is made.
        instructions: What a judge is told of its task; `None`: there is no prompt for it.

    Raises:
        InputError: Langfuse refused, or could not be reached.
    """
    texts = {
        f"{PREFIX}{tier.label}": f"{OPENING} {{{{guidance}}}} {advice} {{{{turns_left}}}}"
        for tier, advice in ADVICE.items()
    }
    if instructions is not None:
        texts[CHECK] = instructions
    made = []
    with told("the prompts"):
        there = set(_names(langfuse, None))
        for name, text in texts.items():
            if name not in there:
                langfuse.create_prompt(name=name, prompt=text, labels=[label], tags=["watchdog"])
                made.append(name)
    return made


def _names(langfuse: Any, label: str | None) -> list[str]:
    names: list[str] = []
    page = 1
    while True:
        listed = langfuse.api.prompts.list(label=label, page=page, limit=_PAGE)
        names += [one.name for one in listed.data if one.name.startswith(PREFIX)]
        if page >= listed.meta.total_pages:
            return names
        page += 1
