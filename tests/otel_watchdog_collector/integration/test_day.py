"""A day in the life of a fleet, on a clock that is moved by hand."""

import asyncio
import gzip
import os
import re
from pathlib import Path

import pytest

from otel_watchdog_collector.config import load
from otel_watchdog_collector.facts import Entry, Kind
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline import Intake
from otel_watchdog_collector.stores import open_store

FULL = bool(os.environ.get("OTEL_WATCHDOG_TEST_FULL"))
"""Whether to take the minutes that the whole test needs."""

AGENTS = 500 if FULL else 20
ROUNDS = 72
SECONDS_A_ROUND = 1200
ROUNDS_A_CONVERSATION = 6
RETENTION_DAYS = 0.25


class Clock:
    """Time of day that stands still."""

    def __init__(self):
        self.now = 1_790_000_000.0

    def __call__(self):
        return self.now


def resident_mib():
    """Return the memory that this process has in use."""
    status = Path(f"/proc/{os.getpid()}/status").read_text("utf-8")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


async def live(store, agent_spans):
    """Let the day pass; return memory, disk, sessions and snapshot after each conversation."""
    clock = Clock()
    meters = Meters()
    settings = {"mode": "feedback", "retention_days": RETENTION_DAYS, "snapshot_seconds": 600}
    intake = Intake(
        store,
        load(None, settings).config,
        clock=clock,
        meters=meters,
        publish=lambda *_: None,
        on_judged=lambda *_: None,
    )
    intake.start()
    figures = []
    for number in range(ROUNDS):
        conversation, turn = divmod(number, ROUNDS_A_CONVERSATION)
        waiting = []
        for agent in range(AGENTS):
            made = agent_spans.request(
                agent=f"a{agent}",
                conversation=f"{agent}-{conversation}",
                seed=conversation * AGENTS + agent + 1,
                turns=[turn + 1],
                start=int(clock.now),
            )
            entry = Entry(Kind.TRACES_PROTOBUF, "t", clock.now, made.SerializeToString())
            waiting.append(intake.submit(entry))
        await asyncio.gather(*waiting)
        clock.now += SECONDS_A_ROUND
        if turn == ROUNDS_A_CONVERSATION - 1:
            (tenant,) = intake.tenants
            size = len(gzip.decompress(tenant.freeze()))
            figures.append((resident_mib(), store.size_bytes() / 1e6, tenant.sessions, size))
    await intake.close()
    return figures, meters


@pytest.mark.slow
@pytest.mark.timeout(2400 if FULL else 500)
def test_memory_and_disk_stay_flat_for_a_day(agent_spans, tmp_path):
    """A new conversation for each agent every two hours: nothing grows once the first are forgotten."""
    store = open_store(f"sqlite:{tmp_path}/w.db")

    figures, meters = asyncio.run(live(store, agent_spans))

    store.close()
    memory, disk, sessions, sizes = (list(column) for column in zip(*figures, strict=True))
    settled = len(figures) // 2
    assert meters["internal_errors_total"] == 0
    assert meters["corrections_total"] >= AGENTS
    assert max(sessions) <= 3 * AGENTS
    assert max(memory[settled:]) <= memory[settled - 1] * 1.05
    assert max(disk[settled:]) <= disk[settled - 1] * 1.25
    assert max(sizes[settled:]) <= sizes[settled - 1] * 1.02
