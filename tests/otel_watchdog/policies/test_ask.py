"""A person is asked before a firm correction; the answer is bounded and written down."""

import copy

import pytest
from opentelemetry import _logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider

from otel_watchdog import ConfigError, Ladder, Mode, Tier, ToolCall, Watchdog, WatchdogConfig
from otel_watchdog.aftermath import Aftermath
from otel_watchdog.detectors import RepeatedToolCall
from otel_watchdog.policies import Ask
from otel_watchdog.questions import Answer, Question, Scope
from otel_watchdog.telemetry import Telemetry
from otel_watchdog.testing import FakeClock, finding


class Asked:
    """A ladder behind a person, who answers when the test says so."""

    def __init__(self, *, from_tier=Tier.NUDGE, **options):
        self.clock = FakeClock()
        self.questions: list[Question] = []
        self.steps: list[str] = []
        self.prototype = Ask(
            Ladder(refractory_seconds=0, refractory_turns=0),
            ask=self.questions.append,
            from_tier=from_tier,
            clock=self.clock,
            **options,
        )
        self.prototype.audit(lambda approval: self.steps.append(approval.step))
        self.policy = copy.deepcopy(self.prototype)
        self.policy.attach("s")
        self.turn = 0

    def decide(self, found=None):
        """Have the pattern show again, a turn on."""
        self.turn += 1
        return self.policy.decide([found or finding()], turn=self.turn, now=self.clock())


@pytest.fixture
def asked():
    """Return a policy that asks about everything."""
    return Asked()


def test_nothing_is_said_while_the_question_is_open(asked):
    """One question, however often the pattern shows."""
    decisions = [asked.decide() for _ in range(3)]

    assert [d.tier for d in decisions] == [None] * 3
    assert {d.held for d in decisions} == {"asked"}
    (question,) = asked.questions
    assert (question.session, question.turn, question.tier) == ("s", 1, Tier.NUDGE)


def test_go_on_says_nothing_and_asks_again_the_next_time(asked):
    """It lets be what was asked about, once."""
    asked.decide()
    asked.questions[0].answer(Answer.CONTINUE, by="ann")

    assert asked.decide().held == "allowed"
    assert asked.decide().held == "asked"
    assert asked.steps == ["asked", "continue", "asked"]


def test_stop_ends_the_run(asked):
    """The correction is the firmest, with its cap."""
    asked.decide()
    asked.questions[0].answer(Answer.STOP)

    decision = asked.decide()

    assert (decision.tier, decision.max_turns) == (Tier.TERMINATE, asked.turn + 3)


def test_without_an_answer_the_ladder_goes_on():
    """A person who is away stops nothing."""
    asked = Asked(timeout_seconds=60)
    asked.decide()
    asked.clock.advance(61)

    assert asked.decide().tier is Tier.NUDGE
    assert asked.steps == ["asked", "unanswered"]


def test_a_permission_is_limited_in_number(asked):
    """The time that was asked about counts."""
    asked.decide()
    asked.questions[0].answer(Answer.ALLOW, max_times=3)

    helds = [asked.decide().held for _ in range(4)]

    assert helds == ["allowed"] * 3 + ["asked"]
    assert asked.steps == ["asked", "allow", "used", "used", "asked"]


def test_a_permission_is_limited_in_time(asked):
    """Afterwards it is asked again."""
    asked.decide()
    asked.questions[0].answer(Answer.ALLOW, max_times=100, seconds=10)
    asked.decide()
    asked.clock.advance(11)

    assert asked.decide().held == "asked"


@pytest.mark.parametrize(
    ("scope", "other_call", "other_tool"),
    [
        (Scope.CALL, "asked", "asked"),
        (Scope.TOOL, "allowed", "asked"),
        (Scope.SESSION, "allowed", "allowed"),
    ],
)
def test_a_permission_has_its_scope(asked, scope, other_call, other_tool):
    """This call, this tool, or all of the session."""

    def about(tool, arguments):
        found = finding()
        object.__setattr__(found, "evidence", {"tool": tool, "arguments": arguments, "count": 5})
        return found

    asked.decide(about("ls", "{}"))
    asked.questions[0].answer(Answer.ALLOW, scope=scope, max_times=10)
    same = asked.decide(about("ls", "{}")).held

    assert same == "allowed"
    assert asked.decide(about("ls", '{"x": 1}')).held == other_call
    asked.policy.start_run()
    assert asked.decide(about("cat", "{}")).held == other_tool


def test_mild_corrections_are_not_asked_about():
    """The rung where questions begin is an option."""
    asked = Asked(from_tier=Tier.REDIRECT)

    first = asked.decide()
    asked.policy.claim(turn=asked.turn + 1)
    second = asked.decide()

    assert first.tier is Tier.NUDGE
    assert second.held == "asked"


def test_an_answer_counts_once(asked):
    """The first to answer is heard."""
    asked.decide()
    (question,) = asked.questions

    assert question.answer(Answer.CONTINUE)
    assert not question.answer(Answer.STOP)
    assert question.given.answer is Answer.CONTINUE


@pytest.mark.parametrize("options", [{"max_times": 0}, {"max_times": 101}, {"seconds": 0}])
def test_no_permission_is_without_end(asked, options):
    """Bounds are checked where the answer is given."""
    asked.decide()

    with pytest.raises(ConfigError, match="ask: max_times must be 1 to 100"):
        asked.questions[0].answer(Answer.ALLOW, **options)


def test_refuses_a_timeout_of_nothing():
    """It fails at start."""
    with pytest.raises(ConfigError, match="timeout_seconds"):
        Asked(timeout_seconds=0)


def test_who_cannot_be_asked_is_not_waited_for(caplog):
    """A callback that raises counts as no answer."""

    def broken(_):
        raise RuntimeError("planted")

    policy = Ask(Ladder(), ask=broken, from_tier=Tier.NUDGE)
    policy.attach("s")

    assert policy.decide([finding()], turn=1, now=0.0).tier is Tier.NUDGE
    assert "nobody could be asked" in caplog.text


def loop(mode, policy):
    """Have an engine see one call again and again; return the tiers it says."""
    watchdog = Watchdog(
        config=WatchdogConfig(mode=mode), detectors=[RepeatedToolCall(threshold=3)], policy=policy
    )
    calls = (ToolCall(session="s", turn=n, name="ls", arguments="{}") for n in range(1, 9))
    return [c.tier for call in calls if (c := watchdog.observe(call)) is not None]


def test_the_engine_asks_only_where_it_would_deliver():
    """In mode observe nobody is disturbed, and the would-be correction is recorded."""
    delivered, observed = Asked(), Asked()

    said = loop(Mode.FEEDBACK, delivered.prototype), loop(Mode.OBSERVE, observed.prototype)

    assert said[0] == []
    assert [question.session for question in delivered.questions] == ["s"]
    assert said[1][0] is Tier.NUDGE
    assert observed.questions == []


def test_each_step_becomes_a_log_record(monkeypatch, asked):
    """Who allowed what, how often and for how long."""
    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    monkeypatch.setattr(_logs._internal, "_LOGGER_PROVIDER", provider)
    telemetry = Telemetry(TracerProvider(shutdown_on_exit=False), version="1")
    aftermath = Aftermath()
    aftermath.listen(asked.prototype)
    asked.decide()
    asked.questions[0].answer(Answer.ALLOW, scope=Scope.TOOL, max_times=2, seconds=30, by="ann")
    asked.decide()

    aftermath.tell(telemetry)

    records = [data.log_record for data in exporter.get_finished_logs()]
    assert {record.event_name for record in records} == {"watchdog.approval"}
    facts = {k: v for k, v in (records[1].attributes or {}).items() if "approval" in k}
    assert facts == {
        "watchdog.approval.step": "allow",
        "watchdog.approval.scope": "tool",
        "watchdog.approval.max_times": 2,
        "watchdog.approval.seconds": 30,
        "watchdog.approval.by": "ann",
    }
