"""The engine: which findings become which corrections, session by session."""

from typing import Any

from hypothesis import given, settings, strategies as st

from otel_watchdog import (
    Finding,
    Kind,
    Mode,
    ModelTurn,
    RepeatedToolCall,
    RunStarted,
    Severity,
    Tier,
    ToolOutcome,
    ToolResult,
    UserMessage,
)
from otel_watchdog.detectors import BUILT_IN
from tests.otel_watchdog.engine_cases import KEY, Always, Eager, call, loop, watch


def test_a_correction_carries_all_that_is_known():
    """Session, run, agent, turn, number and message come together."""
    watchdog = watch(RepeatedToolCall(threshold=2))
    watchdog.observe(RunStarted("s", "r1", "fixer"))
    watchdog.observe(call(1))

    correction = watchdog.observe(call(2))

    assert correction is not None
    assert (correction.session, correction.run, correction.agent) == ("s", "r1", "fixer")
    assert (correction.turn, correction.n, correction.tier) == (2, 1, Tier.NUDGE)
    assert correction.mode is Mode.FEEDBACK
    assert correction.message.startswith("[watchdog] ")
    assert correction.finding.guidance in correction.message


def test_ids_are_unique():
    """Exactly-once delivery rests on the id."""
    corrections = [watch(Always()).observe(call(1)) for _ in range(100)]

    assert len({correction.id for correction in corrections}) == 100


def test_a_turn_yields_one_correction():
    """Calls of a parallel batch that all complete a pattern are corrected once."""
    watchdog = watch(Always(), policy=Eager())

    corrections = [watchdog.observe(call(turn)) for turn in (1, 1, 1, 2, 2)]

    assert [c is not None for c in corrections] == [True, False, False, True, False]


def test_the_strongest_finding_speaks_and_the_others_are_evidence():
    """Critical comes before warn, whatever the order of detectors; equals keep it."""
    watchdog = watch(
        Always("hint", Severity.WARN, "a"), Always("proof", text="b"), Always("more", text="c")
    )

    correction = watchdog.observe(call(1))

    assert [f.detector for f in correction.findings] == ["proof", "more", "hint"]
    assert "Stop b." in correction.message
    assert "Stop a." not in correction.message


def test_each_session_is_judged_by_itself():
    """Calls of two sessions that take turns do not add up, and each gets its own correction."""
    watchdog = watch(RepeatedToolCall(threshold=3))
    corrections = []

    for turn in range(1, 4):
        corrections += [watchdog.observe(call(turn, session=s)) for s in ("a", "b")]

    assert [(c.session, c.turn) for c in corrections if c] == [("a", 3), ("b", 3)]


def test_the_given_detectors_are_never_touched():
    """A session judges by copies, so that one engine's detectors can serve another."""
    detector = RepeatedToolCall(threshold=2)

    for _ in range(3):
        loop(watch(detector), 1)

    assert len(loop(watch(detector), 2)) == 1


def test_a_message_counts_down_to_a_cap_and_never_below():
    """A cap that has passed, as it may in mode feedback, leaves no turns, not a negative number."""
    watchdog = watch(Always())
    found = []

    for turn in (1, 2, 3, 10, 40):
        correction = watchdog.observe(call(turn))
        watchdog.claim(correction)
        found.append(correction)

    assert found[3].message.endswith("At most 10 turns are left.")
    assert found[4].max_turns == 20
    assert found[4].message.endswith("No turn is left after this one.")


def test_late_results_move_no_turn_back():
    """What completes late is judged, named and capped by the turn that the agent is in."""
    policy = Eager()
    watchdog = watch(Always(), policy=policy)
    watchdog.observe(ModelTurn("s", 9))

    late = watchdog.observe(call(2))
    doubled = [watchdog.observe(call(turn)) for turn in (9, 3, 9)]

    assert (late.turn, late.max_turns) == (9, 12)
    assert late.message.endswith("At most 3 turns are left.")
    assert doubled == [None, None, None]


def test_sessions_are_bounded_and_the_least_recent_goes_first():
    """A forgotten session starts anew; one that is seen again and again is kept."""
    watchdog = watch(RepeatedToolCall(threshold=3), max_sessions=2)
    for turn in (1, 2):
        watchdog.observe(call(turn, session="kept"))
        watchdog.observe(call(turn, session=f"passing {turn}"))

    kept = watchdog.observe(call(3, session="kept"))
    forgotten = [watchdog.observe(call(turn, session="passing 1")) for turn in (2, 3)]

    assert kept is not None
    assert forgotten == [None, None]
    assert len(watchdog._sessions) == 2


def test_one_session_at_a_time_is_enough():
    """The smallest bound still watches."""
    watchdog = watch(max_sessions=1)

    corrections = [loop(watchdog, 5, session=name) for name in ("a", "b")]

    assert [len(found) for found in corrections] == [1, 1]


def test_claims_for_forgotten_sessions_are_ignored():
    """An adapter may be slower than the bound."""
    watchdog = watch(Always(), max_sessions=1)
    correction = watchdog.observe(call(1, session="a"))
    watchdog.observe(call(1, session="b"))

    watchdog.lease(correction)
    watchdog.claim(correction)

    assert watchdog.observe(call(2, session="a")).n == 1


def test_findings_are_told_also_where_they_lead_to_nothing():
    """The listener hears of each finding and of the observation that completed it."""
    told = []
    watchdog = watch(
        Always(),
        on_finding=lambda found, observation: told.append((found.detector, observation.turn)),
        mode=Mode.OBSERVE,
        max_corrections=0,
    )

    corrections = loop(watchdog, 3)

    assert corrections == []
    assert told == [("always", 1), ("always", 2), ("always", 3)]


def test_a_key_is_the_root_cause_whoever_found_it():
    """Two detectors that saw the same call mean the same; redaction changes nothing."""
    evidence: dict[str, Any] = {"tool": "ls", "arguments": f'{{"token": "{KEY}"}}', "count": 3}
    one, other = (
        Finding(
            detector=name,
            kind=Kind.LOOP,
            severity=Severity.WARN,
            reason="r",
            guidance="g",
            evidence=evidence | {"count": count},
        )
        for name, count in (("a", 3), ("b", 4))
    )

    assert one.key == other.key
    assert KEY not in one.key


@settings(deadline=None)
@given(
    turns=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), max_size=80),
    mode=st.sampled_from(Mode),
)
def test_never_two_corrections_in_a_turn_nor_six_in_a_run(turns, mode):
    """Whatever observations come in whatever order."""
    watchdog = watch(Always(), mode=mode)
    runs: list[list[int]] = [[]]

    for turn, what in turns:
        observation = [
            RunStarted("s", f"r{len(runs)}"),
            ModelTurn("s", turn),
            call(turn),
            call(turn),
            ToolResult("s", turn, "ls"),
            UserMessage("s", turn),
        ][what]
        if what == 0:
            runs.append([])
        correction = watchdog.observe(observation)
        if correction:
            runs[-1].append(correction.turn)
            watchdog.claim(correction)

    for corrected in runs:
        assert len(corrected) <= 5
        assert corrected == sorted(set(corrected))


def test_nothing_is_blind_in_a_whole_trace():
    """A session whose trace carries everything lacks nothing."""
    watchdog = watch(*(d() for d in BUILT_IN))
    watchdog.observe(ModelTurn("s", 1, text="I look."))
    watchdog.observe(call(1))
    watchdog.observe(ToolResult("s", 1, "ls", ToolOutcome.OK, "a.go"))

    assert watchdog.blind("s") == {}
    assert watchdog.blind("never seen") == {}


def test_blind_says_which_detector_lacks_what():
    """A trace without content blinds those that need it, and names what is missing."""
    watchdog = watch(*(d() for d in BUILT_IN))
    watchdog.observe(ModelTurn("s", 1))
    watchdog.observe(call(1, arguments=None))
    watchdog.observe(ToolResult("s", 1, "ls"))

    blind = watchdog.blind("s")

    assert "arguments of tool calls are not captured" in blind["repeated_tool_call"]
    assert "how tool calls ended" in blind["tool_failure_streak"]
    assert "what the model says is not captured" in blind["tools_without_text"]
    assert "results of tool calls are not captured" in blind["no_new_state"]
    assert set(blind) == {d.name for d in BUILT_IN if d.needs}


def test_a_trace_without_any_results_blinds_what_needs_them():
    """Results that never come are as missing as results without content."""
    watchdog = watch(*(d() for d in BUILT_IN))

    for turn in range(1, 9):
        watchdog.observe(call(turn, arguments=f'{{"n":{turn}}}'))

    assert "no_new_state" in watchdog.blind("s")
    assert "no_op_streak" in watchdog.blind("s")
