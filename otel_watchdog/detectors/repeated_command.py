"""Finds one call several times among the last turns, whatever it brings."""

import re
from collections import deque
from typing import ClassVar, Final

from otel_watchdog.evidence import shell
from otel_watchdog.evidence.effects import nature_of
from otel_watchdog.evidence.exchanges import Call
from otel_watchdog.evidence.shell import COMMAND_KEYS
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolCall
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

MAX_CALLS = 200

_FOLDER: Final = re.compile(r"^(?:cd\s+\S+\s*(?:&&|;)\s*)+")


class RepeatedCommand:
    """Fires when one call is made `threshold` times within `window_turns` turns.

    Shell commands are compared in one spelling: blanks, a change of folder before it, `sudo`,
    `timeout` and what only cuts the output are left out. Results are not looked at.

    Severity is warn: repeating by design is common.

    Known false positive: polling, and tests that repeat a request on purpose.

    Threshold: 3 of 10 turns, the rule of the 5-tier watchdog; `unchanged_result` asks what came of
    it and is the better one where results are traced.

    Args:
        threshold: Calls that fire, at least 2.
        window_turns: Turns within which they stand, at least 2.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_calls", "_threshold", "_told", "_window_turns")

    name: ClassVar[str] = "repeated_command"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolCall,)
    needs: ClassVar[tuple[str, ...]] = ("arguments",)

    def __init__(self, *, threshold: int = 3, window_turns: int = 10) -> None:
        check_thresholds(self.name, threshold)
        check_thresholds(self.name, window_turns, option="window_turns")
        self._threshold = threshold
        self._window_turns = window_turns
        self.restart()

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        call, turn = progress.call, observation.turn
        calls = self._calls
        while calls and not turn - self._window_turns < calls[0][0] <= turn:
            calls.popleft()
        key = command_of(call)
        calls.append((turn, key))
        times = sum(other == key for _, other in calls)
        if times < self._threshold or key in self._told:
            return None
        self._told.add(key)
        return self._finding(call, times)

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._calls: deque[tuple[int, str]] = deque(maxlen=MAX_CALLS)
        self._told: set[str] = set()

    def _finding(self, call: Call, times: int) -> Finding:
        tool = shortened(call.name)
        arguments = shortened(call.key.partition("\0")[2])
        return Finding(
            detector=self.name,
            kind=Kind.LOOP,
            severity=Severity.WARN,
            reason=f"{tool} was called {times} times in few turns with {arguments}",
            guidance=(
                f"You have called {tool} {times} times in your last turns with the same arguments "
                f"({arguments}). Use what it gave you, or take another way."
            ),
            evidence={"tool": tool, "arguments": arguments, "count": times},
        )


def command_of(call: Call) -> str:
    """Return tool and arguments, a shell command in one spelling."""
    if call.arguments is not None:
        for key in COMMAND_KEYS:
            command = call.arguments.get(key)
            if isinstance(command, str) and (nature_of(call.name).is_shell or key != "script"):
                return f"{call.name}\0{shell.parse(_FOLDER.sub('', command.strip())).text}"
    return call.key
