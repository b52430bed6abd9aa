"""What is asked every few seconds is answered as the API answers it, without making the API."""

import asyncio

import pytest

from otel_watchdog.model import Mode
from otel_watchdog_collector.access import Access
from otel_watchdog_collector.api import Deps, make_api
from otel_watchdog_collector.config import TokenConfig
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.probed import Probed
from otel_watchdog_collector.stores import MemoryStore

SECRETS = {"read": "r" * 32, "ingest": "i" * 32}
TOKENS = tuple(
    TokenConfig.model_validate({"name": role, "role": role, "tenant": "t", "token": secret})
    for role, secret in SECRETS.items()
)


class World:
    """The API, and what answers before it."""

    def __init__(self, tokens=()):
        self.is_ready = True
        self.asked: list[str] = []
        meters = Meters()
        access = Access(tokens)
        self._api = make_api(
            Deps(
                store=MemoryStore(),
                access=access,
                meters=meters,
                clock=lambda: 0.0,
                heartbeat_seconds=90.0,
                mode=lambda _: Mode.OBSERVE,
                is_paused=lambda _: False,
                set_mode=lambda *_: asyncio.sleep(0),
                fleet=None,  # type: ignore[arg-type] # nobody asks it here
                is_ready=lambda: self.is_ready,
                setting_lines=list,
            )
        )
        self._probed = Probed(
            self._rest, access=access, meters=meters, is_ready=lambda: self.is_ready
        )

    async def _rest(self, scope, receive, send):
        self.asked.append(scope["path"])
        await self._api(scope, receive, send)

    def answers(self, path, method="GET", **headers):
        """Return what each says: the API's status, headers and body, and the other's."""
        return ask(self._api, path, method, headers), ask(self._probed, path, method, headers)


def ask(app, path, method, headers):
    """Return an application's status, headers and body."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    given = {"host": "127.0.0.1:4318", **headers}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }
    asyncio.run(app(scope, receive, send))
    body = b"".join(part["body"] for part in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), body


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_the_answer_is_that_of_the_api_which_is_not_asked(path):
    """Status, headers and body."""
    world = World()

    of_api, answer = world.answers(path)

    assert answer == of_api
    assert answer[0] == 200
    assert world.asked == []


def test_with_tokens_the_metrics_are_for_those_who_may_read():
    """Others are refused by the API."""
    world = World(TOKENS)

    statuses = [
        world.answers("/metrics", authorization=f"Bearer {secret}")[1][0]
        for secret in (*SECRETS.values(), "of nobody")
    ]

    assert statuses == [200, 403, 401]
    assert world.asked == ["/metrics", "/metrics"]


@pytest.mark.parametrize(
    ("path", "method", "host", "status"),
    [
        ("/healthz", "POST", "localhost", 405),
        ("/metrics", "GET", "elsewhere.example", 403),
        ("/healthz/", "GET", "localhost", 307),
        ("/no/such/path", "GET", "localhost", 404),
    ],
)
def test_all_else_is_left_to_the_api(path, method, host, status):
    """Also what is wrong about a request to one of these paths."""
    world = World()

    of_api, answer = world.answers(path, method, host=host)

    assert (answer, answer[0]) == (of_api, status)
    assert world.asked == [path]


def test_a_service_that_takes_nothing_in_is_not_ready():
    """That is no reason to make the API, either."""
    world = World()
    world.is_ready = False

    of_api, answer = world.answers("/readyz")

    assert (answer, answer[0]) == (of_api, 503)
    assert world.asked == []
