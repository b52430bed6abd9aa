"""Puts the commands together; each lives in a module of its name, imported when it is asked for."""

from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from otel_watchdog.version import VERSION

_MODULES: Final = {"report": "fleet"}
"""Modules that are not called like their command."""

COMMANDS: Final = (
    "demo",
    "replay",
    "doctor",
    "calibrate",
    "report",
    "signal",
    "langfuse",
    "dashboards",
)
"""In the order of the help."""


class _Commands(TyperGroup):
    """Imports a command's module when the command is asked for: hooks call one of them often."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click calls it so
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - click calls it so
        """Return a command; `None`: there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        module: Any = import_module(f"otel_watchdog.cli.{_MODULES.get(cmd_name, cmd_name)}")
        if hasattr(module, "app"):
            return typer.main.get_command(module.app)
        alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        epilog = getattr(module, "EPILOG", None)
        alone.command(cmd_name, epilog=epilog)(getattr(module, cmd_name))
        return typer.main.get_command(alone)


app = typer.Typer(
    name="otel-watchdog",
    cls=_Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


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
