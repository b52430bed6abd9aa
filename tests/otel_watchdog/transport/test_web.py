"""One address, its own connections, and nothing followed."""

from http.client import HTTPResponse

import pytest

from otel_watchdog import ConfigError
from otel_watchdog.transport import web


class Answer(HTTPResponse):
    """An answer with one header."""

    def __init__(self, value):
        self.value = value

    def getheader(self, name, default=None):
        return self.value if name == "Retry-After" else default

    def isclosed(self):
        return True

    def close(self):
        """Have nothing to close."""


@pytest.mark.parametrize(
    ("url", "path", "shown"),
    [
        ("http://host", "", "http://host"),
        ("https://host:8443/base/", "/base", "https://host:8443/base"),
        ("http://[::1]:4318/a?key=k", "/a?key=k", "http://[::1]:4318/a"),
    ],
)
def test_an_address_shows_no_query(url, path, shown):
    """It may be a key."""
    address = web.Address(url, setting="url")

    assert (address.path, str(address)) == (path, shown)


@pytest.mark.parametrize(
    "url", ["", "host", "file:///etc/passwd", "http://", "http://[", "http://h:x", "https://u@h"]
)
def test_refuses_what_is_no_address(url):
    """The error names the setting."""
    with pytest.raises(ConfigError, match=r"^url"):
        web.Address(url, setting="url")


def test_authorities_are_read_once():
    """That takes longer than a near service does to answer."""
    address = web.Address("https://host", setting="url")

    first, second = (address.connection(1)._context for _ in range(2))  # type: ignore[attr-defined] # typeshed knows it not

    assert first is second


def test_posts_json_and_reads_the_answer(service):
    """With who asks."""
    address = web.Address(service.url, setting="url")

    answer = address.post("/hook", b'{"a": 1}', headers={"X": "y"}, timeout_seconds=10)

    path, body, headers = service.posts[0]
    assert answer.status == 200
    assert (path, body, headers["X"]) == ("/hook", {"a": 1}, "y")
    assert headers["User-Agent"].startswith("otel-watchdog/")


def test_a_redirect_is_not_followed(service):
    """What is posted may be private: it goes where it was meant to go, or nowhere."""
    service.change(status=307, headers={"Location": f"{service.url}/elsewhere"})
    address = web.Address(service.url, setting="url")

    answer = address.post("/hook", b"{}", headers={}, timeout_seconds=10)

    assert answer.status == 307
    assert [path for path, _, _ in service.posts] == ["/hook"]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), (" 7 ", 7.0), ("999", 60.0), ("-1", 0.0), ("soon", 0.0), (None, 0.0), ("²", 0.0)],
)
def test_waits_as_long_as_it_is_asked_to(value, seconds):
    """Within reason."""
    assert web.retry_after(Answer(value), 60.0) == seconds


def test_a_token_is_shown_or_refused():
    """One that could break out of its header is refused."""
    assert web.bearer(None) == {}
    assert web.bearer("t") == {"Authorization": "Bearer t"}
    for token in ("", "a\r\nb", "ü"):
        with pytest.raises(ConfigError, match="token"):
            web.bearer(token)
