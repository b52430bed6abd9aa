"""Starts a service and twelve agents, and says where to look."""

import asyncio
import contextlib
import importlib.util
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from otel_watchdog_collector.config import Loaded, load
from otel_watchdog_collector.service import Service
from otel_watchdog_collector.web import PREFIX

if TYPE_CHECKING:
    from rich.console import Console

    from otel_watchdog_collector.demo.members import Member

NEEDED: Final = "opentelemetry.exporter.otlp.proto.http"
STOP_SECONDS: Final = 10.0

SETTINGS: Final = {
    "store": "memory:",
    "http_host": "127.0.0.1",
    "grpc_port": -1,
    "mode": "feedback",
    "watchdog": {"refractory_seconds": 0},
    "fleet": {"sweep_seconds": 1, "no_output_seconds": 10},
}
"""Of the demo's service: all goes faster than where agents take their time."""

JUDGED_SECONDS: Final = 12.0
"""Seconds until it is known of an agent that hangs."""


def demo(
    *,
    headless: Annotated[
        bool,
        typer.Option("--headless", help="Print the report when all is done, and end."),
    ] = False,
    delay: Annotated[
        float, typer.Option(min=0, max=60, help="Seconds that each turn of an agent takes.")
    ] = 0.5,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Of the pages; 0: any.")] = 0,
) -> None:
    """Watch twelve agents of different frameworks in a browser: some work, others are stuck.

    Everything runs on this machine; models follow scripts. Without a terminal it ends by itself.

    For example: `otel-watchdog-collector demo`, or `otel-watchdog-collector demo --headless`.
    """
    if importlib.util.find_spec("opentelemetry.exporter") is None or not _has_exporter():
        typer.echo("the demo needs more: pip install 'otel-watchdog-collector[demo]'", err=True)
        raise typer.Exit(2)
    logging.basicConfig(level=logging.WARNING)
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)  # an agent that crashes is told of
    stays = not headless and sys.stdout.isatty()
    loaded = load(None, {**SETTINGS, "http_port": port})
    asyncio.run(_demo(loaded, delay, _console(), stays=stays))


def _console() -> "Console":
    """Return where to print; as wide as the report, where that is no terminal."""
    from rich.console import Console  # noqa: PLC0415 - MiB that `serve` does not need

    return Console(width=None if sys.stdout.isatty() else 130)


def _has_exporter() -> bool:
    try:
        return importlib.util.find_spec(NEEDED) is not None
    except ModuleNotFoundError:
        return False


async def _demo(loaded: Loaded, delay: float, console: "Console", *, stays: bool) -> None:
    from otel_watchdog_collector.demo.report import report  # noqa: PLC0415 - needs the exporter
    from otel_watchdog_collector.stores import open_store  # noqa: PLC0415 - as above

    store = open_store(loaded.config.store)
    service = Service(loaded, store=store)
    asked = asyncio.Event()
    stop = threading.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, asked.set)
    await service.start()
    try:
        url = f"http://127.0.0.1:{service.http_port}"
        console.print(f"Twelve agents at work: [bold]{url}{PREFIX}[/bold]", highlight=False)
        players = start(url, delay, stop)
        ended = asyncio.ensure_future(_ended(players, asked))
        told = asyncio.ensure_future(asked.wait())
        await asyncio.wait([ended, told], return_when=asyncio.FIRST_COMPLETED)
        if stays and not asked.is_set():
            console.print("All have ended, or hang. Look around; Ctrl-C ends this.")
            await told
        told.cancel()
        stop.set()
        await service.fleets.sweep()
        await service.intake.keep([])
        report(store, console)
    finally:
        stop.set()
        await service.stop()


def start(url: str, delay: float, stop: threading.Event) -> Sequence[threading.Thread]:
    """Start the agents, each in a thread of its own; return these."""
    from otel_watchdog_collector.demo.beats import Beats  # noqa: PLC0415 - needs the exporter
    from otel_watchdog_collector.demo.members import MEMBERS, play  # noqa: PLC0415 - as above

    real = play
    if importlib.util.find_spec("pydantic_ai") is not None:
        from otel_watchdog_collector.demo.framework_agent import (  # noqa: PLC0415 - an extra
            play_framework as real,
        )
    beats = Beats(url, stop)

    def run(member: "Member") -> None:
        try:
            (real if member.is_real else play)(member, url, delay, stop)
        finally:
            beats.note_end(member)

    players = [threading.Thread(target=run, args=(one,), name=one.name) for one in MEMBERS]
    for player in (*players, threading.Thread(target=beats.run, name="heartbeats")):
        player.daemon = True
        player.start()
    return players


async def _ended(players: Sequence[threading.Thread], asked: asyncio.Event) -> None:
    """Wait until all agents have ended, and it is known of the one that hangs."""
    for player in players:
        await asyncio.to_thread(player.join)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(JUDGED_SECONDS):
            await asked.wait()
