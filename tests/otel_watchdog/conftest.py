"""What tests share: peers of channels, and an event loop that is closed."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from otel_watchdog.testing import correction

SECONDS = 10
"""How long a test waits for what must come."""


def letter(correction, seq):
    """Return a correction as the service's feedback API writes it."""
    return {
        "seq": seq,
        "id": correction.id,
        "leased": False,
        "session": correction.session,
        "run": correction.run,
        "agent": correction.agent,
        "turn": correction.turn,
        "n": correction.n,
        "tier": int(correction.tier),
        "tier_name": correction.tier.label,
        "mode": correction.mode.label,
        "message": correction.message,
        "max_turns": correction.max_turns,
        "sent_at": 0.0,
        "findings": [
            {
                "detector": finding.detector,
                "kind": finding.kind.value,
                "severity": finding.severity.value,
                "reason": finding.reason,
                "guidance": finding.guidance,
                "evidence": dict(finding.evidence),
            }
            for finding in correction.findings
        ],
    }


class Service:
    """A fleet service's feedback API, and a webhook's receiver, on a real socket.

    `status` other than 200 is answered to everything; while `hangs`, nothing is answered, and
    streams are silent. `questions` are those asked with a span; it is judged if `judges`.
    """

    def __init__(self):
        self.changed = threading.Condition()
        self.letters, self.acks, self.posts, self.asked = [], [], [], []
        self.questions, self.judges = [], True
        self.status, self.headers, self.hangs = 200, {}, False
        self.open_streams, self.cut_off, self.closed = 0, 0, False
        self._server: Any = None
        self.port = 0
        self.start()

    @property
    def url(self):
        """Where it listens, or did."""
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        """Listen, on the same port as before."""
        service = self

        class Handler(_Handler):
            peer = service

        self.closed = False
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        """Go away, in the middle of whatever it says."""
        self.change(closed=True)
        self._server.shutdown()
        self._server.server_close()

    def change(self, **facts):
        """Set attributes and wake who waits for a change."""
        with self.changed:
            vars(self).update(facts)
            self.changed.notify_all()

    def put(self, *corrections):
        """Have corrections wait for their agents."""
        with self.changed:
            for one in corrections:
                self.letters.append(letter(one, len(self.letters) + 1))
            self.changed.notify_all()

    def cut(self):
        """Break every open stream off."""
        self.change(cut_off=self.cut_off + 1)

    def wait(self, is_so):
        """Wait until something holds."""
        with self.changed:
            assert self.changed.wait_for(lambda: is_so(self), SECONDS)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    peer: Any = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        peer, path = self.peer, urlsplit(self.path)
        with peer.changed:
            peer.asked.append((path.path, dict(self.headers)))
            if "after=" in path.query:
                peer.questions.append(dict(parse_qsl(path.query)))
            peer.changed.notify_all()
        if self._is_refused():
            return
        session = unquote(path.path.removeprefix("/v1/feedback/"))
        waiting = [one for one in peer.letters if one["session"] == session]
        if self.headers["Accept"] != "text/event-stream":
            if "claim=1" in path.query:
                peer.change(letters=[one for one in peer.letters if one not in waiting])
            judged = {"judged": peer.judges} if "after=" in path.query else {}
            self._answer(200, {"mode": "feedback", "corrections": waiting} | judged)
            return
        self._stream(session)

    def do_POST(self):
        peer = self.peer
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with peer.changed:
            told = (self.path, json.loads(body), dict(self.headers))
            (peer.acks if self.path.endswith("/ack") else peer.posts).append(told)
            peer.changed.notify_all()
        if not self._is_refused():
            self._answer(200, {})

    def _is_refused(self):
        peer = self.peer
        if peer.hangs:
            with peer.changed:
                peer.changed.wait_for(lambda: peer.closed or not peer.hangs, SECONDS)
            self.close_connection = True
            return True
        if peer.status != 200:
            self._answer(peer.status, {}, peer.headers)
            return True
        return False

    def _answer(self, status, value, headers=None):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, session):
        peer = self.peer
        after = int(self.headers.get("Last-Event-ID", "0"))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"retry: 1000\n\n")
        self.close_connection = True
        with peer.changed:
            peer.open_streams += 1
            peer.changed.notify_all()
            cuts = peer.cut_off

        def news():
            return [o for o in peer.letters if o["session"] == session and o["seq"] > after]

        try:
            while peer.cut_off == cuts and not peer.closed:
                with peer.changed:
                    peer.changed.wait_for(lambda: not peer.hangs or peer.closed, SECONDS)
                    fresh = news()
                for one in fresh:
                    data = json.dumps(one)
                    self.wfile.write(f"id: {one['seq']}\nevent: correction\n".encode())
                    self.wfile.write(f"data: {data}\n\n".encode())
                    after = one["seq"]
                with peer.changed:
                    quiet = not peer.changed.wait_for(
                        lambda: news() or peer.closed or peer.cut_off != cuts, 0.05
                    )
                with peer.changed:
                    if quiet and not peer.hangs:
                        self.wfile.write(b": alive\n\n")
        except OSError:
            pass
        finally:
            with peer.changed:
                peer.open_streams -= 1
                peer.changed.notify_all()


@pytest.fixture
def loop():
    """Give pydantic-ai's `run_sync`, which leaves one open, an event loop that is closed."""
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        yield runner
    asyncio.set_event_loop(None)


@pytest.fixture
def service():
    """Return a service that listens."""
    service = Service()
    yield service
    if not service.closed:
        service.stop()


@pytest.fixture
def eventually():
    """Return what waits until something holds, looking again and again."""

    def wait(is_so):
        pause = threading.Event()
        for _ in range(SECONDS * 100):
            if result := is_so():
                return result
            pause.wait(0.01)
        raise AssertionError("it did not come to that")

    return wait


@pytest.fixture
def corrections():
    """Return corrections of these ids."""

    def make(*ids, **facts):
        return [correction(id=id_, **facts) for id_ in ids]

    return make
