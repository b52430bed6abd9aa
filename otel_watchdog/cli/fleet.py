"""`otel-watchdog report`: what many agents did, and what the watchdog said to them."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import orjson
import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from otel_watchdog import fleet_report
from otel_watchdog.cli import stored
from otel_watchdog.cli.safe import safe
from otel_watchdog.cli.signal import TOKEN_VARIABLE
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.errors import WatchdogError
from otel_watchdog.fleet_report import Report, pages
from otel_watchdog.model import Tier

EXIT_BAD_INPUT: Final = 2
"""Exit code where a file cannot be read, or a setting is wrong."""

_SHOWN: Final = 10
_URLS: Final = ("http://", "https://")


class Form(Enum):
    """How the report is written."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


def report(
    *,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACES",
            show_default=False,
            help="Recordings, as for `replay`; or the URL of a fleet service, to read its store.",
        ),
    ],
    form: Annotated[Form, typer.Option("--format", help="How it is written.")] = Form.TERMINAL,
    output: Annotated[
        Path | None, typer.Option(help="File to write to.", show_default="standard output")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="YAML file of settings.", show_default=False)
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL=INPUT/OUTPUT",
            show_default=False,
            help="US dollars for a million tokens, where spans do not say what a call cost; `*` "
            "stands for any characters.",
        ),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(help="From a service: what changed since then, in UTC.", show_default="all"),
    ] = None,
) -> None:
    """Report on a fleet: agents, corrections by tier, who drifts, and whether it helped.

    Corrections in the recordings count, with their outcomes. Of recordings without any, those are
    shown that the watchdog would have made. A service is asked with the token in
    `OTEL_WATCHDOG_SERVICE_TOKEN`, which must be one that may read.
    """
    try:
        made = _gathered(files, config, price or (), since)
    except WatchdogError as error:
        _complain(str(error))
        raise typer.Exit(EXIT_BAD_INPUT) from None
    for error_ in made.errors:
        _complain(error_)
    if form is Form.TERMINAL and output is None:
        console = Console(highlight=False, markup=False, emoji=False)
        for part in _lines(made):
            console.print(part)
    else:
        text = _written(made, form)
        if output is None:
            typer.echo(text, nl=False)
        else:
            output.write_text(text, "utf-8")
    if made.errors:
        raise typer.Exit(EXIT_BAD_INPUT)


def _gathered(
    names: list[str], config: Path | None, prices: Sequence[str], since: datetime | None
) -> Report:
    services = [name for name in names if name.startswith(_URLS)]
    files = [name for name in names if not name.startswith(_URLS)]
    opened: list[str | BinaryIO] = [stored.opened(file) for file in files]
    made = fleet_report.gather(opened, WatchdogConfig.load(config), fleet_report.Prices(prices))
    at = since.replace(tzinfo=UTC).timestamp() if since is not None else 0.0
    token = os.environ.get(TOKEN_VARIABLE) or None
    for url in services:
        made = made.joined(fleet_report.gather_stored(url, token=token, since=at))
    return made


def _written(made: Report, form: Form) -> str:
    if form is Form.JSON:
        return orjson.dumps(made.as_json(), option=orjson.OPT_INDENT_2).decode() + "\n"
    return fleet_report.html(made) if form is Form.HTML else fleet_report.markdown(made)


def _lines(made: Report) -> Iterator[RenderableType]:
    if pages.source(made):
        yield Text(pages.source(made), style="dim")
    for name, text in pages.figures(made):
        yield Text(f"{name:<28}{text}")
    yield Text("")
    for tier, count, bar in pages.bars(made):
        line = Text(f"Tier {tier:d}  {tier.label:<11}")
        line.append(f"{'█' * bar:<{pages.BAR_CHARS}}", style="dark_orange")
        line.append(f"{count:>6}")
        yield line
    if made.drifters:
        table = Table(box=None, pad_edge=False)
        for column in ("worst drifters", "corrections", "highest tier"):
            table.add_column(column, overflow="fold")
        for agent, count, tier_ in made.drifters[:_SHOWN]:
            table.add_row(Text(safe(agent)), str(count), Tier(tier_).label)
        yield Text("")
        yield table
        table = Table(box=None, pad_edge=False)
        for column in ("worst categories", "agents", "corrections", "highest tier"):
            table.add_column(column, overflow="fold")
        for category, agents, count, tier_ in made.by_category[:_SHOWN]:
            table.add_row(Text(safe(category)), str(agents), str(count), Tier(tier_).label)
        yield Text("")
        yield table
    for one in made.outliers[:_SHOWN]:
        yield Text(
            f"outlier: {safe(one.agent)} ({safe(one.session)}): {len(one.tiers)} corrections, "
            "no deliverable",
            style="red",
        )


def _complain(what: str) -> None:
    typer.echo(safe(what, limit=1000), err=True)
