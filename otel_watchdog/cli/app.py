"""Puts the commands together; each lives in a module of its name."""

from typing import Annotated

import typer

from otel_watchdog.cli import dashboards, langfuse, signal
from otel_watchdog.cli.calibrate import EPILOG as CALIBRATE_EPILOG, calibrate
from otel_watchdog.cli.demo import demo
from otel_watchdog.cli.doctor import EPILOG as DOCTOR_EPILOG, doctor
from otel_watchdog.cli.fleet import report
from otel_watchdog.cli.replay import EPILOG, replay
from otel_watchdog.version import VERSION

app = typer.Typer(
    name="otel-watchdog",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command()(demo)
app.command(epilog=EPILOG)(replay)
app.command(epilog=DOCTOR_EPILOG)(doctor)
app.command(epilog=CALIBRATE_EPILOG)(calibrate)
app.command()(report)
app.add_typer(signal.app)
app.add_typer(langfuse.app)
app.add_typer(dashboards.app)


def _show_version(*, value: bool) -> None:
    if value:
        typer.echo(f"otel-watchdog {VERSION}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 - its callback shows it
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Notice when an LLM agent loops, stalls or drifts, and correct it while it runs."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command."""
    app()
