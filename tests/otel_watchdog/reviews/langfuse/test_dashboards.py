"""The dashboard is put into Langfuse."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from otel_watchdog.cli.app import app


class Boards:
    """The two endpoints, which keep what they are given, two a page."""

    def __init__(self):
        self.kept: dict[str, list[Any]] = {"dashboard-widgets": [], "dashboards": []}
        self.status: int | None = None
        boards = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                place = urlsplit(self.path)
                all_ = boards.kept[place.path.rpartition("/")[2]]
                page = int(place.query.partition("page=")[2].partition("&")[0])
                shown = all_[2 * page - 2 : 2 * page]
                self.answer({"data": shown, "meta": {"totalPages": (len(all_) + 1) // 2 or 1}})

            def do_POST(self):
                kept = boards.kept[self.path.rpartition("/")[2]]
                kept.append({**self.body(), "id": f"{len(kept)}/x"})
                self.answer(kept[-1])

            def do_PATCH(self):
                kind, id_ = self.path.split("/")[-2:]
                number = int(id_.removesuffix("%2Fx"))
                boards.kept[kind][number] |= self.body()
                self.answer(boards.kept[kind][number])

            def body(self):
                return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

            def answer(self, value):
                body = json.dumps(value).encode()
                self.send_response(boards.status or 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        """Go away."""
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def boards():
    """Return a Langfuse that keeps dashboards."""
    boards = Boards()
    yield boards
    boards.stop()


@pytest.fixture
def push(boards, monkeypatch):
    """Return what runs the command against it."""
    for name, value in {"PUBLIC_KEY": "pk", "SECRET_KEY": "sk", "BASE_URL": boards.url}.items():
        monkeypatch.setenv(f"LANGFUSE_{name}", value)
    return lambda *options: CliRunner().invoke(app, ["dashboards", "push", "langfuse", *options])


def test_it_is_made_once(boards, push):
    """The second time, what is there is brought up to date; every widget has its place."""
    first, second = push(), push()

    assert (first.exit_code, second.exit_code) == (0, 0), first.output + second.output
    count = len(boards.kept["dashboard-widgets"])
    assert first.output == f"{count} widgets made, 0 brought up to date\n"
    assert second.output == f"0 widgets made, {count} brought up to date\n"
    (board,) = boards.kept["dashboards"]
    placed = {one["widgetId"] for one in board["definition"]["widgets"]}
    assert placed == {one["id"] for one in boards.kept["dashboard-widgets"]}


@pytest.mark.parametrize(("status", "said"), [(404, "has no API for dashboards"), (401, "401")])
def test_a_refusal_is_one_line(boards, push, status, said):
    """An older Langfuse, and wrong keys."""
    boards.status = status

    done = push()

    assert done.exit_code == 2
    assert said in done.output


def test_without_keys(push, monkeypatch):
    """They are named."""
    monkeypatch.delenv("LANGFUSE_SECRET_KEY")

    assert "LANGFUSE_SECRET_KEY must be set" in push().output
