"""A real service on loopback, and a real PostgreSQL where there is one."""

import asyncio
import contextlib
import getpass
import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from otel_watchdog_collector.config import load
from otel_watchdog_collector.service import Service
from otel_watchdog_collector.stores.postgres import PostgresStore

SECONDS_TO_START = 20


class Running:
    """A service in a thread of its own, on free ports."""

    def __init__(self, **settings: Any) -> None:
        flags = {"store": "memory:", "http_port": 0, "grpc_port": -1, "mode": "feedback"}
        self.loop = asyncio.new_event_loop()
        self.service = Service(load(None, {**flags, **settings}))
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.wait(self.service.start())
        self.url = f"http://127.0.0.1:{self.service.http_port}"
        self.client = httpx.Client(base_url=self.url, timeout=20)

    def wait(self, work: Any) -> Any:
        """Run `work` in the service's thread and return what it returns."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(SECONDS_TO_START)

    def stop(self) -> None:
        """Stop it, as SIGTERM would."""
        self.client.close()
        self.wait(self.service.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(SECONDS_TO_START)
        self.loop.close()


@pytest.fixture
def serve():
    """Return what starts services; they are stopped when the test ends."""
    with contextlib.ExitStack() as stack:

        def start(**settings: Any) -> Running:
            running = Running(**settings)
            stack.callback(running.stop)
            return running

        yield start


@pytest.fixture
def agent_spans():
    """Return what makes requests; see `spans.py`."""
    place = Path(__file__).parent / "spans.py"
    spec = importlib.util.spec_from_file_location("agent_spans", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Start a PostgreSQL server of our own; yield the address of its database."""
    folder = _binaries()
    if folder is None:
        pytest.skip("PostgreSQL's initdb is not installed")
    with tempfile.TemporaryDirectory(prefix="watchdog-pg-") as place, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        user = _owner(Path(place))
        run = _runner(user)
        run(
            folder / "initdb",
            "-D",
            f"{place}/db",
            "-A",
            "trust",
            "-U",
            "watchdog",
            "-N",
            "-E",
            "UTF8",
        )
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={place}"
        control = [folder / "pg_ctl", "-D", f"{place}/db", "-l", f"{place}/log", "-w"]
        run(*control, "-o", options, "start")
        try:
            yield f"postgresql://watchdog@127.0.0.1:{port}/postgres"
        finally:
            run(*control, "-m", "immediate", "stop")


@pytest.fixture
def postgres(postgres_url):
    """Return the address of an empty database."""
    store = PostgresStore(postgres_url)
    with store._engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    store.close()
    return postgres_url


def _binaries() -> Path | None:
    candidates = [Path(found).parent for found in [shutil.which("initdb")] if found]
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in candidates if (folder / "initdb").exists()), None)


def _owner(place: Path) -> str:
    """Return who the server runs as: it refuses to be root."""
    if os.geteuid() != 0:
        return getpass.getuser()
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            os.chown(place, entry.pw_uid, entry.pw_gid)
            return name
    pytest.skip("PostgreSQL does not run as root, and there is no other user")


def _runner(user: str):
    def run(*command: object) -> None:
        done = subprocess.run(  # noqa: S603 - the server's own commands
            [str(part) for part in command],
            user=user if os.geteuid() == 0 else None,
            cwd="/",
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=SECONDS_TO_START * 2,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    return run
