"""The engine: which findings become which corrections, session by session."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from otel_watchdog import (
    Finding,
    Kind,
    Mode,
    ModelTurn,
    Profile,
    RepeatedToolCall,
    RunEnded,
    RunStarted,
    Severity,
    Tier,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
    Watchdog,
    WatchdogConfig,
)
from otel_watchdog.detectors import BUILT_IN
from otel_watchdog.policies import Decision

KEY = "sk-abcdefghijklmnopqrstuvwxyz"


class Always:
    """A detector that finds something in every call, as sure and as named as it is told."""

    watches = (ToolCall,)
    needs = ()

    def __init__(self, name="always", severity=Severity.CRITICAL, text="x"):
        self.name = name
        self._severity = severity
        self._text = text
        self.restarts = 0

    def observe(self, observation, progress):  # noqa: ARG002 - a detector's form
        return Finding(
            detector=self.name,
            kind=Kind.LOOP,
            severity=self._severity,
            reason=f"{self.name} saw {self._text}",
            guidance=f"Stop {self._text}.",
            evidence={"text": self._text, "count": 3},
        )

    def restart(self):
        self.restarts += 1


class Broken(Always):
    """A detector that raises where it is told to."""

    def __init__(self, *, at="observe"):
        super().__init__("broken")
        self._at = at

    def observe(self, observation, progress):  # noqa: ARG002 - a detector's form
        if self._at == "observe":
            raise RuntimeError("broken")

    def restart(self):
        raise RuntimeError("broken")


class Eager:
    """A policy that speaks whenever it is asked, at its highest tier."""

    name = "eager"

    def __init__(self):
        self.asked = []

    def start_run(self, *, max_turns=None):
        pass

    def decide(self, findings, *, turn, now):  # noqa: ARG002 - a policy's form
        self.asked.append(turn)
        return Decision(tier=Tier.TERMINATE, n=1, max_turns=turn + 3)

    def claim(self, *, turn):
        pass


def config(mode=Mode.FEEDBACK, **settings):
    """Return settings that let one correction follow the other."""
    return WatchdogConfig(
        **({"mode": mode, "refractory_seconds": 0, "refractory_turns": 0} | settings)
    )


def watch(*detectors, policy=None, on_finding=None, on_error=None, **settings):
    """Return an engine over these detectors."""
    return Watchdog(
        config=config(**settings),
        detectors=detectors or [RepeatedToolCall()],
        policy=policy,
        on_finding=on_finding,
        on_error=on_error,
    )


def call(turn, name="ls", arguments="{}", session="s", time=None):
    """Return one tool call."""
    return ToolCall(session, turn, name, arguments, time=time)


def loop(watchdog, turns, *, claim=True, first=1, session="s"):
    """Make the same call once a turn; return the corrections, each claimed at once or never."""
    found = []
    for turn in range(first, first + turns):
        correction = watchdog.observe(call(turn, session=session))
        if correction is not None:
            found.append(correction)
            if claim:
                watchdog.lease(correction)
                watchdog.claim(correction)
    return found


def names(corrections):
    """Return the span names of corrections."""
    return [correction.span_name for correction in corrections]


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


def test_mode_off_corrects_nothing():
    """Off is off, also where the engine is used by itself."""
    assert loop(watch(mode=Mode.OFF), 30) == []


@pytest.mark.parametrize("mode", [Mode.FEEDBACK, Mode.ENFORCE])
def test_the_ladder_ends_after_five(mode):
    """A loop that goes on climbs all five tiers once, and the last two cap the run."""
    corrections = loop(watch(mode=mode), 60)

    assert names(corrections) == [
        "watchdog-nudge-turn-5",
        "watchdog-redirect-turn-10",
        "watchdog-force-wrap-turn-15",
        "watchdog-hard-stop-turn-20",
        "watchdog-terminate-turn-25",
    ]
    assert [c.max_turns for c in corrections] == [None, None, None, 30, 28]
    assert {c.mode for c in corrections} == {mode}


def test_observe_goes_up_a_shadow_ladder_that_nobody_claims():
    """What would have been said is recorded tier by tier, under names of its own."""
    corrections = loop(watch(mode=Mode.OBSERVE), 60, claim=False)

    assert [c.tier for c in corrections] == list(Tier)
    assert names(corrections)[0] == "watchdog-nudge-turn-5-observed"
    assert all(name.endswith("-observed") for name in names(corrections))


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


@pytest.mark.parametrize("value", ["1", "true", "YES", " on "])
@pytest.mark.parametrize("mode", [Mode.FEEDBACK, Mode.ENFORCE])
def test_pause_lowers_to_observe_at_once(monkeypatch, mode, value):
    """The variable is read at every decision."""
    watchdog = watch(Always(), mode=mode)
    before = watchdog.observe(call(1))
    watchdog.claim(before)

    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", value)
    during = watchdog.observe(call(2))
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "0")
    after = watchdog.observe(call(3))

    assert [c.mode for c in (before, during, after)] == [mode, Mode.OBSERVE, mode]


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.OBSERVE])
def test_pause_never_raises_a_mode(monkeypatch, mode):
    """It can only lower."""
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")

    assert watch(mode=mode).mode is mode


def test_a_pause_takes_the_agent_no_rung_up(monkeypatch):
    """What an agent was not told while paused does not count against it afterwards."""
    watchdog = watch(mode=Mode.ENFORCE)
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")
    paused = loop(watchdog, 24, claim=False)
    monkeypatch.delenv("OTEL_WATCHDOG_PAUSE")

    resumed = loop(watchdog, 20, first=25)

    assert [c.tier for c in paused] == [Tier.NUDGE, Tier.REDIRECT, Tier.FORCE_WRAP, Tier.HARD_STOP]
    assert [c.tier for c in resumed][:2] == [Tier.NUDGE, Tier.REDIRECT]
    assert resumed[3].max_turns == resumed[3].turn + 10


def test_a_pause_goes_on_from_the_rung_that_was_reached(monkeypatch):
    """The shadow ladder starts where the real one stands, so that the record says what would be."""
    watchdog = watch()
    loop(watchdog, 10)
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")

    paused = loop(watchdog, 6, first=11, claim=False)

    assert names(paused) == ["watchdog-force-wrap-turn-15-observed"]


def test_a_second_pause_forgets_the_first(monkeypatch):
    """Each begins where the real ladder stands."""
    watchdog = watch(Always())
    paused = []

    for first in (1, 11):
        monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")
        paused.append([c.n for c in loop(watchdog, 3, first=first, claim=False)])
        monkeypatch.delenv("OTEL_WATCHDOG_PAUSE")
        loop(watchdog, 1, first=first + 3)

    assert paused == [[1, 2, 3], [2, 3, 4]]


def test_what_waits_when_a_pause_begins_is_not_replaced(monkeypatch):
    """The correction that the agent gets after the pause still counts."""
    watchdog = watch(Always())
    waiting = watchdog.observe(call(1))
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")
    watchdog.observe(call(2))
    monkeypatch.delenv("OTEL_WATCHDOG_PAUSE")

    watchdog.claim(waiting)

    assert watchdog.observe(call(3)).tier is Tier.REDIRECT


def test_an_unclaimed_correction_is_followed_by_none():
    """No new tier before the agent was given the last."""
    assert len(loop(watch(), 100, claim=False)) == 1


def test_a_claim_counts_once_and_only_for_the_correction_that_waits():
    """Doubled, foreign and forgotten claims change nothing."""
    watchdog = watch(Always())
    first = watchdog.observe(call(1))
    foreign = watch(Always()).observe(call(1, session="elsewhere"))

    for correction in (foreign, first, first, first):
        watchdog.claim(correction)

    assert watchdog.observe(call(2)).n == 2


def test_evidence_starts_anew_when_a_correction_goes_out():
    """Five more calls, not one, call for the next tier."""
    assert [c.turn for c in loop(watch(), 14)] == [5, 10]


def test_evidence_goes_on_in_profile_classic():
    """The published rule tells of one row once, whatever is said in between."""
    corrections = loop(watch(profile=Profile.CLASSIC), 50)

    assert [c.turn for c in corrections] == [5]


@pytest.mark.parametrize("profile", Profile)
def test_a_lease_without_a_claim_does_not_count(profile):
    """A model call that failed leaves the ladder where it was."""
    watchdog = watch(Always(), profile=profile, min_turns=0)
    correction = watchdog.observe(call(1))

    watchdog.lease(correction)
    again = watchdog.observe(call(2))
    watchdog.lease(correction)
    watchdog.claim(correction)

    assert again is None
    assert watchdog.observe(call(3)).n == 2


def test_refractory_turns_count_from_the_turn_that_held_the_message():
    """Leased before turn 6, a correction leaves turns 6 and 7 to answer it."""
    watchdog = watch(Always(), refractory_turns=2)
    correction = watchdog.observe(call(5))
    watchdog.lease(correction)
    watchdog.observe(ModelTurn("s", 6))
    watchdog.claim(correction)

    found = [watchdog.observe(call(turn)) is not None for turn in (6, 7)]

    assert found == [False, True]


def test_a_loop_that_begins_below_the_floor_is_corrected_above_it():
    """A detector fires once a pattern: what was held must not silence the rest of the run."""
    corrections = loop(watch(min_turns=15), 40)

    assert corrections[0].span_name == "watchdog-nudge-turn-15"
    assert len(corrections) == 5


def test_a_fast_loop_is_corrected_again_after_the_refractory_seconds():
    """A turn a second completes the pattern before 30 s are over; the ladder still goes on."""
    watchdog = watch(refractory_seconds=30, refractory_turns=2)
    found = []

    for turn in range(1, 200):
        correction = watchdog.observe(call(turn, time=float(turn)))
        if correction:
            watchdog.claim(correction)
            found.append(correction)

    assert [c.tier for c in found] == list(Tier)
    assert all(b.turn - a.turn >= 30 for a, b in pairwise(found))


def test_a_new_run_starts_from_the_first_tier():
    """Corrections count by run; the session's memory goes on."""
    watchdog = watch()
    watchdog.observe(RunStarted("s", "r1"))
    first = loop(watchdog, 10)
    watchdog.observe(RunEnded("s", "r1", 10))

    watchdog.observe(RunStarted("s", "r2"))
    second = loop(watchdog, 10)

    assert [(c.run, c.n) for c in first + second] == [("r1", 1), ("r1", 2), ("r2", 1), ("r2", 2)]


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.FEEDBACK])
def test_a_loop_over_a_run_boundary_is_found_again(mode):
    """Where a run ends with a correction that nobody took, the next run's loop is not silent."""
    watchdog = watch(mode=mode)
    watchdog.observe(RunStarted("s", "r1"))
    loop(watchdog, 5, claim=False)
    watchdog.observe(RunStarted("s", "r2"))

    corrections = loop(watchdog, 5, claim=False)

    assert [(c.run, c.turn) for c in corrections] == [("r2", 5)]


def test_the_claim_of_a_run_before_does_not_count():
    """A correction that is taken a run late is taken, and the run begins at nudge."""
    watchdog = watch(Always())
    watchdog.observe(RunStarted("s", "r1"))
    late = watchdog.observe(call(4))
    watchdog.observe(RunStarted("s", "r2"))

    watchdog.lease(late)
    watchdog.claim(late)

    assert watchdog.observe(call(1)).n == 1


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


def test_a_detector_that_raises_is_switched_off_and_the_rest_go_on():
    """Three errors in all sessions together; open and new sessions go on without it."""
    errors = []
    watchdog = watch(
        Broken(),
        RepeatedToolCall(threshold=3),
        on_error=lambda name, error: errors.append((name, str(error))),
    )
    for session in ("a", "b"):
        watchdog.observe(call(1, session=session))
        watchdog.observe(call(2, session=session))

    third = watchdog.observe(call(3, session="a"))
    new = loop(watchdog, 3, session="c")

    assert errors == [("broken", "broken")] * 3
    assert third is not None
    assert len(new) == 1


def test_a_detector_that_raises_on_restart_is_counted_too():
    """Nothing raises out of a lease: an adapter calls it inside the traced program."""
    errors = []
    watchdog = watch(Broken(at="restart"), Always(), on_error=lambda name, _: errors.append(name))
    found = []

    for turn in range(1, 6):
        correction = watchdog.observe(call(turn))
        watchdog.lease(correction)
        watchdog.claim(correction)
        found.append(correction.n)

    assert errors == ["broken"] * 3
    assert found == [1, 2, 3, 4, 5]


def test_without_a_listener_an_error_comes_through():
    """Who uses the engine by itself sees what went wrong."""
    watchdog = watch(Broken())

    with pytest.raises(RuntimeError, match="broken"):
        watchdog.observe(call(1))


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


@pytest.mark.parametrize("redact", [True, False])
def test_secrets_stand_nowhere_in_a_correction(redact):
    """Reason, guidance, evidence and message are cleaned, and what listeners are told."""
    told = []
    watchdog = watch(
        Always(text=KEY),
        Always("other", Severity.WARN, KEY),
        on_finding=lambda found, _: told.append(found),
        redact=redact,
    )

    correction = watchdog.observe(call(1))

    assert (KEY in repr(correction)) is not redact
    assert (KEY in repr(told)) is not redact
    assert correction.finding.evidence["count"] == 3


@pytest.mark.parametrize("filler", [0, 50, 90, 100, 150, 170, 185, 195, 250])
def test_a_cut_hides_no_secret_from_redaction(filler):
    """Long arguments are shortened for the message; what remains of a secret is still none."""
    arguments = f'{{"note":"{"x" * filler}","password":"{"Tr0ub4dor" * 12}","z":"{"y" * 150}"}}'
    watchdog = watch(RepeatedToolCall(threshold=2))
    watchdog.observe(call(1, arguments=arguments))

    correction = watchdog.observe(call(2, arguments=arguments))

    assert "Tr0ub4dor" not in repr(correction)


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


def held(watchdog_settings, turns, *, claim):
    """Return why findings of an endless loop led to nothing, in order, each reason once."""
    reasons: list[tuple[str, str]] = []
    detectors: Any = [Always(), Always("other", Severity.WARN)]
    watchdog = Watchdog(
        config=config(**watchdog_settings),
        detectors=detectors,
        on_suppressed=lambda one: reasons.append((one.reason, one.finding.detector)),
    )
    loop(watchdog, turns, claim=claim)
    return list(dict.fromkeys(reasons))


def test_each_suppressed_finding_says_why():
    """Merged into another's correction, below the floor, unclaimed, too soon, or past the cap."""
    everybody = [("floor", "always"), ("floor", "other"), ("merged", "other")]

    assert held({"min_turns": 2}, 2, claim=True) == everybody
    assert held({}, 2, claim=False) == [
        ("merged", "other"),
        ("unclaimed", "always"),
        ("unclaimed", "other"),
    ]
    assert held({"refractory_turns": 5}, 2, claim=True)[1] == ("refractory", "always")
    assert held({"max_corrections": 1}, 2, claim=True)[1] == ("cap", "always")


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
