"""A stored trace is replayed."""

import pytest
from typer.testing import CliRunner

from otel_watchdog import WatchdogConfig, replay
from otel_watchdog.cli.app import app
from otel_watchdog.errors import InputError
from otel_watchdog.reviews.langfuse import stored_trace


def looping(fake, turns=5):
    """Store the trace of an agent that makes one call again and again, with a correction in it."""
    run = "f" * 16
    fake.observe(run, type="AGENT", name="fixer", sessionId="talk", endTime="2026-11-30T13:00:00Z")
    for turn in range(1, turns + 1):
        at = {
            "parentObservationId": run,
            "startTime": f"2026-11-30T12:00:{turn:02}.000Z",
            "endTime": f"2026-11-30T12:00:{turn:02}.500Z",
        }
        usage = {"usageDetails": {"input": 100 * turn, "output": 5}, "model": "m"}
        fake.observe(f"{turn:016x}", type="GENERATION", name="chat m", **at, **usage)
        at["startTime"] = at["endTime"]
        fake.observe(f"{turn + 99:016x}", type="TOOL", name="ls", input={}, output="a b", **at)
    fake.observe("e" * 16, type="GUARDRAIL", name="watchdog-nudge-turn-5", parentObservationId=run)


def test_it_is_judged_as_it_would_have_been_live(client, fake):
    """Turns, calls and a loop are found; the corrections that it holds are not read again."""
    looping(fake)

    (run,) = replay.read(stored_trace(client, "a" * 32), config=WatchdogConfig())

    (session,) = run.sessions
    assert (run.id, session.id, session.turns, session.calls) == (
        f"langfuse:{'a' * 32}",
        "talk",
        5,
        5,
    )
    assert run.corrections[0].correction.finding.detector
    assert run.errors == []


def test_ids_that_are_no_otlp_ids_keep_their_tree(client, fake):
    """Observations made through the API may have any id."""
    fake.observe("root", type="AGENT", name="fixer", endTime="2026-11-30T13:00:00Z")
    fake.observe("call", type="TOOL", name="ls", input="{}", parentObservationId="root")

    (run,) = replay.read(stored_trace(client, "a" * 32), config=WatchdogConfig())

    assert [(session.agent, session.calls) for session in run.sessions] == [("fixer", 1)]


def test_the_command_reads_it(fake, monkeypatch):
    """`otel-watchdog replay langfuse:<trace id>`, with Langfuse's own variables."""
    looping(fake)
    for name, value in {"PUBLIC_KEY": "pk-cli", "SECRET_KEY": "sk", "BASE_URL": fake.url}.items():
        monkeypatch.setenv(f"LANGFUSE_{name}", value)

    done = CliRunner().invoke(app, ["replay", f"langfuse:{'a' * 32}"])

    assert done.exit_code == 0, done.output
    assert "⇒ nudge" in done.output


def test_without_keys_the_command_says_so(monkeypatch):
    """One line names the variables."""
    monkeypatch.delenv("LANGFUSE_PUBLIC_KEY", raising=False)
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk")

    done = CliRunner().invoke(app, ["replay", "langfuse:x"])

    assert done.exit_code == 2
    assert "LANGFUSE_PUBLIC_KEY must be set" in done.output


def test_a_trace_that_is_not_there(client):
    """The id stands in the message."""
    with pytest.raises(InputError, match="langfuse:nothing: there is no such trace"):
        stored_trace(client, "nothing")


def test_langfuse_that_is_not_there(client, fake):
    """The message says that it cannot be reached."""
    fake.stop()

    with pytest.raises(InputError, match="Langfuse cannot be reached"):
        stored_trace(client, "a" * 32)
