"""`otel-watchdog-collector`: the service from the command line."""

import asyncio
import gc
import logging
import signal
from pathlib import Path
from typing import Annotated, Any

import typer

from otel_watchdog.errors import WatchdogError
from otel_watchdog.version import VERSION
from otel_watchdog_collector.config import Loaded, load
from otel_watchdog_collector.demo import demo
from otel_watchdog_collector.service import Service

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def root() -> None:
    """Watch many agents from one place."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(VERSION)


@app.command()
def serve(  # noqa: PLR0913 - one for each flag
    config: Annotated[Path | None, typer.Option(help="YAML file of settings.")] = None,
    http_host: Annotated[str | None, typer.Option(help="Address for HTTP.")] = None,
    http_port: Annotated[int | None, typer.Option(help="Port for HTTP; 0: any.")] = None,
    grpc_port: Annotated[int | None, typer.Option(help="Port for gRPC; -1: none.")] = None,
    store: Annotated[
        str | None, typer.Option(help="memory:, sqlite:<file> or postgresql://…")
    ] = None,
    mode: Annotated[str | None, typer.Option(help="off, observe, feedback or enforce.")] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Print the settings and their origins, and end.")
    ] = False,
) -> None:
    """Run the service until it is told to stop (SIGINT, SIGTERM)."""
    given = {
        "http_host": http_host,
        "http_port": http_port,
        "grpc_port": grpc_port,
        "store": store,
        "mode": mode,
    }
    flags: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    try:
        loaded = load(config, flags)
        if check:
            typer.echo("\n".join(loaded.lines()))
            return
        logging.basicConfig(
            level=loaded.config.log_level.upper(),
            format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        )
        logging.getLogger("httpx").setLevel(logging.WARNING)
        asyncio.run(_serve(loaded))
        gc.freeze()  # what is left ends with the process: looking through it takes seconds
    except (WatchdogError, OSError) as error:
        typer.echo(f"otel-watchdog-collector: {error}", err=True)
        raise typer.Exit(2) from None


async def _serve(loaded: Loaded) -> None:
    service = Service(loaded)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        await service.start()
        host = loaded.config.http_host
        grpc = f", gRPC on {service.grpc_port}" if service.grpc_port else ""
        typer.echo(f"watching on http://{host}:{service.http_port}{grpc}", err=True)
        await stop.wait()
    finally:
        await service.stop()


app.command()(demo)


def main() -> None:
    """Run the command."""
    app()


if __name__ == "__main__":
    main()
