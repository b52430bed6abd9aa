"""`otel-watchdog doctor`: what the watchdog can see, and what to set where it cannot."""

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from otel_watchdog import doctor as examination
from otel_watchdog.cli.safe import safe
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.doctor import Report
from otel_watchdog.errors import ConfigError, InputError

EXIT_ILL: Final = 1
"""Exit code where something is hidden from the watchdog."""

EXIT_BAD_INPUT: Final = 2
"""Exit code where a file or module cannot be read, or a setting is wrong."""

EPILOG: Final = """
**Examples**

`otel-watchdog doctor trace.json`: what is visible in this trace, and what to set for the rest?

`otel-watchdog doctor trace.json trace.logs.json`: spans and log records of the same runs.

`otel-watchdog doctor --module my_app.tracing:provider`: is the watchdog where it sees all?

`otel-watchdog doctor --json trace.json | jq .remedies`

**Exit codes**: 0, nothing is hidden; 1, something is, and the page says what to set; 2, a file or
module could not be read, or an option or setting is wrong.
"""

_COUNTED: Final = (
    ("arguments", "arguments"),
    ("results", "results (of those that did not fail)"),
    ("ids", "call ids"),
    ("outcomes", "outcomes"),
)
_WIDTH: Final = 44


def doctor(
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]…",
            show_default=False,
            help="Spans and log records that belong together, in any form that `replay` reads.",
        ),
    ] = None,
    module: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:PROVIDER",
            show_default=False,
            help="Import a module of yours, with the working directory on the path, and examine "
            "its tracer provider, or what a function of this name returns.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    config: Annotated[
        Path | None, typer.Option(help="YAML file of settings.", show_default=False)
    ] = None,
) -> None:
    """Show what the watchdog sees of a trace or a program, and what to set for the rest."""
    if bool(files) == bool(module):
        raise typer.BadParameter("give files, or --module")
    if files and "-" in files:
        raise typer.BadParameter("standard input cannot be read twice: give a file")
    try:
        if module:
            report = examination.examine(_imported(module))
        else:
            settings = WatchdogConfig.load(config)
            report = examination.examine_recording(files or [], config=settings)
    except (ConfigError, InputError) as error:
        typer.echo(safe(str(error), limit=1000), err=True)
        raise typer.Exit(EXIT_BAD_INPUT) from None
    if as_json:
        typer.echo(orjson.dumps(report.as_json()))
    else:
        _show(report)
    if not report.is_well:
        raise typer.Exit(EXIT_ILL)


def _imported(place: str) -> Any:
    """Import `module:attribute`; call the attribute if it is a function."""
    name, _, attribute = place.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(name), attribute or "provider")
        is_provider = hasattr(found, "get_tracer")
        return found if is_provider or not callable(found) else found()
    except Exception as error:  # noqa: BLE001 - a module of somebody's may raise anything
        raise InputError(f"{place}: cannot be imported: {type(error).__name__}: {error}") from None


def _show(report: Report) -> None:
    say = typer.echo
    say(safe(report.name))
    for processor in report.processors:
        say(f"  processor  {safe(processor)}")
    for one in report.recognised:
        reader = one.dialect or "no dialect: says nothing of agents"
        say(f"  {one.spans:>7} spans  {safe(one.scope or '(no scope)')}  →  {reader}")
    if report.recognised:
        _show_calls(report)
    for session in report.sessions:
        agent = f"  agent {safe(session.agent)}" if session.agent else ""
        say(
            f"  session {safe(session.id)}{agent}: {session.runs} runs, {session.turns} turns, "
            f"{session.calls} tool calls"
        )
    for problem in report.problems:
        say(f"  wrong: {safe(problem)}")
    for reason, detectors in report.blind.items():
        say(f"  blind: {safe(reason)}: {safe(', '.join(detectors), limit=1000)}")
    if report.remedies:
        say("  to see more, set")
    for remedy in report.remedies:
        say(f"    {remedy.setting}")
        say(f"        {remedy.shows}  ({safe(remedy.scope)})")
    if report.is_well:
        say("  nothing is hidden")


def _show_calls(report: Report) -> None:
    calls = report.calls
    typer.echo(f"  {calls.total} tool calls, {calls.failed} of them failed; known are")
    for known, words in _COUNTED:
        share = calls.share(known)
        if share is not None:
            typer.echo(f"    {words:<{_WIDTH}}{share:>5.0%}")
