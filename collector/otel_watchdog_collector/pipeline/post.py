"""The corrections that wait, as those who hand them out see them."""

from collections.abc import Callable, Sequence

from otel_watchdog.model import Mode
from otel_watchdog_collector.clock import WallClock
from otel_watchdog_collector.facts import Entry, Kind, Letter
from otel_watchdog_collector.pipeline.intake import Intake


class Post:
    """Hands letters out and takes note of what became of them.

    Args:
        intake: Where acknowledgements go in.
        clock: Tells the time of day.
        is_paused: Says whether a kill switch is on for a tenant.
    """

    def __init__(self, intake: Intake, clock: WallClock, is_paused: Callable[[str], bool]) -> None:
        self._intake = intake
        self._clock = clock
        self._is_paused = is_paused

    def mode(self, tenant: str) -> Mode:
        """Return what may be done to a tenant's agents now."""
        mode = self._intake.tenant(tenant).mode
        return Mode.OBSERVE if mode > Mode.OBSERVE and self._is_paused(tenant) else mode

    def waiting(self, tenant: str, name: str, agent: str | None) -> Sequence[Letter]:
        """Return the letters for who asks by `name`, oldest first; none while paused.

        Args:
            tenant: Whose agent asks.
            name: Key of a session, id of a conversation or of a trace.
            agent: The agent's name; `None`: any of that name.
        """
        if self.mode(tenant) <= Mode.OBSERVE:
            return ()
        return self._intake.tenant(tenant).waiting(name, agent, self._clock())

    def is_judged(self, tenant: str, span: int) -> bool:
        """Say whether a span was judged; it is named by its id xor its trace's."""
        return span in self._intake.tenant(tenant).seen

    async def settle(self, tenant: str, kind: Kind, ids: Sequence[str]) -> dict[str, list[str]]:
        """Note that letters are leased or claimed; return ids by what they are now.

        Args:
            tenant: Whose.
            kind: `LEASE` or `CLAIM`.
            ids: Of letters. Those settled before count once.

        Raises:
            Full: Too much is in work.
            StoreError: It could not be kept.
        """
        boxes = self._intake.tenant(tenant).mailboxes
        waiting = [id_ for id_ in dict.fromkeys(ids) if boxes.find(id_)]
        before = [id_ for id_ in dict.fromkeys(ids) if boxes.was_claimed(id_)]
        if waiting:
            body = "\n".join(waiting).encode()
            await self._intake.submit(Entry(kind, tenant, self._clock(), body))
        settled = {*waiting, *before}
        return {
            "settled": waiting + before,
            "unknown": [id_ for id_ in dict.fromkeys(ids) if id_ not in settled],
        }
