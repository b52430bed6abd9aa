"""Counting one pattern across corrections."""

from otel_watchdog import Severity, ToolCall, ToolResult
from otel_watchdog.evidence.tallies import Tally
from otel_watchdog.progress import Progress


def exchanges(*results):
    """Yield the records of calls with these results."""
    progress = Progress()
    for number, result in enumerate(results):
        progress.observe(ToolCall("s", number, "ls", "{}", str(number)))
        progress.observe(ToolResult("s", number, "ls", result=result, call_id=str(number)))
        yield progress.exchange


def said(tally, results):
    """Return what is said at each result, counting them all as one thing."""
    return [
        severity.value if (severity := tally.add("k", one, 0).due(3, 5)) else None
        for one in exchanges(*results)
    ]


def test_says_once_and_once_more_louder():
    """A warning at three, critical at five, then silence."""
    assert said(Tally(), ["x"] * 8) == [None, None, "warn", None, "critical", None, None, None]


def test_after_a_correction_fresh_evidence_speaks():
    """Two more are enough where it has gone on for long."""
    tally = Tally()
    records = list(exchanges(*["x"] * 9))
    for one in records[:3]:
        tally.add("k", one, 0).due(3, 5)

    tally.restart()
    counts = [tally.add("k", one, 0).due(3, 5) for one in records[3:6]]

    assert counts == [None, Severity.CRITICAL, None]


def test_an_agent_that_has_brought_news_starts_anew():
    """After the correction it read something else."""
    tally = Tally()
    records = list(exchanges("x", "x", "x", "new", "x", "x"))
    for one in records[:3]:
        tally.add("k", one, 0).due(3, 5)

    tally.restart()
    counts = [tally.add("k", one, 0).due(3, 5) for one in records[4:]]

    assert counts == [None, None]


def test_another_epoch_counts_anew():
    """What was asked before a change may be answered differently."""
    tally = Tally()
    first, second, third = exchanges("x", "x", "x")

    totals = [tally.add("k", first, 0).total, tally.add("k", second, 0).total]

    assert [*totals, tally.add("k", third, 1).total] == [1, 2, 1]


def test_the_oldest_is_forgotten():
    """Memory is bounded."""
    tally = Tally(max_keys=2)
    for key, one in zip("abc", exchanges("x", "y", "z"), strict=True):
        tally.add(key, one, 0)

    assert "a" not in tally
    assert "c" in tally
