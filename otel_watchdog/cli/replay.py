"""`otel-watchdog replay`: what the watchdog makes of recorded traces."""

import io
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer
from rich.console import Console

from otel_watchdog import replay as recorded
from otel_watchdog.cli import report, stored
from otel_watchdog.cli.bar import reading
from otel_watchdog.cli.safe import safe
from otel_watchdog.config import Profile, WatchdogConfig
from otel_watchdog.errors import ConfigError, InputError
from otel_watchdog.judges import Judge
from otel_watchdog.model import Mode
from otel_watchdog.second_opinion import judge_of

EXIT_BAD_INPUT: Final = 2
"""Exit code where a file cannot be read, or an option or setting is wrong."""

STANDARD_INPUT: Final = "-"

_MODES: Final = "|".join(mode.label for mode in Mode)

EPILOG: Final = """
**Examples**

`otel-watchdog replay trace.json`: what would it have said?

`otel-watchdog replay --json runs.jsonl.gz | jq .findings`: for programs, one object a run.

`otel-watchdog replay --together trace.json trace.logs.json`: spans, and the log records in which
coding agents put their content.

`otel-watchdog replay --show observations trace.pb`: what does it see of the agent?

`otel-watchdog replay langfuse:2322eaddcf3294efc3094f77cc7b3997`: a trace that Langfuse has stored.

`curl -s https://…/trace.json | otel-watchdog replay --profile classic -`

**Exit codes**: 0, all was read, whatever was found; 2, a file could not be read, or an option or
setting is wrong: one line on standard error names the file and the place.
"""


class Show(Enum):
    """What a person is shown of each run."""

    OBSERVATIONS = "observations"
    FINDINGS = "findings"
    CORRECTIONS = "corrections"


def _mode(word: str) -> str:
    if word.lower() not in _MODES.split("|"):
        raise typer.BadParameter(f"{word!r} is none of {_MODES.replace('|', ', ')}")
    return word.lower()


def replay(  # noqa: PLR0913 - the command's options
    *,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="Recordings: OTLP/JSON (one request, or one a line; spans, log records or "
            "both), OTLP protobuf, or "
            "observation lines; also gzipped. Told by content, not by name; `-` is standard "
            "input, and `langfuse:<trace id>` a trace that Langfuse has stored.",
        ),
    ],
    profile: Annotated[
        Profile | None, typer.Option(help="Judge by this preset.", show_default="standard")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            parser=_mode, metavar=_MODES, help="Correct as in this mode.", show_default="feedback"
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a run, one a line.")
    ] = False,
    together: Annotated[
        bool,
        typer.Option(
            "--together",
            help="The files are one recording: its spans and its log records, or pieces of it.",
        ),
    ] = False,
    show: Annotated[
        list[Show] | None,
        typer.Option(
            help="What to show; may be given several times. With `--json`, observations are "
            "added to the rest.",
            show_default="findings and corrections",
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="YAML file of settings.", show_default=False)
    ] = None,
    judge: Annotated[
        bool,
        typer.Option(
            "--judge",
            help="Ask the model that the settings name where the rules see nothing; it costs what "
            "the model costs.",
        ),
    ] = False,
) -> None:
    """Show what the watchdog would have found and said in recorded traces.

    The agent of a recording cannot be corrected: each correction counts as given at its next
    turn, so that the ladder climbs as it would have done.
    """
    shown = frozenset(show or (Show.FINDINGS, Show.CORRECTIONS))
    settings = _settings(config, profile, mode)
    asked = _judge(settings) if judge else None
    view = _Json(shown) if as_json else _Human(shown)
    failed = False
    for file, *also in [files] if together else [[file] for file in files]:
        try:
            with reading(file) as bar:
                for run in recorded.read(
                    stored.opened(file),
                    also=[stored.opened(one) for one in also],
                    config=settings,
                    judge=asked,
                    keep_observations=Show.OBSERVATIONS in shown,
                    on_read=bar.advance,
                ):
                    bar.pause()
                    view.show(run)
                    for error in run.errors:
                        _complain(f"{run.id}: {error}")
        except (ConfigError, InputError) as error:
            failed = True
            _complain(str(error))
    if failed:
        raise typer.Exit(EXIT_BAD_INPUT)


def _settings(config: Path | None, profile: Profile | None, mode: str | None) -> WatchdogConfig:
    given: dict[str, Any] = {"profile": profile, "mode": mode}
    try:
        return WatchdogConfig.load(
            config, **{name: value for name, value in given.items() if value is not None}
        )
    except ConfigError as error:
        _complain(str(error))
        raise typer.Exit(EXIT_BAD_INPUT) from None


def _judge(config: WatchdogConfig) -> Judge:
    try:
        found = judge_of(config)
    except ConfigError as error:
        _complain(str(error))
        raise typer.Exit(EXIT_BAD_INPUT) from None
    if found is None:
        _complain("--judge: judge.model must name a model, such as openai:gpt-5-mini")
        raise typer.Exit(EXIT_BAD_INPUT)
    return found


def _complain(what: str) -> None:
    typer.echo(safe(what, limit=1000), err=True)


class _Json:
    """One object a run, one a line."""

    def __init__(self, shown: frozenset[Show]) -> None:
        self._observations = Show.OBSERVATIONS in shown

    def show(self, run: recorded.ReplayedRun) -> None:
        typer.echo(orjson.dumps(run.as_json(observations=self._observations)))


class _Human:
    """Tables."""

    def __init__(self, shown: frozenset[Show]) -> None:
        self._shown = shown
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        self._console = Console(highlight=False, markup=False, emoji=False)

    def show(self, run: recorded.ReplayedRun) -> None:
        for part in report.lines(run, {one.value for one in self._shown}):
            self._console.print(part)
