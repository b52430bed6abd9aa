"""Examines the tracer provider of a live process."""

from typing import Any, Final

from opentelemetry import trace

from otel_watchdog import sampling
from otel_watchdog.doctor.report import Report
from otel_watchdog.processor import WatchdogSpanProcessor

_CURE: Final = "from otel_watchdog import install; install(provider)"
_REWRITERS: Final = ("openinference.", "logfire.")
"""Beginnings of the modules of span processors that add attributes when a span ends."""


def examine(provider: trace.TracerProvider | None = None) -> Report:
    """Say who reads a tracer provider's spans, in what order, and which are lost.

    Args:
        provider: Default: the global one.
    """
    shown = provider if provider is not None else trace.get_tracer_provider()
    processors = _processors(shown)
    report = Report(
        name=f"{type(shown).__module__}.{type(shown).__name__}",
        processors=[f"{type(one).__module__}.{type(one).__name__}" for one in processors],
    )
    report.problems = [
        *_watch_problems(shown, processors),
        *_order_problems(processors),
        *_sampling_problems(shown),
        *_isolation_problems(shown),
    ]
    watchdog = next((one for one in processors if isinstance(one, WatchdogSpanProcessor)), None)
    if watchdog is not None:
        for session in watchdog.known_sessions():
            for detector, reason in watchdog.blind(session).items():
                told = report.blind.setdefault(reason, {})
                told[detector] = told.get(detector, 0) + 1
    return report


def _processors(provider: Any) -> list[Any]:
    """Return a provider's processors in order; the SDK does not show them otherwise."""
    active = getattr(provider, "_active_span_processor", None)
    return list(getattr(active, "_span_processors", ()))


def _watch_problems(provider: Any, processors: list[Any]) -> list[str]:
    if not hasattr(provider, "add_span_processor"):
        return [
            (
                f"the tracer provider is a {type(provider).__name__}, which takes no span "
                "processors: set an opentelemetry.sdk.trace.TracerProvider first"
            )
        ]
    watchdogs = [one for one in processors if isinstance(one, WatchdogSpanProcessor)]
    if not watchdogs:
        return [f"no watchdog is installed on this tracer provider: {_CURE}"]
    if watchdogs[0].is_closed:
        return [f"the watchdog was shut down with its tracer provider: {_CURE} again"]
    if len(watchdogs) > 1:
        return ["more than one watchdog is installed: each corrects on its own; install one"]
    return []


def _order_problems(processors: list[Any]) -> list[str]:
    """Return what comes after the watchdog and changes spans, which it then does not see."""
    problems: list[str] = []
    seen = False
    for one in processors:
        seen = seen or isinstance(one, WatchdogSpanProcessor)
        if seen and type(one).__module__.startswith(_REWRITERS):
            problems.append(
                f"{type(one).__name__} adds attributes after the watchdog has read the span: add "
                "it first"
            )
    return problems


def _sampling_problems(provider: Any) -> list[str]:
    lossy = sampling.lost_by(provider)
    if not lossy:
        return []
    return [
        (
            f"the sampler {lossy} drops runs before any processor sees them: wrap it as "
            "otel_watchdog.sampling.RecordAll(sampler), which exports as few and shows all"
        )
    ]


def _isolation_problems(provider: Any) -> list[str]:
    current = trace.get_tracer_provider()
    if provider is current or isinstance(current, trace.ProxyTracerProvider):
        return []
    return [
        (
            "this is not the global tracer provider: only spans of tracers made from it are seen; "
            "instrumentations that were not given it write elsewhere"
        )
    ]
