"""What is done to agents: real commands, and webhooks to a real server on loopback."""

import asyncio
import base64
import hashlib
import hmac
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from otel_watchdog_collector.fleet import Actor, Prober
from otel_watchdog_collector.fleet.healer import Action
from otel_watchdog_collector.fleet_config import ActionConfig, ProbeConfig

NOW = 1_790_000_000.25
SECRET = "0123456789abcdef-secret"  # noqa: S105 - of the tests
TELL = "import json, os; json.dump(dict(os.environ), open(os.environ['TOLD'], 'w'))"
HANG = (
    "import os, subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', "
    "'import time; time.sleep(600)']); open(os.environ['TOLD'], 'w').write(str(p.pid)); "
    "time.sleep(600)"
)
RESTART = Action("restart", "shop/fixer", "no-output")


class Server:
    """Answers with a status, and keeps what it was asked."""

    def __init__(self, status):
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.release = threading.Event()
        told = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                told.asked.append((self.path, dict(self.headers), body))
                self._answer()

            def do_GET(self):
                told.asked.append((self.path, dict(self.headers), b""))
                self._answer()

            def _answer(self):
                if status == 0:
                    told.release.wait(10)
                    return
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("location", "/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        """End it."""
        self.release.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)


@pytest.fixture
def serve():
    """Return what starts servers."""
    made: list[Server] = []

    def start(status=200):
        made.append(Server(status))
        return made[-1]

    yield start
    for server in made:
        server.close()


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Return the file into which commands write."""
    monkeypatch.setenv("TOLD", str(tmp_path / "told"))
    return tmp_path / "told"


def act(how, action=RESTART, agent="fixer"):
    """Do it; return whether it was done."""
    return asyncio.run(Actor(lambda: NOW).run(action, "shop", agent, how))


def command(text, **more):
    """Return a command that runs a line of Python."""
    return ActionConfig(command=(sys.executable, "-c", text), **more)


def test_a_command_is_told_what_is_asked_for(told):
    """By variables; no shell reads what others named."""
    nasty = "$(touch /tmp/x); \"'\0 fixer"

    done = act(command(TELL), agent=nasty)

    said = json.loads(told.read_text("utf-8"))
    assert done
    assert said["OTEL_WATCHDOG_ACTION"] == "restart"
    assert said["OTEL_WATCHDOG_AGENT"] == nasty.replace("\0", "\ufffd")
    assert said["OTEL_WATCHDOG_SERVICE"] == "shop"
    assert said["OTEL_WATCHDOG_REASON"] == "no-output"


@pytest.mark.parametrize("text", ["raise SystemExit(3)", "import os; os.kill(os.getpid(), 9)"])
def test_a_command_that_fails_was_not_done(text):
    """Whatever its code."""
    assert not act(command(text))


def test_a_command_that_is_not_there_was_not_done(caplog):
    """And is told of without what it was called with."""
    assert not act(ActionConfig(command=("/no/such/program", SECRET)))

    assert "restart of 'shop/fixer' failed: FileNotFoundError" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are seen in /proc")
def test_a_command_that_hangs_is_ended_with_all_that_it_started(told):
    """After its time limit."""

    async def run():
        work = asyncio.ensure_future(
            Actor(lambda: NOW).run(RESTART, "shop", "fixer", command(HANG, timeout_seconds=1.5))
        )
        return await work

    done = asyncio.run(run())

    child = int(told.read_text("utf-8"))
    assert not done
    pause = threading.Event()
    for _ in range(1000):
        if not _lives(child):
            break
        pause.wait(0.01)
    assert not _lives(child)


def _lives(process):
    """Say whether a process is there and is no zombie."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8")
        return stat.rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_webhook_is_signed_as_standard_webhooks_are(serve):
    """Id, time and body; whoever has the key can check it."""
    server = serve()

    done = act(ActionConfig(webhook=f"{server.url}/heal", secret=SECRET))

    ((path, headers, body),) = server.asked
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    assert done
    assert path == "/heal"
    assert headers["webhook-timestamp"] == "1790000000"
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert json.loads(body) == {
        "type": "agent.restart",
        "timestamp": NOW,
        "data": {
            "action": "restart",
            "id": "shop/fixer",
            "service": "shop",
            "agent": "fixer",
            "reason": "no-output",
        },
    }


def test_a_key_in_base64_is_taken_as_such(serve):
    """As receivers hand them out."""
    server, key = serve(), b"0123456789abcdef"
    secret = f"whsec_{base64.b64encode(key).decode()}"

    act(ActionConfig(webhook=server.url, secret=secret))

    ((_, headers, body),) = server.asked
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"


@pytest.mark.parametrize("status", [302, 401, 500])
def test_a_webhook_that_refuses_was_not_done(status, serve):
    """Redirects are not followed: they could lead the signature elsewhere."""
    server = serve(status)

    assert not act(ActionConfig(webhook=server.url, secret=SECRET))
    assert len(server.asked) == 1


def test_a_webhook_that_does_not_answer_is_given_up(serve):
    """After its time limit; and one that nobody listens at."""
    silent = serve(0)

    assert not act(ActionConfig(webhook=silent.url, secret=SECRET, timeout_seconds=0.3))
    assert not act(ActionConfig(webhook="http://127.0.0.1:9", secret=SECRET))


@pytest.mark.parametrize(
    ("status", "ok"),
    [(200, True), (204, True), (401, False), (403, False), (429, None), (500, None)],
)
def test_a_provider_says_whether_it_takes_the_credential(status, ok, serve):
    """Anything but yes and no is no answer."""
    server = serve(status)
    probes = {"anthropic": ProbeConfig(url=server.url, headers={"x-api-key": SECRET})}

    found = asyncio.run(Prober(probes).ask({"anthropic", "other"}))

    assert {name: probe.ok for name, probe in found.items()} == {"anthropic": ok}
    assert str(status) in found["anthropic"].message
    assert server.asked[0][1]["x-api-key"] == SECRET


def test_a_provider_that_cannot_be_reached_says_nothing():
    """Nobody is blamed for the way to it."""
    probes = {"anthropic": ProbeConfig(url="http://127.0.0.1:9")}

    found = asyncio.run(Prober(probes).ask({"anthropic"}))

    assert found["anthropic"].ok is None


def test_providers_without_agents_are_not_asked(serve):
    """A probe costs something."""
    server = serve()

    found = asyncio.run(Prober({"openai": ProbeConfig(url=server.url)}).ask({"anthropic"}))

    assert (found, server.asked) == ({}, [])


def test_the_service_waits_for_no_command():
    """Actions run beside it: a loop that is blocked would stop the receivers."""

    async def run():
        slow = asyncio.ensure_future(
            Actor(lambda: NOW).run(RESTART, "shop", "fixer", command("import time; time.sleep(1)"))
        )
        turns = 0
        while not slow.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert asyncio.run(run()) > 100
