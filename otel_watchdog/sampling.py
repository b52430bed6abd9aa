"""Lets the watchdog see every run where only some are exported."""

import os
from collections.abc import Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_ON,
    Decision,
    ParentBased,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes

from otel_watchdog.errors import ConfigError

ARGUMENT_VARIABLE: Final = "OTEL_TRACES_SAMPLER_ARG"

_COMPLETE: Final = ("AlwaysOnSampler", "RecordAll{", "ParentBased{root:AlwaysOnSampler")
"""How descriptions of samplers begin that leave out no run that began here."""


class RecordAll(Sampler):
    """Records what another sampler drops: processors see it, exporters do not.

    Without it, a watchdog beside a sampler of a tenth watches a tenth of all runs. The SDK's
    `AlwaysRecordSampler`, which came with version 1.45, will not do: what it records lacks the
    attributes that spans begin with. Corrections of a run that is not exported are not, either;
    they reach the agent all the same.

    >>> RecordAll(TraceIdRatioBased(0.1)).get_description()
    'RecordAll{TraceIdRatioBased{0.1}}'

    Args:
        sampler: Decides what is exported.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def should_sample(  # noqa: PLR0913, PLR0917 - the SDK's signature
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """See `Sampler.should_sample`."""
        result = self._sampler.should_sample(
            parent_context, trace_id, name, kind, attributes, links, trace_state
        )
        if result.decision is not Decision.DROP:
            return result
        return SamplingResult(Decision.RECORD_ONLY, attributes, result.trace_state)

    def get_description(self) -> str:
        """See `Sampler.get_description`."""
        return f"RecordAll{{{self._sampler.get_description()}}}"


def from_environment(argument: str | None = None) -> Sampler:
    """Make the sampler of `OTEL_TRACES_SAMPLER=otel_watchdog`.

    Args:
        argument: Share of traces that is exported, from 0 to 1; default: all.

    Raises:
        ConfigError: It is no such number.
    """
    if not argument:
        return RecordAll(ParentBased(ALWAYS_ON))
    try:
        return RecordAll(ParentBased(TraceIdRatioBased(float(argument))))
    except ValueError:
        raise ConfigError(
            f"{ARGUMENT_VARIABLE} must be a number from 0 to 1, got {argument!r}"
        ) from None


def from_configuration() -> Sampler:
    """Make the sampler of `sampler: {otel_watchdog: }` in a declarative configuration."""
    return from_environment(os.environ.get(ARGUMENT_VARIABLE))


def lost_by(provider: object) -> str | None:
    """Return the description of a provider's sampler where it keeps runs from the watchdog."""
    sampler = getattr(provider, "sampler", None)
    if not isinstance(sampler, Sampler):
        return None
    description = sampler.get_description()
    return None if description.startswith(_COMPLETE) else description
