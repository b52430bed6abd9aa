"""Runs that a judge is asked about, and judges that play a part."""

import threading
from typing import ClassVar

from otel_watchdog import WatchdogConfig
from otel_watchdog.judge_settings import JudgeSettings
from otel_watchdog.judges import Case, Ruling, Verdict
from otel_watchdog.model import (
    ModelTurn,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
)

TASK = "Write a report on the outage into out/report.md."


def verdict(*, stuck=True, done=False, confidence=0.95, reason="turns 2 to 7 ask the same"):
    return Verdict(stuck=stuck, reason=reason, done_but_continuing=done, confidence=confidence)


class Scripted:
    """Gives these verdicts in turn, the last for ever; raises those that are errors."""

    name: ClassVar[str] = "scripted"

    def __init__(self, *verdicts):
        self._verdicts = list(verdicts) or [verdict()]
        self.cases: list[tuple[Case, bool]] = []
        self.asked = threading.Semaphore(0)

    def judge(self, case, *, confirm=False):
        place = min(len(self.cases), len(self._verdicts) - 1)
        self.cases.append((case, confirm))
        self.asked.release()
        said = self._verdicts[place]
        if isinstance(said, Exception):
            raise said
        return Ruling(verdict=said, model="small-model", provider="test", cost_usd=0.01)


def config(*, mode="feedback", **judge):
    return WatchdogConfig(mode=mode, judge=JudgeSettings(**({"wait_seconds": 90.0} | judge)))


def turn(number, *, tool="search", time=None, result=None, session="s", arguments=None):
    """Yield a turn of an agent that asks ever new things and learns nothing."""
    asked = arguments or f'{{"query":"outage reason number {number * 7919}"}}'
    said = result or f"page {number * 104729}: nothing about it"
    yield ModelTurn(session, number, time, f"Step {number}.", tool_calls=1)
    yield ToolCall(session, number, tool, asked, f"c{number}", time)
    yield ToolResult(session, number, tool, ToolOutcome.OK, said, None, f"c{number}", time)


def run(turns, *, seconds=None, session="s", run="r", agent="writer", task=TASK):
    """Yield a run's observations; `seconds` a turn, or no clock."""
    at = 0.0 if seconds is not None else None
    yield RunStarted(session, run, agent, 0, at)
    yield UserMessage(session, 0, task, at)
    for number in range(1, turns + 1):
        yield from turn(
            number, time=number * seconds if seconds is not None else None, session=session
        )
