"""Heartbeats of the demo's agents, as the library sends them: what is open, and since when."""

import threading
from typing import Any, Final

import httpx

from otel_watchdog import semconv
from otel_watchdog.clock import system_clock
from otel_watchdog_collector.demo.members import MEMBERS, Member

SECONDS: Final = 2.0
"""Seconds between two heartbeats of an agent."""


class Beats:
    """Tells the service of all agents, from one thread.

    Args:
        url: Of the service.
        stop: Set when it is to end.
    """

    def __init__(self, url: str, stop: threading.Event) -> None:
        self._url = url
        self._stop = stop
        self._quiet_since: dict[str, float] = {}

    def note_end(self, member: Member) -> None:
        """Note that an agent does nothing more."""
        self._quiet_since[member.name] = system_clock()

    def run(self) -> None:
        """Send heartbeats until told to end."""
        with httpx.Client(base_url=self._url, timeout=30) as client:
            while not self._stop.wait(SECONDS):
                groups = [self._group(member) for member in MEMBERS]
                client.post("/v1/logs", json={"resourceLogs": groups})

    def _group(self, member: Member) -> dict[str, Any]:
        """Return one agent's heartbeat as OTLP/JSON."""
        ended_at = self._quiet_since.get(member.name)
        idle = 0.0 if ended_at is None else system_clock() - ended_at
        is_open = ended_at is None or member.hangs
        said = {
            semconv.GEN_AI_AGENT_NAME: {"stringValue": member.name},
            semconv.HEARTBEAT_OPEN_SPANS: {"intValue": "2" if is_open else "0"},
            semconv.HEARTBEAT_IDLE_SECONDS: {"doubleValue": idle},
        }
        record = {
            "eventName": semconv.HEARTBEAT_EVENT,
            "attributes": [{"key": key, "value": value} for key, value in said.items()],
        }
        service = [{"key": "service.name", "value": {"stringValue": member.framework}}]
        return {"resource": {"attributes": service}, "scopeLogs": [{"logRecords": [record]}]}
