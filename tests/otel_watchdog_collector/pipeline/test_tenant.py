"""One tenant's agents: any order, twice, frozen and thawed."""

import gc
import random

import pytest

from otel_watchdog.errors import InputError
from otel_watchdog.model import Mode
from otel_watchdog.otlp_messages import Attributes
from otel_watchdog_collector.facts import Table
from otel_watchdog_collector.wire import Batch
from tests.otel_watchdog_collector.pipeline.watched import NOW, Watched


def turn_by_turn(agent_spans, turns, **facts):
    """Return a request a turn."""
    return [agent_spans.request(turns=[turn], **facts) for turn in turns]


def test_the_same_spans_give_the_same_corrections_with_the_same_ids(agent_spans):
    """That is what a restart relies on."""
    first, second = Watched(), Watched()

    for made in turn_by_turn(agent_spans, range(1, 9)):
        first.take(made)
        second.take(made)

    assert len(first.made) == 1
    assert first.made == second.made


def test_spans_of_a_request_may_stand_in_any_order(agent_spans):
    """Children before parents, results before calls: exporters promise nothing."""
    straight = Watched().take(agent_spans.request())
    made = agent_spans.request()
    spans = made.resource_spans[0].scope_spans[0].spans
    order = list(range(len(spans)))
    random.Random(3).shuffle(order)  # noqa: S311 - an order, not a secret
    shuffled = [type(spans[0]).FromString(spans[i].SerializeToString()) for i in order]
    del spans[:]
    spans.extend(shuffled)

    mixed = Watched().take(made)

    assert mixed.made == straight.made


def test_lost_spans_are_missed_and_nothing_else(agent_spans):
    """A turn that never came delays the correction; it breaks nothing."""
    watched = Watched()

    for made in turn_by_turn(agent_spans, [1, 2, 4, 5, 6, 8, 9, 10]):
        watched.take(made)

    assert [tier for _, _, tier, _ in watched.made] == ["nudge"]
    assert watched.meters["internal_errors_total"] == 0


def test_spans_that_never_ended_are_not_judged(agent_spans):
    """Some exporters send a span while it runs; it comes again when it has ended."""
    watched = Watched()
    made = agent_spans.request()
    for span in made.resource_spans[0].scope_spans[0].spans:
        span.end_time_unix_nano = 0

    watched.take(made).take(agent_spans.request())

    assert len(watched.made) == 1


def test_a_frozen_tenant_goes_on_where_it_was(agent_spans):
    """Evidence, ladder, mail, mode and the memory of seen spans survive."""
    requests = turn_by_turn(agent_spans, range(1, 25))
    straight, first, second = Watched(), Watched(), Watched()
    claimed: list[list[str]] = [[], []]

    for number, made in enumerate(requests):
        straight.take(made)
        (first if number < 12 else second).take(made)
        if number == 11:
            second.tenant.thaw(first.tenant.freeze())
        for index, watched in enumerate((straight, first if number < 11 else second)):
            for letter in watched.tenant.waiting("conv", None, NOW):
                watched.tenant.claim([letter.id], NOW)
                claimed[index].append(letter.id)
    before = second.meters["duplicate_spans_total"]
    second.take(requests[0])

    assert len(straight.made) >= 3
    assert first.made + second.made == straight.made
    assert first.outcomes + second.outcomes == straight.outcomes != []
    assert claimed[0] == claimed[1]
    assert second.meters["duplicate_spans_total"] == before + 2


def test_a_frozen_tenant_keeps_its_mode_and_rows(agent_spans):
    """Also those rows that were not written yet."""
    watched, again = Watched(Mode.OBSERVE), Watched(Mode.OBSERVE)
    watched.tenant.mode = Mode.ENFORCE
    watched.take(agent_spans.request())

    again.tenant.thaw(watched.tenant.freeze())

    assert again.tenant.mode is Mode.ENFORCE
    assert {row.table for row in again.tenant.ledger.take()} == {
        Table.AGENTS,
        Table.SESSIONS,
        Table.RUNS,
        Table.CORRECTIONS,
        Table.FINDINGS,
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"cos\nsystem\n(S'echo'\ntR.",
        b"\x80\x05\x8c\x08builtins\x8c\x04eval\x93.",
    ],
)
def test_a_snapshot_that_is_none_is_refused(body):
    """And nothing in it is run."""
    with pytest.raises(InputError, match="snapshot"):
        Watched().tenant.thaw(body)


def test_silent_sessions_are_forgotten(agent_spans):
    """By the engine and in the rows in memory, too; what was written stays."""
    watched = Watched(session_ttl_seconds=100.0)
    watched.take(agent_spans.request(conversation="old"))
    later = agent_spans.request(conversation="new", seed=2, start=agent_spans.START + 10_000)

    watched.take(later, NOW + 10_000)

    assert watched.tenant.sessions == 1
    assert list(watched.tenant._engine._sessions) == ["new"]
    assert {row.id for row in watched.tenant.ledger.take() if row.table is Table.SESSIONS} == {
        "old",
        "new",
    }


def test_in_mode_off_nothing_is_read(agent_spans):
    """Not even the sessions are kept."""
    watched = Watched(Mode.OFF).take(agent_spans.request())

    assert watched.made == []
    assert watched.tenant.sessions == 0


def test_letters_expire_once_and_are_recorded(agent_spans):
    """What nobody took is written down as expired, not delivered."""
    watched = Watched().take(agent_spans.request())

    watched.take(agent_spans.request(conversation="other", seed=2), NOW + 700)

    states = [
        row.fields["state"]
        for row in watched.tenant.ledger.take()
        if row.table is Table.CORRECTIONS and row.fields["session"] == "conv"
    ]
    assert states == ["waiting", "expired"]
    assert watched.meters["expired_corrections_total"] == 1


def test_agents_that_share_a_conversation_are_told_apart(agent_spans):
    """Each has its own session, mail and ladder."""
    watched = Watched()
    watched.take(agent_spans.request(agent="a"))
    watched.take(agent_spans.request(agent="b", seed=2))

    mail = {
        agent: [one.correction.agent for one in watched.tenant.waiting("conv", agent, NOW)]
        for agent in ("a", "b")
    }

    assert mail == {"a": ["a"], "b": ["b"]}


def test_a_row_says_where_a_correction_stands_whatever_becomes_of_it(agent_spans):
    """Its trace and span stay in the row when it is leased, delivered, concluded, and expired."""
    watched = Watched()
    watched.take(agent_spans.request())
    tenant = watched.tenant
    ((_, _, _, id_),) = watched.made
    rows = [row for row in tenant.ledger.take() if row.table is Table.CORRECTIONS]

    tenant.lease([id_], NOW + 1)
    tenant.claim([id_], NOW + 2)
    watched.take(agent_spans.request(turns=range(9, 20)), NOW + 3)
    rows += [row for row in tenant.ledger.take() if row.table is Table.CORRECTIONS]
    tenant.take(Batch(), NOW + 10_000)
    rows += [row for row in tenant.ledger.take() if row.table is Table.CORRECTIONS]

    states = [row.fields["state"] for row in rows]
    assert {"waiting", "leased", "delivered", "expired"} <= set(states)
    assert [row for row in rows if not {"trace_id", "span_id"} <= row.fields.keys()] == []
    assert {row.fields["trace_id"] for row in rows} == {f"{1:032x}"}


def test_nothing_of_a_request_is_kept_once_it_is_judged(agent_spans):
    """What is read late keeps its whole request in memory: sessions keep what was read of it."""
    watched = Watched()

    for made in turn_by_turn(agent_spans, range(1, 12)):
        watched.take(made)
    del made
    gc.collect()

    assert len(watched.made) == 1
    assert [one for one in gc.get_objects() if type(one) is Attributes] == []


def test_a_correction_that_expired_holds_back_no_other(agent_spans):
    """An agent that was away is nudged anew when it loops on; the ladder stands where it stood."""
    watched = Watched()
    watched.take(agent_spans.request())

    watched.tenant.take(Batch(), NOW + 10_000)
    watched.take(agent_spans.request(turns=range(9, 20)), NOW + 10_001)

    (first, second) = watched.made
    assert (first[1:3], second[2]) == ((6, "nudge"), "nudge")
    assert second[1] > 9 + 2
    assert second[3] != first[3]
