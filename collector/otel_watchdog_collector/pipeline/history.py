"""Keeps what sessions did, for pages that show a run and for rules that are tried out."""

from collections.abc import Collection
from typing import Any

from otel_watchdog.model import Observation, RunEnded, RunStarted
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.observed import plain


class History:
    """Gathers observations into rows, one for each run and batch.

    So the same batches give the same rows after a restart.

    Args:
        tenant: Whose.
        max_chars: Of each text that is kept; 0: nothing is.
    """

    def __init__(self, tenant: str, max_chars: int) -> None:
        self._tenant = tenant
        self._max_chars = max_chars
        self._counts: dict[str, int] = {}
        self._runs: dict[str, str] = {}
        self._open: dict[tuple[str, str], dict[str, Any]] = {}

    def observe(self, observation: Observation, agent: str | None, service: str) -> None:
        """Note what a session did.

        Args:
            observation: In the session's order.
            agent: The agent's name; `None`: it goes by its service's.
            service: `service.name`.
        """
        if not self._max_chars:
            return
        session = observation.session
        if isinstance(observation, RunStarted):
            self._runs[session] = observation.run
        run = self._runs.get(session, "")
        if isinstance(observation, RunEnded):
            run = observation.run
        number = self._counts[session] = self._counts.get(session, 0) + 1
        part = self._open.get((session, run))
        if part is None:
            part = self._open[session, run] = {
                "session": session,
                "run": run,
                "agent": agent,
                "service": service,
                "first": number,
                "observations": [],
            }
        part["observations"].append({"n": number, **plain(observation, self._max_chars)})

    def take(self, at: float) -> list[Row]:
        """Return what was noted since this was asked last."""
        parts, self._open = self._open, {}
        return [
            Row(
                table=Table.OBSERVATIONS,
                tenant=self._tenant,
                id=f"{session}/{part['first']:09d}",
                at=at,
                fields=part,
            )
            for (session, _), part in parts.items()
        ]

    def freeze(self) -> tuple[dict[str, int], dict[str, str]]:
        """Return what it takes to go on after a restart."""
        return self._counts, self._runs

    def thaw(self, kept: tuple[dict[str, int], dict[str, str]]) -> None:
        """Go on from what `freeze` returned; of other sessions, too."""
        counts, runs = kept
        self._counts.update(counts)
        self._runs.update(runs)

    def forget(self, sessions: Collection[str]) -> None:
        """Keep nothing more of these sessions in memory."""
        for session in sessions:
            self._counts.pop(session, None)
            self._runs.pop(session, None)
