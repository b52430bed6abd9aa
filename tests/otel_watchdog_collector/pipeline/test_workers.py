"""Workers find what one process finds, in any batches, also after one was killed or all restarted."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from otel_watchdog.model import Correction, Mode
from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.facts import Entry, Kind, Table
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline import Intake
from otel_watchdog_collector.pipeline.parts import Kept, Part
from otel_watchdog_collector.pipeline.workers import WorkerProcess
from otel_watchdog_collector.stores import MemoryStore
from otel_watchdog_collector.wire import Limits, decode

NOW = 1_790_000_000.0


class Judged:
    """An intake, and what it told."""

    def __init__(self, workers, store=None):
        self.facts: list[Any] = []
        self.signs: list[Any] = []
        self.meters = Meters()
        self.store = store or MemoryStore()
        self.intake = Intake(
            self.store,
            CollectorConfig(workers=workers, mode=Mode.FEEDBACK),
            clock=lambda: NOW,
            meters=self.meters,
            publish=lambda _, fact, judged, resource: self.facts.append((fact, judged, resource)),
            on_judged=lambda *_: None,
            on_signs=lambda _, signs, __: self.signs.extend(signs),
        )

    async def __aenter__(self):
        await self.intake.recover()
        self.intake.start()
        return self

    async def __aexit__(self, *_):
        await self.intake.close()

    async def send(self, *requests):
        """Take in trace requests, all at once; a request may be a body of JSON."""
        await asyncio.gather(*(self._send(made) for made in requests))

    async def claim(self):
        """Take what waits, as its agents would; return the ids."""
        letters = self.intake.tenant("t").mailboxes
        ids = letters.ids()
        if ids:
            await self.intake.submit(Entry(Kind.CLAIM, "t", NOW, "\n".join(ids).encode()))
        return ids

    async def rows(self):
        """Return the rows in the store, by table and id, as they are now."""
        await self.intake.keep([])
        self.intake.hurry()
        await self.intake.keep([])
        return {(row.table, row.id): dict(row.fields) for row in self.store._rows.values()}

    @property
    def made(self):
        """What was corrected: session, turn, tier, id; in order of sessions."""
        made = [fact for fact, _, _ in self.facts if isinstance(fact, Correction)]
        return sorted((one.session, one.turn, one.tier.label, one.id) for one in made)

    async def _send(self, made):
        is_json = isinstance(made, bytes)
        kind = Kind.TRACES_JSON if is_json else Kind.TRACES_PROTOBUF
        if is_json and b"resourceLogs" in made:
            kind = Kind.LOGS_JSON
        body = made if is_json else made.SerializeToString()
        await self.intake.submit(Entry(kind, "t", NOW, body), decode(kind, body, Limits()))


def fleet(agent_spans, turns=range(1, 9), count=6):
    """Return a request a turn and agent; two traces to each conversation."""
    return [
        agent_spans.request(
            turns=[turn], agent=f"a{n}", conversation=f"conv-{n}", seed=2 * n + turn % 2 + 1
        )
        for turn in turns
        for n in range(count)
    ]


async def played(judged, agent_spans, turns=range(1, 25)):
    """Have agents go on until they were corrected more than once; return what was claimed."""
    claimed = []
    for turn in turns:
        await judged.send(*fleet(agent_spans, [turn]))
        claimed += await judged.claim()
    return sorted(claimed)


def both(play):
    """Run `play` with one process and with two workers; return what each came to."""
    return [asyncio.run(play(workers)) for workers in (1, 2)]


def test_two_workers_find_what_one_process_finds(agent_spans):
    """Corrections, what came of them, signs, rows and figures."""

    async def play(workers):
        async with Judged(workers) as judged:
            claimed = await played(judged, agent_spans)
            rows = await judged.rows()
            counts = {name: judged.meters[name] for name in ("corrections_total", "findings_total")}
            tenant = judged.intake.tenant("t")
            assert tenant.sessions == 6
            return judged.made, claimed, rows, sorted(judged.signs), counts, len(judged.facts)

    here, spread = both(play)

    assert len(here[0]) >= 12
    assert {table for table, _ in here[2]} >= {Table.AGENTS, Table.RUNS, Table.OBSERVATIONS}
    assert spread == here


def test_both_workers_have_work(agent_spans):
    """Conversations are spread."""

    async def play():
        async with Judged(2) as judged:
            await judged.send(*fleet(agent_spans))
            return judged.intake.tenant("t")._sessions

    sessions = asyncio.run(play())

    assert sorted(sessions) == [0, 1]
    assert min(sessions.values()) > 0


def recordings():
    """Return the repository's recordings of real frameworks."""
    found = sorted(Path(__file__).parents[2].rglob("testdata/**/*.json"))
    return [path for path in found if b'"resourceSpans"' in path.read_bytes()[:200]]


def test_recordings_of_all_frameworks_give_the_same():
    """A run, its tools, its conversation: whatever the dialect calls them."""
    bodies = [path.read_bytes() for path in recordings()]

    async def play(workers):
        async with Judged(workers) as judged:
            await judged.send(*bodies)
            return judged.made, await judged.rows()

    here, spread = both(play)

    assert len(here[0]) > 0
    assert spread == here


def test_recordings_may_come_one_span_at_a_time():
    """Each in a request of its own, in the order in which they end."""
    singles = []
    for path in recordings():
        for group in json.loads(path.read_bytes())["resourceSpans"]:
            for part in group["scopeSpans"]:
                for span in part["spans"]:
                    alone = [{**group, "scopeSpans": [{**part, "spans": [span]}]}]
                    body = json.dumps({"resourceSpans": alone}).encode()
                    singles.append((int(span["endTimeUnixNano"]), body))
    bodies = [body for _, body in sorted(singles)]

    async def play(workers):
        async with Judged(workers) as judged:
            for start in range(0, len(bodies), 32):
                await judged.send(*bodies[start : start + 32])
            return judged.made

    here, spread = both(play)

    assert len(here) > 0
    assert spread == here


@pytest.mark.parametrize(("first", "then"), [(1, 2), (2, 1), (2, 2), (2, 3)])
def test_a_restart_goes_on_where_it_was_with_as_many_workers_as_it_likes(first, then, agent_spans):
    """From the snapshot alone, or from the journal behind it."""

    async def play(first, then):
        store, made = MemoryStore(), []
        claimed = []
        for workers, turns in ((first, range(1, 11)), (then, range(11, 25))):
            async with Judged(workers, store) as judged:
                claimed += await played(judged, agent_spans, turns)
                made += judged.made
        return sorted(made), sorted(claimed)

    expected = asyncio.run(play(1, 1))

    assert asyncio.run(play(first, then)) == expected
    assert len(expected[0]) >= 12


@pytest.mark.parametrize("workers", [1, 2])
def test_the_journal_alone_gives_all_again(workers, agent_spans):
    """As after a kill before the first snapshot: letters, leases and claims, too."""

    async def play():
        store = MemoryStore()
        judged = Judged(workers, store)
        await judged.intake.recover()
        judged.intake.start()
        await played(judged, agent_spans, range(1, 12))
        await judged.send(*fleet(agent_spans, range(12, 17)))
        before = judged.made, sorted(judged.intake.tenant("t").mailboxes.ids())
        store.save_snapshot = lambda *_: None  # type: ignore[method-assign] # it dies without one
        await judged.intake.close()
        again = Judged(workers, store)
        await again.intake.recover()
        after = again.made, sorted(again.intake.tenant("t").mailboxes.ids())
        again.intake.start()
        await again.intake.close()
        return before, after

    before, after = asyncio.run(play())

    assert after == before
    assert before[1]


def test_what_ends_every_worker_is_left_out_and_counted(agent_spans, caplog):
    """The others go on, and so does what comes later."""

    class Fragile(WorkerProcess):
        """Ends whenever it is to judge the third turn."""

        def _exchange(self, name, *given):
            if name == "judge" and given[0].entry.at == 3.0:
                (self._pipe or self._begin()).close()
                raise EOFError
            return super()._exchange(name, *given)

    async def play():
        worker = Fragile(CollectorConfig(mode=Mode.FEEDBACK), 0, 1, Kept)
        verdicts = []
        for turn in range(1, 9):
            body = agent_spans.request(turns=[turn]).SerializeToString()
            entry = Entry(Kind.TRACES_PROTOBUF, "t", float(turn), body)
            verdicts.append(await worker.judge(Part(entry, frozenset({1}))))
        worker.close()
        return verdicts

    verdicts = asyncio.run(play())

    assert verdicts[2].counts == (("internal_errors_total", 1),)
    assert sum(len(verdict.told) for verdict in verdicts) == 1
    assert [one.message for one in caplog.records if "left out" in one.message] == [
        "an entry of kind traces+protobuf is left out: it ends workers"
    ]


def test_a_worker_that_is_killed_is_missed_by_nobody(agent_spans):
    """Another takes its place, from the snapshot and what came since; the service goes on."""

    async def play(*, kill):
        async with Judged(2) as judged:
            claimed = []
            for turn in range(1, 25):
                if turn == 5:
                    await judged.intake._snapshot()
                sent = asyncio.ensure_future(judged.send(*fleet(agent_spans, [turn])))
                if kill and turn in {3, 8, 9, 14, 20}:
                    for _ in range(turn):  # somewhere on the way
                        await asyncio.sleep(0)
                    os.kill(judged.intake._judges.workers[turn % 2].pid, signal.SIGKILL)
                await sent
                claimed += await judged.claim()
            return judged.made, sorted(claimed), await judged.rows(), len(set(claimed))

    calm, killed = asyncio.run(play(kill=False)), asyncio.run(play(kill=True))

    assert killed == calm
    assert len(calm[0]) >= 12
    assert calm[3] == len(calm[1])


def test_agents_that_only_log_are_judged_by_workers_too(agent_spans):
    """Their records are of no trace: the conversation says whose they are."""

    async def play(workers):
        async with Judged(workers) as judged:
            for turn in range(12):
                await judged.send(*(agent_spans.logs(turn, f"night-{n}") for n in range(6)))
            return judged.made

    here, spread = both(play)

    assert len({session for session, *_ in here}) == 6
    assert spread == here
