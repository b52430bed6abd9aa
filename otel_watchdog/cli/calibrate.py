"""`otel-watchdog calibrate`: thresholds from a team's own good runs, with a bound."""

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from otel_watchdog import calibration, settings_file
from otel_watchdog.calibration import Calibration, GoodRun, Promise
from otel_watchdog.calibration.levels import OFF, thresholds_of
from otel_watchdog.calibration.written import statement
from otel_watchdog.cli import stored
from otel_watchdog.cli.bar import reading
from otel_watchdog.cli.safe import safe
from otel_watchdog.config import Profile, WatchdogConfig
from otel_watchdog.errors import ConfigError, WatchdogError

EXIT_NO_PROMISE: Final = 1
"""Exit code where the runs do not allow the promise; no settings are written."""

EXIT_BAD_INPUT: Final = 2
"""Exit code where a file cannot be read, or an option or setting is wrong."""

EPILOG: Final = """
**Examples**

`otel-watchdog calibrate good/*.json -o watchdog.yaml`: at most 2 % warned, 0.5 % halted, 95 % sure.

`otel-watchdog calibrate --warned 0.05 --halted 0.01 good.jsonl.gz`: other bounds; settings on
standard output.

`otel-watchdog calibrate --next 200 good.jsonl.gz`: of the next 200 good runs, rather than of all.

`otel-watchdog calibrate --config watchdog.yaml --json good.pb | jq .promise`: from settings of
yours, for programs.

**Exit codes**: 0, the promise can be given; 1, it cannot: standard error says how many good runs it
takes; 2, a file could not be read, or an option or setting is wrong.
"""


def calibrate(  # noqa: PLR0913 - the command's options
    *,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACES",
            show_default=False,
            help="Recordings of runs that went well, as for `replay`. A good run is a run of "
            "observation lines, or a session of a trace.",
        ),
    ],
    warned: Annotated[float, typer.Option(help="The most good runs that are warned.")] = 0.02,
    halted: Annotated[float, typer.Option(help="The most good runs that are halted.")] = 0.005,
    confidence: Annotated[float, typer.Option(help="How sure both are to hold.")] = 0.95,
    next_runs: Annotated[
        int | None,
        typer.Option(
            "--next", help="Of how many runs to come it is said.", show_default="of all runs"
        ),
    ] = None,
    profile: Annotated[
        Profile | None, typer.Option(help="The preset to begin with.", show_default="standard")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="YAML file of settings to begin with.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write the settings to.", show_default="print"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")] = False,
) -> None:
    """Choose thresholds from your own good runs, and say how many of them will be warned.

    Thresholds only rise. The bound is exact for runs like these, whatever their distribution; where
    there are too few to halt any, the settings let none be halted.
    """
    try:
        promise = Promise(warned=warned, halted=halted, confidence=confidence, next_runs=next_runs)
        begun = WatchdogConfig.load(config, **({"profile": profile} if profile else {}))
        given = settings_file.read(config)[0] if config is not None else {}
        runs = _read(files, begun)
    except WatchdogError as error:
        _complain(str(error))
        raise typer.Exit(EXIT_BAD_INPUT) from None
    made = _calibrated(runs, begun, promise)
    if as_json:
        typer.echo(orjson.dumps(calibration.as_json(made, begun), option=orjson.OPT_INDENT_2))
    else:
        _show(made, begun)
    if made.config is None:
        for line in statement(made):
            _complain(line)
        raise typer.Exit(EXIT_NO_PROMISE)
    _write(calibration.as_yaml(made, begun, given), output, quiet=as_json)


def _read(files: list[str], begun: WatchdogConfig) -> list[GoodRun]:
    runs: list[GoodRun] = []
    for file in files:
        with reading(file) as bar:
            runs += calibration.read(
                stored.opened(file), begun, on_read=bar.advance, on_error=_complain
            )
    if not runs:
        raise ConfigError("there is no run in these files")
    return runs


def _calibrated(runs: list[GoodRun], begun: WatchdogConfig, promise: Promise) -> Calibration:
    console = Console(stderr=True)
    columns = (TextColumn("trying settings"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not sys.stderr.isatty()
    ) as progress:
        task = progress.add_task("", total=OFF + 2)
        return calibration.calibrate(runs, begun, promise, on_step=lambda: progress.advance(task))


def _show(made: Calibration, begun: WatchdogConfig) -> None:
    console = Console(highlight=False, markup=False, emoji=False, stderr=True)
    table = Table(box=None, pad_edge=False)
    for column in ("detector", "thresholds", "found in", "chosen", "then found in"):
        table.add_column(column, overflow="fold")
    chosen = thresholds_of(made.config) if made.config is not None else {}
    for name, thresholds in thresholds_of(begun).items():
        after = _numbers(chosen.get(name)) if made.config is not None else "-"
        then = str(made.found_after.get(name, 0)) if made.config is not None else "-"
        before = str(made.found.get(name, 0))
        table.add_row(Text(safe(name)), _numbers(thresholds), before, after, then)
    console.print(table)
    if made.config is not None:
        for line in statement(made):
            console.print(Text(line))


def _numbers(thresholds: dict[str, Any] | None) -> str:
    return "off" if thresholds is None else " ".join(str(n) for n in thresholds.values())


def _write(text: str, output: Path | None, *, quiet: bool) -> None:
    if output is None:
        if not quiet:
            typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        _complain(f"{output}: {error.strerror}")
        raise typer.Exit(EXIT_BAD_INPUT) from None


def _complain(what: str) -> None:
    typer.echo(safe(what, limit=1000), err=True)
