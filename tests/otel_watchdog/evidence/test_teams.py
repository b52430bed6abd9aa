"""Who sees whose calls."""

from otel_watchdog import RunStarted, ToolCall, ToolResult, UserMessage, Watchdog, WatchdogConfig
from otel_watchdog.evidence.teams import MAX_MEMBERS, Colleague, Team
from otel_watchdog.progress import Progress


def recorded(*calls):
    """Return the evidence of an agent that has made these calls: tool, arguments, result."""
    progress = Progress()
    for number, (tool, arguments, result) in enumerate(calls):
        progress.observe(ToolCall("s", number, tool, arguments, str(number)))
        progress.observe(ToolResult("s", number, tool, result=result, call_id=str(number)))
    return progress


def has_done(one, other):
    """Say whether the agent of the one evidence has done the latest call of the other."""
    return Colleague("ada", one).has_done(other.exchange)


CALL = ("search", '{"q": "cobalt"}', "at 10:00:01\nthree hits")


def test_the_same_call_with_the_same_result_was_done():
    """A clock makes no other result."""
    later = ("search", '{"q": "cobalt"}', "at 10:00:09\nthree hits")

    assert has_done(recorded(CALL), recorded(CALL))
    assert has_done(recorded(CALL), recorded(later))


def test_another_result_or_question_was_not_done():
    """Nor one whose arguments or result were not captured."""
    done = recorded(CALL)

    assert not has_done(done, recorded(("search", '{"q": "cobalt"}', "four hits")))
    assert not has_done(done, recorded(("search", '{"q": "nickel"}', "three hits")))
    assert not has_done(done, recorded(("search", None, "at 10:00:01\nthree hits")))
    assert not has_done(recorded(("search", '{"q": "cobalt"}', None)), recorded(CALL))


def test_what_was_done_before_a_user_spoke_may_be_asked_again():
    """The question may be a new one."""
    done = recorded(CALL)

    done.observe(UserMessage("s", 1, "look again"))

    assert not has_done(done, recorded(CALL))


def test_a_team_is_bounded():
    """Who joined first is left out first; leaving twice does no harm."""
    team = Team("c")
    for number in range(MAX_MEMBERS + 1):
        team.join(str(number), Colleague(None, Progress()))
    team.leave("0")
    team.leave("1")

    assert len(team) == MAX_MEMBERS - 1
    assert next(team.others(Progress()))[0] == "2"


def watchdog_of(*runs, **settings):
    """Return a watchdog to which these sessions and conversations were told."""
    watchdog = Watchdog(config=WatchdogConfig(**settings), detectors=[])
    for session, conversation in runs:
        watchdog.observe(RunStarted(session, "1", session, conversation=conversation))
    return watchdog


def team_of(watchdog, session):
    """Return how many work with a session's agent, itself included."""
    team = watchdog._sessions[session].progress.team
    return len(team) if team is not None else None


def test_agents_of_one_conversation_are_a_team():
    """Others are not; where the trace does not say, nobody is."""
    watchdog = watchdog_of(("a", "c1"), ("b", "c1"), ("c", "c2"), ("d", None))

    assert [team_of(watchdog, one) for one in "abcd"] == [2, 2, 1, None]


def test_an_agent_is_of_the_conversation_that_it_works_in_now():
    """It leaves the team before."""
    watchdog = watchdog_of(("a", "c1"), ("b", "c1"), ("b", "c2"))

    assert [team_of(watchdog, one) for one in "ab"] == [1, 1]


def test_who_is_forgotten_leaves_nothing_behind():
    """Neither by hand nor for lack of room."""
    watchdog = watchdog_of(("a", "c1"), ("b", "c1"), ("c", "c2"), max_sessions=2)

    assert team_of(watchdog, "b") == 1
    watchdog.forget("b")
    watchdog.forget("c")
    assert not watchdog._teams._teams
