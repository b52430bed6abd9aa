"""Examines recorded spans and log records."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from otel_watchdog import recordings, replay
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.dialects import BUILT_IN, Dialect, switches_of
from otel_watchdog.doctor.report import Calls, Recognised, Remedy, Report
from otel_watchdog.model import ToolCall, ToolOutcome, ToolResult
from otel_watchdog.otlp import Recorded
from otel_watchdog.recordings import RecordedRun
from otel_watchdog.scopes import Scopes
from otel_watchdog.spans import LogRecord, PartReading

_NO_CALLS: Final = (
    "no tool call was found: trace the model client or the framework's tools too, or give the "
    "log records with the spans"
)
_NOTHING: Final = "no span is in a dialect: is the framework instrumented?"


def examine_recording(
    files: Sequence[str | Path | BinaryIO], *, config: WatchdogConfig | None = None
) -> Report:
    """Say what the watchdog sees of a recording.

    Args:
        files: Spans and log records that belong together, as `otel-watchdog replay` reads them.
        config: Settings: which detectors look. Default: from the environment.

    Raises:
        InputError: A file cannot be read.
        ConfigError: A setting is wrong.
    """
    first, *also = files
    dialects: dict[str, dict[str | None, Dialect | None]] = {}
    recognised = _recognised(_recorded(files), dialects)
    report = Report(name=str(first), recognised=recognised)
    for run in replay.read(first, also=also, config=config):
        report.sessions = [*report.sessions, *run.sessions]
        _count(report.calls, run.observations)
        for lacking in run.blind.values():
            for detector, reason in lacking.items():
                told = report.blind.setdefault(reason, {})
                told[detector] = told.get(detector, 0) + 1
    report.problems = _problems(report)
    if report.blind or report.problems:
        report.remedies = _remedies(report, dialects)
    return report


def _recorded(files: Sequence[str | Path | BinaryIO]) -> Iterator[Recorded]:
    for file in files:
        with recordings.open_source(file) as source:
            for item in recordings.read(source):
                if not isinstance(item, RecordedRun):
                    yield item


def _recognised(
    spans: Iterator[Recorded], dialects: dict[str, dict[str | None, Dialect | None]]
) -> list[Recognised]:
    """Count spans by scope and by the dialect that reads them."""
    scopes = Scopes(on_error=_ignore)
    counts: dict[tuple[str, str | None], Recognised] = {}
    for span in spans:
        dialect = _reader(scopes, span)
        name = dialect.name if dialect is not None else None
        dialects.setdefault(span.scope, {})[name] = dialect
        one = counts.setdefault((span.scope, name), Recognised(scope=span.scope, dialect=name))
        one.spans += 1
    spoken = {scope for scope, name in counts if name is not None}
    return [
        one
        for (scope, name), one in sorted(counts.items(), key=lambda item: -item[1].spans)
        if name is not None or scope not in spoken
    ]


def _reader(scopes: Scopes, span: Recorded) -> Dialect | None:
    read = (
        scopes.read_log(span)
        if isinstance(span, LogRecord)
        else scopes.read(scopes[span.scope], span)
    )
    if read is None:
        return None
    for dialect in scopes[span.scope].dialects:
        asked: Any = dialect
        ask = getattr(asked, "read_log", None) if isinstance(span, LogRecord) else asked.read
        found = ask(span) if ask is not None else None
        if found is not None and isinstance(found, PartReading) == isinstance(read, PartReading):
            return dialect
    return None


def _ignore(*_: object) -> None:
    """A dialect that fails reads nothing; replay notes it."""


def _count(calls: Calls, observations: Sequence[replay.Observed]) -> None:
    for seen in observations:
        observation = seen.observation
        if isinstance(observation, ToolCall):
            calls.total += 1
            calls.arguments += observation.arguments is not None
            calls.ids += observation.call_id is not None
        elif isinstance(observation, ToolResult):
            failed = observation.outcome is ToolOutcome.ERROR
            calls.failed += failed
            calls.outcomes += observation.outcome is not ToolOutcome.UNKNOWN
            calls.results += observation.result is not None and not failed


def _problems(report: Report) -> list[str]:
    if report.calls.total:
        return []
    if not any(one.dialect for one in report.recognised) and not report.sessions:
        return [_NOTHING]
    return [_NO_CALLS]


def _remedies(
    report: Report, dialects: dict[str, dict[str | None, Dialect | None]]
) -> list[Remedy]:
    """Return the switches of the scopes that were read, where content is missing."""
    calls = report.calls
    complete = calls.total and calls.arguments == calls.total and calls.share("results") == 1
    if complete:
        return []
    found: dict[Remedy, None] = {}
    for one in report.recognised:
        readers: list[Any] = [dialects.get(one.scope, {}).get(one.dialect)]
        readers += [d for d in BUILT_IN if d.scopes and one.scope.startswith(d.scopes)]
        for reader in readers if one.dialect is not None else ():
            for switch in switches_of(reader, one.scope) if reader is not None else ():
                found[Remedy(one.scope, switch.setting, switch.shows)] = None
    return list(found)
