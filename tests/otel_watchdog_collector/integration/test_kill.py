"""The service is killed again and again: nothing acknowledged is lost, nothing comes twice."""

import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

FULL = bool(os.environ.get("OTEL_WATCHDOG_TEST_FULL"))
"""Whether to take the minutes that the whole test needs."""

AGENTS = 200 if FULL else 12
STEPS = 8
TURNS_A_STEP = 4
KILLS = 10 if FULL else 2
SECONDS_TO_START = 60
SECONDS_FOR_A_REQUEST = 120


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Service:
    """A service in a process of its own, that can be killed and comes back at the same place."""

    def __init__(self, store, **environment):
        self.port = free_port()
        self._command = [
            *(sys.executable, "-m", "otel_watchdog_collector", "serve"),
            *("--store", store, "--mode", "feedback", "--grpc-port", "-1"),
            *("--http-port", str(self.port)),
        ]
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None

    def start(self):
        """Start it and wait until it listens."""
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            self._command, stderr=subprocess.PIPE, text=True, env=self._environment or None
        )
        for line in self._process.stderr or ():
            if re.search("watching on", line):
                return
        pytest.fail("the service did not start")

    def workers(self):
        """Return the ids of its workers' processes."""
        assert self._process is not None
        threads = Path(f"/proc/{self._process.pid}/task").glob("*/children")
        return [int(pid) for thread in threads for pid in thread.read_text("utf-8").split()]

    def end(self, number):
        """Send a signal and wait for the end."""
        assert self._process is not None
        assert self._process.stderr is not None
        self._process.send_signal(number)
        self._process.wait(SECONDS_TO_START)
        self._process.stderr.close()


class Agent:
    """Sends its spans a few turns at a time, takes what waits for it, and claims that."""

    def __init__(self, number, port, spans):
        self._number = number
        self._port = port
        self._spans = spans
        self._connection: http.client.HTTPConnection | None = None
        self.got: dict[str, tuple[int, int, str]] = {}
        self.doubled = 0
        self.retries = 0

    def step(self, step):
        """Send the next turns, then ask."""
        turns = range(step * TURNS_A_STEP + 1, (step + 1) * TURNS_A_STEP + 1)
        made = self._spans.request(
            agent=f"agent-{self._number}",
            conversation=f"conv-{self._number}",
            turns=turns,
            seed=self._number + 1,
        )
        headers = {"content-type": "application/x-protobuf"}
        self._ask("POST", "/v1/traces", made.SerializeToString(), headers)
        path = f"/v1/feedback/conv-{self._number}"
        for one in json.loads(self._ask("GET", path))["corrections"]:
            known = one["id"] in self.got
            self.doubled += known
            self.got[one["id"]] = (one["turn"], one["n"], one["tier_name"])
            self._ask("POST", f"{path}/ack", json.dumps({"ids": [one["id"]]}))

    def close(self):
        """Hang up."""
        if self._connection is not None:
            self._connection.close()

    def _ask(self, method, path, body=None, headers=None):
        """Send a request until it is answered, as exporters and channels do."""
        give_up = time.monotonic() + SECONDS_FOR_A_REQUEST  # noqa: TID251 - a real service
        while time.monotonic() < give_up:  # noqa: TID251
            try:
                if self._connection is None:
                    self._connection = http.client.HTTPConnection("127.0.0.1", self._port)
                self._connection.request(method, path, body, headers or {})
                answer = self._connection.getresponse()
                text = answer.read()
                if answer.status == http.HTTPStatus.OK:
                    return text
            except (OSError, http.client.HTTPException):
                self.close()
                self._connection = None
            self.retries += 1
            time.sleep(0.05)  # noqa: TID251
        raise AssertionError(f"{method} {path} was not answered")


def replayed(port, spans, on_step=lambda _: None):
    """Run all agents side by side; return them."""
    agents = [Agent(number, port, spans) for number in range(AGENTS)]
    done = iter(range(AGENTS * STEPS))
    lock = threading.Lock()

    def run(some):
        for step in range(STEPS):
            for agent in some:
                agent.step(step)
                with lock:
                    on_step(next(done))

    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(run, agents[start::8]) for start in range(8)]:
            future.result()
    for agent in agents:
        agent.close()
    return agents


@pytest.mark.slow
@pytest.mark.timeout(2400 if FULL else 500)
@pytest.mark.parametrize(
    ("kind", "victim", "workers"),
    [
        ("sqlite", "service", 1),
        ("postgres", "service", 1),
        ("sqlite", "service", 2),
        ("sqlite", "worker", 2),
    ],
)
def test_kills_lose_and_double_nothing(  # noqa: PLR0913, PLR0917 - fixtures
    kind, victim, workers, request, serve, agent_spans, tmp_path, monkeypatch
):
    """Each agent gets the corrections that it gets of a service that never died, each once."""
    monkeypatch.setenv("OTEL_WATCHDOG_COLLECTOR_SNAPSHOT_SECONDS", "2")
    calm = serve()
    expected = [agent.got for agent in replayed(calm.service.http_port, agent_spans)]
    monkeypatch.setenv("OTEL_WATCHDOG_COLLECTOR_WORKERS", str(workers))
    url = request.getfixturevalue("postgres") if kind == "postgres" else f"sqlite:{tmp_path}/w.db"
    service = Service(url)
    service.start()
    moments = set(random.sample(range(5, AGENTS * STEPS - 5), KILLS))
    kill = threading.Event()
    over = threading.Event()
    kills = []

    def killer():
        while not over.is_set():
            if kill.wait(0.05):
                kill.clear()
                time.sleep(random.random() / 100)  # noqa: S311, TID251 - any moment
                if victim == "worker":
                    os.kill(random.choice(service.workers()), signal.SIGKILL)  # noqa: S311
                else:
                    service.end(signal.SIGKILL)
                    service.start()
                kills.append(1)

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        agents = replayed(
            service.port, agent_spans, lambda count: kill.set() if count in moments else None
        )
    finally:
        over.set()
        thread.join(SECONDS_TO_START)
    time.sleep(1.5)  # noqa: TID251 - until the rows are written
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    connection.request("GET", "/api/v1/runs?limit=1000")
    runs = json.loads(connection.getresponse().read())["items"]
    connection.request("GET", "/api/v1/corrections?limit=1000")
    rows = json.loads(connection.getresponse().read())["items"]
    connection.close()
    service.end(signal.SIGTERM)

    assert len(kills) >= KILLS // 2
    assert [agent.got for agent in agents] == expected
    assert len({tier for got in expected for _, _, tier in got.values()}) >= 2
    assert {run["fields"]["turns"] for run in runs} == {STEPS * TURNS_A_STEP}
    assert len(runs) == AGENTS
    delivered = {row["id"] for row in rows if row["fields"]["state"] == "delivered"}
    assert delivered == {id_ for got in expected for id_ in got}
