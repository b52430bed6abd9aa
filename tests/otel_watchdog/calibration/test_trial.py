"""What a good run is, and what settings make of it."""

import io
import json
from typing import Any

from otel_watchdog import Profile, WatchdogConfig
from otel_watchdog.calibration import read
from tests.otel_watchdog.calibration.good_runs import good
from tests.otel_watchdog.recordings.recording_cases import FILES


def test_agents_that_work_together_are_one_run():
    """Each has a session of its own; the bound counts runs."""
    events: list[dict[str, Any]] = [
        {"kind": "tool_call", "turn": 1, "name": "ls", "args": {}, "agent": agent}
        for agent in ("one", "two")
    ]
    content = json.dumps({"id": "r", "events": events}).encode()

    assert [run.id for run in read(io.BytesIO(content), WatchdogConfig())] == ["r"]


def test_sessions_of_a_trace_are_runs():
    """A file may hold many."""
    runs = list(read(FILES / "multi_pydantic_ai__parallel_agents.json", WatchdogConfig()))

    assert len({run.id for run in runs}) == 3


def test_what_nothing_was_found_in_is_not_kept():
    """Its observations are not needed again."""
    config = WatchdogConfig(profile=Profile.CLASSIC)

    runs = good(3, config, errors=1)

    assert [bool(run.observations) for run in runs] == [True, False, False]
    assert [sorted(run.first.warned) for run in runs] == [["tool_failure_streak"], [], []]
    assert [run.at(config) == run.first for run in runs] == [True, True, True]
