"""One message an incident, one when it is over, and never too many."""

import dataclasses

import pytest

from otel_watchdog import ConfigError, ModelTurn, RunEnded, RunStarted, Tier
from otel_watchdog.channels import Webhook
from otel_watchdog.testing import FakeClock, correction


@pytest.fixture
def channel(service):
    """Return a channel."""
    channel = Webhook(f"{service.url}/hook?key=k", quiet_turns=2)
    yield channel
    channel.close()


def told(service, count):
    """Wait for so many messages; return what they are about."""
    service.wait(lambda service: len(service.posts) >= count)
    assert len(service.posts) == count
    return [body["metadata"]["event_payload"] for _, body, _ in service.posts]


def turns(channel, *numbers, session="s"):
    """Let turns pass."""
    for number in numbers:
        channel.observe(ModelTurn(session=session, turn=number))


def test_says_who_where_and_why(service, channel):
    """As Slack takes it, and with fields for programs."""
    channel.send(correction(id="a", turn=5))

    (facts,) = told(service, 1)
    path, body, headers = service.posts[0]
    assert path == "/hook?key=k"
    assert headers["Content-Type"] == "application/json"
    assert body["text"] == (
        "[watchdog] an agent (session s) was told to nudge: ls was called 5 times in a row with "
        "{} (turn 5, repeated_tool_call)"
    )
    assert facts["state"] == "open"
    assert facts["correction_id"] == "a"


def test_an_incident_is_told_once_and_clears_with_progress(service, channel):
    """However many corrections it takes."""
    channel.send(correction(id="a", turn=5))
    told(service, 1)
    channel.send(correction(id="b", turn=8, tier=Tier.REDIRECT))
    turns(channel, 9)
    channel.send(correction(id="c", turn=9, tier=Tier.FORCE_WRAP))
    turns(channel, 10, 11, 12)

    facts = told(service, 2)[1]
    assert (facts["state"], facts["corrections"], facts["tier"]) == ("progressed", 3, "force-wrap")
    assert service.posts[1][1]["text"].startswith(
        "[watchdog] cleared: an agent (session s) goes on"
    )


@pytest.mark.parametrize(
    ("observation", "state"),
    [
        (RunEnded(session="s", run="r", turn=9), "ended"),
        (RunEnded(session="s", run="r", turn=9, error="boom"), "failed"),
        (RunStarted(session="s", run="r2"), "replaced"),
    ],
)
def test_clears_when_its_run_is_over(service, channel, observation, state):
    """And says how."""
    channel.send(correction(id="a"))
    told(service, 1)
    channel.observe(RunEnded(session="s", run="another", turn=3))
    channel.observe(RunStarted(session="other", run="r2"))

    channel.observe(observation)

    assert told(service, 2)[1]["state"] == state


def test_what_clears_before_it_is_told_is_not_told(service, channel, eventually):
    """The next incident is the first that anybody hears of."""
    service.change(hangs=True)
    channel.send(correction(id="first", session="busy"))
    eventually(lambda: channel._messages and channel._messages[0].tries)
    channel.send(correction(id="a"))
    channel.observe(RunEnded(session="s", run="r", turn=5))

    assert [message.incident.first.id for message in channel._messages] == ["first"]


def test_milder_ones_than_asked_for_are_not_told(service):
    """The tier that opens an incident is an option."""
    channel = Webhook(service.url, min_tier=Tier.HARD_STOP)

    channel.send(correction(id="a", tier=Tier.REDIRECT))
    channel.send(correction(id="b", session="t", tier=Tier.HARD_STOP))

    assert [facts["correction_id"] for facts in told(service, 1)] == ["b"]
    channel.close()


def test_is_limited_in_its_rate(service):
    """The clock decides; what waits goes out when it may."""
    clock = FakeClock()
    channel = Webhook(service.url, max_posts_per_minute=2, clock=clock)
    for session in "abcd":
        channel.send(correction(id=session, session=session))
    told(service, 2)

    clock.advance(61)
    channel._worker.wake()

    assert [facts["session"] for facts in told(service, 4)] == ["a", "b", "c", "d"]
    channel.close()


def test_what_is_too_much_is_dropped_counted_and_said(service, eventually):
    """The oldest go."""
    service.change(hangs=True)
    channel = Webhook(service.url, max_posts_per_minute=1000)
    for number in range(70):
        channel.send(correction(id=str(number), session=str(number)))
    dropped = channel.dropped
    service.change(hangs=False)

    eventually(lambda: any("were not sent" in body["text"] for _, body, _ in service.posts))

    assert dropped in {5, 6}
    channel.close()


def test_a_receiver_in_trouble_is_asked_again(service):
    """After as long as it says; a refusal is final."""
    service.change(status=503, headers={"Retry-After": "0"})
    channel = Webhook(service.url)
    channel.send(correction(id="a"))
    service.wait(lambda service: service.posts)
    service.change(status=404)
    channel._worker.wake()
    service.wait(lambda service: len(service.posts) == 2)
    service.change(status=200)
    channel.send(correction(id="b", session="t"))

    service.wait(lambda service: len(service.posts) == 3)

    ids = [body["metadata"]["event_payload"]["correction_id"] for _, body, _ in service.posts]
    assert ids == ["a", "a", "b"]
    channel.close()


def test_quotes_nothing_that_mentions_or_links(service, channel):
    """Reasons may quote the agent."""
    one = correction(id="a", session="<!channel>")
    hostile = dataclasses.replace(one.finding, reason="<http://evil|click>\n& more" + "x" * 999)

    channel.send(dataclasses.replace(one, findings=(hostile,)))

    told(service, 1)
    text = service.posts[0][1]["text"]
    assert "&lt;!channel&gt;" in text
    assert "&lt;http://evil|click&gt; &amp; more" in text
    assert "\n" not in text
    assert len(text) < 700


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("hooks.example.com/secret", {}),
        ("https://x", {"quiet_turns": 0}),
        ("https://x", {"max_posts_per_minute": 0}),
        ("https://x", {"max_incidents": 0}),
    ],
)
def test_refuses_wrong_settings(url, options):
    """It fails at start; the URL is a key and is not shown."""
    with pytest.raises(ConfigError) as caught:
        Webhook(url, **options)

    assert "secret" not in str(caught.value)
