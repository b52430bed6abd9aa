"""Plays the cases of testdata/ to a watchdog."""

import itertools
import json

import pytest

from otel_watchdog import (
    Finding,
    ModelTurn,
    Profile,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
    Watchdog,
    WatchdogConfig,
)


def observations(events):
    """Yield what the events of a case say; each call is a turn of its own.

    An event is `{"call": tool, "arguments": …}` (null = not captured), `{"result": tool,
    "outcome": …, "text": …, "error": …}`, `{"says": text}`, `{"user": text}` or `{"run": id}`. A
    call that `gives` a text (null = not captured) is followed by its result; `at` is its second. The
    `agent` of an event is whose session it is of, all of one conversation.
    `"times": n` repeats it, `{"times": n,
    "events": […]}` repeats several; `{n}` in a text counts the repetitions from 1.
    """
    turn = itertools.count(1)
    now = 0
    for event in flat(events):
        s = event.get("agent", "s")
        if "call" in event:
            now = next(turn)
            arguments = event.get("arguments", {})
            text = None if arguments is None else json.dumps(arguments)
            yield ToolCall(s, now, event["call"], text, time=event.get("at"))
            if "gives" in event:
                outcome = ToolOutcome(event.get("outcome", "unknown"))
                yield ToolResult(
                    s, now, event["call"], outcome, event["gives"], time=event.get("at")
                )
        elif "result" in event:
            outcome = ToolOutcome(event.get("outcome", "ok"))
            yield ToolResult(
                s, now, event["result"], outcome, event.get("text"), event.get("error")
            )
        elif "says" in event:
            cost = event.get("cost_usd")
            yield ModelTurn(s, now + 1, text=event["says"], cost_usd=cost)
        elif "user" in event:
            yield UserMessage(s, now, event["user"])
        else:
            agent = event.get("agent")
            yield RunStarted(s, event["run"], agent, conversation=agent and "conversation")


def flat(events):
    """Yield the events with repetitions written out."""
    for event in events:
        for n in range(event.get("times", 1)):
            told = counted(event, n + 1) if event.get("times") else event
            yield from flat(told["events"]) if "events" in told else [told]


def counted(value, n):
    """Return the value with `{n}` in its texts replaced by the number; `at` is multiplied by it."""
    if isinstance(value, str):
        return value.replace("{n}", str(n))
    if isinstance(value, list):
        return [counted(item, n) for item in value]
    if isinstance(value, dict):
        return {key: item * n if key == "at" else counted(item, n) for key, item in value.items()}
    return value


class Watched:
    """A watchdog of one detector that notes what was found and at which observation."""

    def __init__(self, detector):
        self.findings: list[tuple[int, Finding]] = []
        self.seen = 0
        self.watchdog = Watchdog(
            config=WatchdogConfig(profile=Profile.CLASSIC),
            detectors=[detector],
            on_finding=lambda finding, _: self.findings.append((self.seen, finding)),
        )

    def play(self, events):
        """Show it the events; return the places, counted from 1, at which it has fired."""
        return self.show(observations(events))

    def show(self, facts):
        """Show it observations; return the places, counted from 1, at which it has fired."""
        for fact in facts:
            self.seen += 1
            self.watchdog.observe(fact)
        return [place for place, _ in self.findings]

    @property
    def finding(self):
        """The latest finding."""
        return self.findings[-1][1]


@pytest.fixture(scope="session")
def watch():
    """Return what watches with one detector."""
    return Watched
