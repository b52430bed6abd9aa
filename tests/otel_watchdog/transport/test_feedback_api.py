"""Asking a fleet service once; `test_http_stream.py` listens to it."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from otel_watchdog import InputError
from otel_watchdog.testing import correction
from otel_watchdog.transport.feedback_api import FeedbackApi


def api(url):
    """Return the API of a service."""
    return FeedbackApi(url, token=None, setting="service")


def test_takes_what_waits_and_claims_it(service):
    """Once, in order, for its session alone."""
    service.put(correction(id="a"), correction(id="b"), correction(id="c", session="t"))

    first, second = api(service.url).take("s"), api(service.url).take("s")

    assert [one.id for one in first] == ["a", "b"]
    assert second == []


def test_tells_whether_it_was_heard(service):
    """A service in trouble is told again; one that refuses is not."""
    heard: dict[object, bool] = {}
    for status in (200, 400, 429, 503):
        service.change(status=status)
        heard[status] = api(service.url).acknowledge("s", "claim", ["a"])
    service.stop()
    heard["gone"] = api(service.url).acknowledge("s", "claim", ["a"])

    assert heard == {200: True, 400: True, 429: False, 503: False, "gone": False}


def test_a_refusal_is_an_error_of_ours(service):
    """With the status."""
    service.change(status=401)

    with pytest.raises(InputError, match="answered 401"):
        api(service.url).take("s")


@pytest.mark.parametrize("body", [b"", b"[]", b'{"corrections": 5}', b'{"corrections": [5]}'])
def test_an_answer_of_somebody_else_is_an_error_of_ours(body):
    """Whatever listens there."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.handle_request, daemon=True).start()

    with pytest.raises(InputError):
        api(f"http://127.0.0.1:{server.server_port}").take("s")
    server.server_close()


def test_shows_itself_without_secrets():
    """In logs."""
    assert str(api("http://h:1/base")) == "http://h:1/base"
