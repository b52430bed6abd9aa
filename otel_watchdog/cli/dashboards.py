"""`otel-watchdog dashboards`: what cannot be imported as a file."""

import os
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from otel_watchdog.cli.safe import safe
from otel_watchdog.errors import ConfigError, InputError, WatchdogError

EXIT_FAILED: Final = 2
"""Exit code where Langfuse refused, could not be reached, or its keys are not set."""

_KEYS: Final = ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")
_CLOUD: Final = "https://cloud.langfuse.com"

app = typer.Typer(
    name="dashboards", no_args_is_help=True, rich_markup_mode="markdown", help="Dashboards."
)
_push = typer.Typer(no_args_is_help=True, help="Put a dashboard where it cannot be imported.")
app.add_typer(_push, name="push")


@_push.callback()
def _root() -> None:
    """Put a dashboard where it cannot be imported as a file."""


@_push.command()
def langfuse(
    *,
    file: Annotated[
        Path | None, typer.Option(help="The dashboard.", show_default="the packaged one")
    ] = None,
) -> None:
    """Make the dashboard in Langfuse, or bring the one of that name up to date.

    Its keys come from `LANGFUSE_PUBLIC_KEY`, `LANGFUSE_SECRET_KEY` and `LANGFUSE_BASE_URL`. The API
    for dashboards is one that Langfuse calls unstable.
    """
    from otel_watchdog.reviews.langfuse import dashboards  # noqa: PLC0415 - an extra

    try:
        public_key, secret_key = _keys()
        made, there = dashboards.push(
            _board(file or dashboards.packaged()),
            url=os.environ.get("LANGFUSE_BASE_URL") or _CLOUD,
            public_key=public_key,
            secret_key=secret_key,
        )
    except WatchdogError as error:
        typer.echo(safe(str(error), limit=1000), err=True)
        raise typer.Exit(EXIT_FAILED) from None
    typer.echo(f"{made} widgets made, {there} brought up to date")


def _keys() -> list[str]:
    missing = [name for name in _KEYS if not os.environ.get(name)]
    if missing:
        raise ConfigError(f"{' and '.join(missing)} must be set, as for Langfuse's own SDK")
    return [os.environ[name] for name in _KEYS]


def _board(file: Path) -> Any:
    try:
        return orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise InputError(f"{file}: cannot be read as a dashboard: {error}") from None
