"""Tells stories to a watchdog in profile `standard`, as a trace would."""

import json

import pytest

from otel_watchdog import (
    Correction,
    Finding,
    Mode,
    ModelTurn,
    RunStarted,
    Severity,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
    Watchdog,
    WatchdogConfig,
)


class Story:
    """An agent that works while the watchdog looks on; corrections reach it at its next turn."""

    def __init__(self, **settings):
        self.findings: list[Finding] = []
        self.corrections: list[Correction] = []
        self.turn = 0
        self.now = 0.0
        self._waiting: Correction | None = None
        self._ids = 0
        settings = {"mode": Mode.FEEDBACK, "refractory_seconds": 0, **settings}
        self.watchdog = Watchdog(
            config=WatchdogConfig(**settings),
            on_finding=lambda finding, _: self.findings.append(finding),
        )

    @property
    def detectors(self):
        """The names of the detectors that have fired."""
        return {finding.detector for finding in self.findings}

    @property
    def critical(self):
        """The findings that may stop a run."""
        return [one for one in self.findings if one.severity is Severity.CRITICAL]

    def run(self, name):
        """A new prompt."""
        self.turn = 0
        self._show(RunStarted("s", name))

    def says(self, text, *, calls=0):
        """The model answers: a turn begins."""
        self.turn += 1
        if self._waiting is not None:
            self.watchdog.claim(self._waiting)
            self._waiting = None
        self._show(ModelTurn("s", self.turn, self.now, text, tool_calls=calls))

    def does(self, tool, result, *, outcome=ToolOutcome.UNKNOWN, seconds=1.0, **arguments):
        """A turn with one call and its result."""
        self.batch((tool, arguments, result), outcome=outcome, seconds=seconds)

    def batch(self, *calls, outcome=ToolOutcome.UNKNOWN, seconds=1.0):
        """A turn with several calls at once, each `(tool, arguments, result)`."""
        self.now += seconds
        self.says("", calls=len(calls))
        ids = []
        for tool, arguments, _ in calls:
            self._ids += 1
            ids.append(f"c{self._ids}")
            self._show(
                ToolCall("s", self.turn, tool, json.dumps(arguments), ids[-1], time=self.now)
            )
        for (tool, _, result), call_id in zip(calls, ids, strict=True):
            self._show(
                ToolResult("s", self.turn, tool, outcome, result, call_id=call_id, time=self.now)
            )

    def user(self, text):
        """Somebody speaks."""
        self._show(UserMessage("s", self.turn, text))

    def _show(self, observation):
        correction = self.watchdog.observe(observation)
        if correction is not None:
            self.corrections.append(correction)
            self._waiting = correction


@pytest.fixture
def story():
    """Return an agent at work."""
    return Story()


@pytest.fixture(scope="session")
def story_with():
    """Return what makes an agent at work under other settings."""
    return Story
