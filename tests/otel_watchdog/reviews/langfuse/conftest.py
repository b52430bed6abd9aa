"""A small Langfuse: the endpoints that are used, on a real socket."""

import gzip
import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from langfuse import Langfuse
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

NOW = "2026-11-30T12:00:00.000Z"


class FakeLangfuse:
    """Keeps what is written, and answers with what was put in; while `status` is set, with that."""

    def __init__(self):
        self.status: int | None = None
        self.scores, self.items, self.datasets = {}, {}, set()
        self.prompts, self.observations, self.given_scores = {}, [], []
        self.asked = []
        fake = self

        class Handler(_Handler):
            peer = fake

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def observe(self, id_, **facts):
        """Put an observation in."""
        usual = {"traceId": "a" * 32, "startTime": NOW, "endTime": NOW, "projectId": "p"}
        self.observations.append({"id": id_, "type": "SPAN", "level": "DEFAULT", **usual, **facts})

    def stop(self):
        """Go away."""
        self.server.shutdown()
        self.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    peer: FakeLangfuse

    def log_message(self, *_):
        pass

    def do_GET(self):
        peer, place = self.peer, urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(place.query).items()}
        path = place.path.removeprefix("/api/public/")
        peer.asked.append((path, query))
        if path == "v2/prompts":
            listed = [
                {
                    "name": name,
                    "type": "text",
                    "versions": [1],
                    "labels": ["production"],
                    "tags": [],
                    "lastUpdatedAt": NOW,
                    "lastConfig": {},
                }
                for name in peer.prompts
            ]
            meta: Any = {"page": 1, "limit": 100, "totalItems": len(listed), "totalPages": 1}
            self.answer({"data": listed, "meta": meta})
        elif path.startswith("v2/prompts/"):
            name = unquote(path.removeprefix("v2/prompts/"))
            text, version = peer.prompts[name]
            facts: Any = {"config": {}, "labels": [], "tags": [], "type": "text"}
            self.answer({"name": name, "prompt": text, "version": version, **facts})
        elif path == "v2/observations":
            kept = [
                one
                for one in peer.observations
                if query.get("traceId") in (None, one["traceId"])
                and query.get("type") in (None, one["type"])
            ]
            at = int(query.get("cursor", 0))
            rest = at + 2 < len(kept)
            meta = {"cursor": str(at + 2)} if rest else {}
            self.answer({"data": kept[at : at + 2], "meta": meta})
        else:
            kept = [one for one in peer.given_scores if one["name"] == query["name"]]
            meta = {"page": 1, "limit": 100, "totalItems": len(kept), "totalPages": 1}
            self.answer({"data": kept, "meta": meta})

    def do_POST(self):
        peer, path = self.peer, self.path.removeprefix("/api/public/")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        given = json.loads(body)
        if path == "scores":
            several = given if isinstance(given, list) else given.get("batch", [given])
            if peer.status is None:
                peer.scores |= {one["id"]: one for one in several}
            accepted = [{"id": one["id"]} for one in several]
            self.answer(
                {"id": several[0]["id"], "accepted": accepted, "rejected": [], "errors": []}
            )
        elif path == "ingestion":
            scores = [one["body"] for one in given["batch"] if one["type"] == "score-create"]
            if peer.status is None:
                peer.scores |= {one["id"]: one for one in scores}
            self.answer({"successes": [], "errors": []}, 207)
        elif path == "v2/datasets":
            peer.datasets.add(given["name"])
            made = {"id": "d", "projectId": "p", "createdAt": NOW, "updatedAt": NOW}
            self.answer({**given, **made, "metadata": None})
        elif path == "dataset-items":
            peer.items[given["id"]] = given
            facts: Any = {
                "status": "ACTIVE",
                "datasetId": "d",
                "mediaReferences": [],
                "datasetName": "d",
                "createdAt": NOW,
                "updatedAt": NOW,
            }
            self.answer({"expectedOutput": None, "metadata": None, **given, **facts})
        elif path == "v2/prompts":
            peer.prompts[given["name"]] = (given["prompt"], 1)
            self.answer(
                given | {"config": {}, "labels": [], "tags": [], "type": "text", "version": 1}
            )
        else:
            self.answer({})

    def answer(self, value, status=200):
        """Answer with JSON, or as `status` says."""
        body = json.dumps(value).encode()
        self.send_response(self.peer.status or status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def fake():
    """Return a Langfuse that listens."""
    fake = FakeLangfuse()
    yield fake
    fake.stop()


_numbers = itertools.count()


@pytest.fixture
def client(fake):
    """Return the real SDK's client of it, on a provider of its own."""
    client = Langfuse(
        public_key=f"pk-reviews-{next(_numbers)}",
        secret_key="sk",  # noqa: S106 - nobody checks it
        base_url=fake.url,
        tracer_provider=TracerProvider(shutdown_on_exit=False),
        span_exporter=InMemorySpanExporter(),
        timeout=2,
    )
    yield client
    client.shutdown()
