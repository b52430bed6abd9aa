"""The feedback API over real sockets: one-shot, long poll, stream, acknowledgement, barrier."""

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import time

import pytest

from otel_watchdog_collector.feedback.hub import Hub

PROTOBUF = {"content-type": "application/x-protobuf"}


def send(running, made, **headers):
    """Send a trace request."""
    answer = running.client.post(
        "/v1/traces", content=made.SerializeToString(), headers={**PROTOBUF, **headers}
    )
    assert answer.status_code == 200


def corrections(running, session="conv", **asked):
    """Ask what waits for a session."""
    answer = running.client.get(f"/v1/feedback/{session}", params=asked)
    assert answer.status_code == 200
    return answer.json()["corrections"]


class Stream:
    """An agent that listens, in a thread of its own."""

    def __init__(self, running, session="conv", **headers):
        self.events = []
        self.got = threading.Event()
        self._connection = http.client.HTTPConnection("127.0.0.1", running.service.http_port)
        self._connection.request(
            "GET", f"/v1/feedback/{session}", headers={"accept": "text/event-stream", **headers}
        )
        self._socket = self._connection.sock
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self):
        event: dict[str, str] = {}
        while line := self._answer.readline():
            name, _, value = line.decode().rstrip().partition(": ")
            if not name and "data" in event:
                self.events.append((event["id"], json.loads(event["data"])))
                self.got.set()
            event = {} if not name else {**event, name: value}

    def close(self):
        """Hang up."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self._answer.close()
        self._connection.close()


def test_a_correction_waits_until_it_is_acknowledged(serve, agent_spans):
    """It is shown again until then, to the session alone, and after that never."""
    running = serve()
    send(running, agent_spans.request())

    first = corrections(running)
    second = corrections(running)
    answer = running.client.post("/v1/feedback/conv/ack", json={"ids": [first[0]["id"]]})

    assert [one["tier_name"] for one in first] == ["nudge"]
    assert first == second
    assert corrections(running, "somebody-else") == []
    assert answer.json() == {"settled": [first[0]["id"]], "unknown": []}
    assert corrections(running) == []
    assert running.service.meters["delivered_corrections_total"] == 1


def test_acknowledging_twice_counts_once(serve, agent_spans):
    """A client that got no answer asks again; an id of nobody is said to be unknown."""
    running = serve()
    send(running, agent_spans.request())
    ids = [one["id"] for one in corrections(running)]

    asked = {"ids": [*ids, "none"]}
    answers = [running.client.post("/v1/feedback/conv/ack", json=asked) for _ in range(2)]

    assert [one.json() for one in answers] == [{"settled": ids, "unknown": ["none"]}] * 2
    assert running.service.meters["delivered_corrections_total"] == 1


def test_a_leased_correction_is_kept_and_marked(serve, agent_spans):
    """The model call may still fail: it counts once it is claimed."""
    running = serve()
    send(running, agent_spans.request())
    ids = [one["id"] for one in corrections(running)]

    running.client.post("/v1/feedback/conv/ack", json={"ids": ids, "stage": "lease"})

    assert [one["leased"] for one in corrections(running)] == [True]
    assert running.service.meters["delivered_corrections_total"] == 0


def test_simple_clients_take_and_claim_at_once(serve, agent_spans):
    """`claim=1` hands out each correction once."""
    running = serve()
    send(running, agent_spans.request())

    first = corrections(running, claim="1")

    assert len(first) == 1
    assert corrections(running, claim="1") == []


def test_the_next_tier_follows_a_claimed_correction(serve, agent_spans):
    """The ladder goes on as it does in a process: redirect after nudge."""
    running = serve()
    send(running, agent_spans.request(turns=range(1, 9)))
    corrections(running, claim="1")

    send(running, agent_spans.request(turns=range(9, 25)))

    assert [one["tier_name"] for one in corrections(running)] == ["redirect"]


@pytest.mark.parametrize(
    ("name", "asked", "count"),
    [
        ("conv", {}, 1),
        ("conv", {"agent": "fixer"}, 1),
        ("conv", {"agent": "other"}, 0),
        (f"{1:032x}", {}, 1),
    ],
)
def test_an_agent_asks_by_what_it_knows(serve, agent_spans, name, asked, count):
    """Conversation, trace, and the agent's name where several share one."""
    running = serve()
    send(running, agent_spans.request())

    assert len(corrections(running, name, **asked)) == count


def test_a_long_poll_is_answered_when_something_comes(serve, agent_spans):
    """And with nothing when its time is over."""
    running = serve()
    found = []
    asking = threading.Thread(target=lambda: found.extend(corrections(running, wait="10")))
    asking.start()
    while running.service._hub.waiting == 0:
        time.sleep(0.01)  # noqa: TID251 - until the other thread's request is there

    send(running, agent_spans.request())
    asking.join(10)

    assert [one["turn"] for one in found] == [6]
    assert corrections(running, "silent", wait="0.05") == []


def test_a_stream_tells_of_what_waits_and_of_what_comes(serve, agent_spans):
    """Each correction once, with a number to go on from."""
    running = serve()
    stream = Stream(running)

    send(running, agent_spans.request())
    assert stream.got.wait(10)
    stream.close()

    (number, event), *more = stream.events
    assert more == []
    assert number == str(event["seq"])
    assert event["message"].startswith("[watchdog]")


def test_a_stream_goes_on_where_it_was_cut(serve, agent_spans):
    """With `Last-Event-ID` nothing comes twice; without it, all that was not acknowledged."""
    running = serve()
    send(running, agent_spans.request())
    seq = corrections(running)[0]["seq"]
    resumed = Stream(running, **{"last-event-id": str(seq)})
    anew = Stream(running)

    assert anew.got.wait(10)
    send(running, agent_spans.request(seed=2, turns=range(1, 9), conversation="conv"))
    anew.close()
    resumed.close()

    assert str(seq) not in [number for number, _ in resumed.events]
    assert str(seq) in [number for number, _ in anew.events]


def test_the_barrier_waits_for_the_judgement_of_a_span(serve, agent_spans):
    """An agent that names its last span gets the correction that this span calls for."""
    running = serve()
    made = agent_spans.request(turns=range(1, 7))
    last = made.resource_spans[0].scope_spans[0].spans[-1]
    after = f"{last.trace_id.hex()}-{last.span_id.hex()}"
    found = []
    asking = threading.Thread(
        target=lambda: found.extend(corrections(running, after=after, barrier_ms="1000"))
    )
    asking.start()
    while not running.service._hub._by_span:
        time.sleep(0.005)  # noqa: TID251 - until the other thread's request is there

    send(running, made)
    asking.join(10)

    assert [one["turn"] for one in found] == [6]
    assert corrections(running, after=after, barrier_ms="1000") == found


def test_the_barrier_says_whether_the_span_was_judged(serve, agent_spans):
    """Only who asks is told; a span that never comes is not."""
    running = serve()
    made = agent_spans.request(turns=range(1, 3))
    last = made.resource_spans[0].scope_spans[0].spans[-1]
    send(running, made)

    answers = [
        running.client.get("/v1/feedback/conv", params=asked).json().get("judged")
        for asked in (
            {},
            {"after": f"{last.trace_id.hex()}-{last.span_id.hex()}"},
            {"after": f"{last.trace_id.hex()}-ff", "barrier_ms": "1"},
        )
    ]

    assert answers == [None, True, False]


def test_where_nothing_is_judged_nothing_is_waited_for(serve, monkeypatch):
    """In mode off an agent is not held back for what will not come."""
    running = serve(mode="off")
    monkeypatch.setattr(running.service._hub, "judged", None)

    answer = running.client.get("/v1/feedback/conv", params={"after": "1-2", "barrier_ms": "1000"})

    assert answer.json() == {"mode": "off", "corrections": [], "judged": False}


def test_one_that_gives_up_leaves_the_others_waiting():
    """For the same span, with more patience."""

    async def wait_for_one_span():
        hub = Hub(9)
        patient = asyncio.create_task(hub.judged("t", 1, 3600))
        await hub.judged("t", 1, 0.001)
        hub.note_judged("t", [1])
        async with asyncio.timeout(10):
            await patient

    asyncio.run(wait_for_one_span())


def test_in_mode_observe_nothing_is_handed_out(serve, agent_spans):
    """Would-be corrections are recorded, as such."""
    running = serve(mode="observe")
    send(running, agent_spans.request())

    answer = running.client.get("/v1/feedback/conv")

    assert answer.json() == {"mode": "observe", "corrections": []}
    assert running.service.meters["corrections_total"] == 1


def test_while_paused_nothing_is_handed_out(serve, agent_spans, monkeypatch):
    """The switch works at once, also for what waits already."""
    running = serve()
    send(running, agent_spans.request())
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "1")

    paused = corrections(running)
    monkeypatch.delenv("OTEL_WATCHDOG_PAUSE")

    assert paused == []
    assert len(corrections(running)) == 1


def test_a_correction_expires(serve, agent_spans):
    """What nobody took in time is not handed out any more."""
    running = serve(expiry_seconds=0.001)
    send(running, agent_spans.request())

    assert corrections(running) == []


def test_tenants_do_not_see_each_other(serve, agent_spans):
    """A token's spans, feedback and ids are its tenant's alone."""
    tokens = [
        {"name": name, "token": f"{name}-0123456789abcdef", "role": "ingest", "tenant": name}
        for name in ("one", "two")
    ]
    running = serve(tokens=tokens)
    one, two = ({"authorization": f"Bearer {t['token']}"} for t in tokens)
    send(running, agent_spans.request(), **one)

    mine = running.client.get("/v1/feedback/conv", headers=one).json()["corrections"]
    theirs = running.client.get("/v1/feedback/conv", headers=two).json()["corrections"]
    ack = running.client.post(
        "/v1/feedback/conv/ack", json={"ids": [mine[0]["id"]]}, headers=two
    ).json()

    assert (len(mine), theirs, ack["settled"]) == (1, [], [])


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/v1/feedback/", None, 400),
        ("GET", "/v1/feedback/" + "x" * 600, None, 400),
        ("GET", "/v1/feedback/conv?wait=soon", None, 400),
        ("GET", "/v1/feedback/conv?wait=-1", None, 400),
        ("GET", "/v1/feedback/conv?after=zz&barrier_ms=5", None, 400),
        ("PUT", "/v1/feedback/conv", b"", 405),
        ("POST", "/v1/feedback/conv/ack", b"[]", 400),
        ("POST", "/v1/feedback/conv/ack", b'{"ids": "c1"}', 400),
        ("POST", "/v1/feedback/conv/ack", b'{"ids": [], "stage": "eat"}', 400),
        ("POST", "/v1/feedback/conv/ack", b" " * 70_000, 413),
    ],
)
def test_wrong_questions_get_a_clear_answer(serve, method, path, body, status):
    """One line that says what was wrong."""
    running = serve()

    answer = running.client.request(method, path, content=body)

    assert answer.status_code == status
    assert "\n" not in answer.json()["error"]


def test_without_a_token_there_is_no_feedback(serve):
    """401 without one, 403 with one that may only read."""
    token = {"name": "eyes", "token": "0123456789abcdef", "role": "read"}
    running = serve(tokens=[token])

    nobody = running.client.get("/v1/feedback/conv")
    reader = running.client.get(
        "/v1/feedback/conv", headers={"authorization": "Bearer 0123456789abcdef"}
    )

    assert [nobody.status_code, reader.status_code] == [401, 403]


def test_stopping_ends_the_streams(serve):
    """Agents that listen do not hold the service up."""
    running = serve()
    stream = Stream(running)

    running.wait(running.service.stop())

    stream.thread.join(10)
    assert not stream.thread.is_alive()
    stream.close()
