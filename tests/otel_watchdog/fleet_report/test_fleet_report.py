"""The report of a fleet, from recordings with corrections of ours and without."""

import json
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from typer.testing import CliRunner

from otel_watchdog import Profile, Tier, WatchdogConfig, fleet_report
from otel_watchdog.cli.app import app
from otel_watchdog.model import CorrectionOutcome, Outcome
from otel_watchdog.telemetry import Telemetry
from otel_watchdog.testing import correction, drift_check

SEED = {"nudge": 34, "redirect": 18, "force-wrap": 12, "hard-stop": 4, "terminate": 2}


class Fleet:
    """Writes runs of agents and corrections of theirs into one recording."""

    def __init__(self, path):
        self.path = path
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.telemetry = Telemetry(self.provider, version="1")
        self.cost: dict[str, float] = {}
        """What each model call says that it cost."""

    def run(self, agent, tiers, *, turns=4, tool="ls", heeded=True):
        """Write a run with its corrections, all of which were heeded, or none."""
        who = {"gen_ai.agent.name": agent, "gen_ai.conversation.id": f"talk-{agent}"}
        tracer = self.provider.get_tracer("pydantic-ai")
        kind = "gen_ai.operation.name"
        with tracer.start_as_current_span("invoke_agent", attributes={kind: "invoke_agent", **who}):
            for turn in range(1, turns + 1):
                tokens: dict[str, Any] = {
                    "gen_ai.usage.input_tokens": 100,
                    "gen_ai.usage.output_tokens": 10,
                }
                tokens |= {"gen_ai.request.model": "small-2", **self.cost}
                with tracer.start_as_current_span(
                    "chat", attributes={kind: "chat", **tokens, **who}
                ):
                    pass
                call = {"gen_ai.tool.name": tool, "gen_ai.tool.call.arguments": f'{{"n": {turn}}}'}
                call |= {"gen_ai.tool.call.result": f"line {turn}"}
                with tracer.start_as_current_span(
                    tool, attributes={kind: "execute_tool", **call, **who}
                ):
                    pass
                if turn == 1:
                    self.correct(agent, who, tiers, heeded)

    def correct(self, agent, who, tiers, heeded):
        """Write corrections of one session, and what came of them."""
        for number, tier in enumerate(tiers, start=1):
            cap = 4 if tier >= Tier.HARD_STOP else None
            given = correction(
                id=f"{agent}-{number}",
                session=f"talk-{agent}",
                turn=1,
                tier=tier,
                n=number,
                max_turns=cap,
            )
            given = replace(given, category=agent.partition("-")[0], category_from="agent")
            context = trace.set_span_in_context(trace.get_current_span())
            self.telemetry.correct(given, context, who)
            told = CorrectionOutcome.HEEDED if heeded else CorrectionOutcome.IGNORED
            turns = 2 if heeded else None
            self.telemetry.record(
                Outcome(correction=given, outcome=told, turn=3, turns_to_heed=turns)
            )

    def save(self):
        """Write the recording; return its path."""
        request = encode_spans(self.exporter.get_finished_spans())
        self.path.write_bytes(request.SerializeToString())
        return self.path


@pytest.fixture
def fleet(tmp_path):
    """Return a fleet of five agents."""
    fleet = Fleet(tmp_path / "fleet.pb")
    fleet.run("business-logic", [Tier.NUDGE, Tier.REDIRECT, Tier.FORCE_WRAP])
    fleet.run("crypto", list(Tier), tool="write_file", heeded=False)
    fleet.run("xss-reflected", [*Tier, Tier.TERMINATE], heeded=False)
    fleet.run("login", [])
    fleet.run("login-2", [Tier.NUDGE], tool="write_file")
    return fleet


def test_corrections_in_a_recording_are_what_counts(fleet):
    """By tier, by agent, with their outcomes; nothing is judged anew."""
    report = fleet_report.gather([fleet.save()])

    facts = report.as_json()
    assert (facts["agents"], facts["corrected_agents"], facts["corrections"]) == (5, 4, 15)
    assert facts["by_tier"] == {
        "nudge": 4,
        "redirect": 3,
        "force-wrap": 3,
        "hard-stop": 2,
        "terminate": 3,
    }
    assert facts["drifters"][0] == {
        "agent": "xss-reflected",
        "corrections": 6,
        "max_tier": "terminate",
    }
    assert (facts["heeded"], facts["outcomes_known"], facts["median_turns_to_heed"]) == (4, 15, 2.0)
    assert facts["would_be_recordings"] == 0
    assert facts["errors"] == []


def test_outliers_took_many_corrections_and_delivered_nothing(fleet):
    """Who has written a file is none, however often it was corrected."""
    report = fleet_report.gather([fleet.save()])

    assert [one.agent for one in report.outliers] == ["xss-reflected"]


def test_turns_and_tokens_before_and_after(fleet):
    """Of agents that were corrected: one turn before, three after; 110 tokens a turn."""
    facts = fleet_report.gather([fleet.save()]).as_json()

    assert (facts["turns"], facts["tokens"]) == (20, 2200)
    assert facts["turns_before_first_correction"] == 4
    assert facts["turns_after_first_correction"] == 12
    assert facts["tokens_after_first_correction"] == 1320


def test_money_before_and_after_as_the_spans_say_it(tmp_path):
    """Of agents that were corrected; of the others it stands in the sum alone."""
    fleet = Fleet(tmp_path / "fleet.pb")
    fleet.cost = {"gen_ai.usage.cost": 0.25}
    fleet.run("crypto", [Tier.NUDGE])
    fleet.run("login", [])

    facts = fleet_report.gather([fleet.save()]).as_json()

    assert (facts["cost_usd"], facts["cost_usd_before_first_correction"]) == (2.0, 0.25)
    assert facts["cost_usd_after_first_correction"] == 0.75


def test_money_by_price_where_spans_do_not_say_it(fleet):
    """100 tokens in and 10 out a turn; of twenty turns, sixteen are of corrected agents."""
    prices = fleet_report.Prices(["big-*=100/100", "small-*=1000/10000"])

    report = fleet_report.gather([fleet.save()], prices=prices)

    assert report.as_json()["cost_usd"] == 4.0
    assert report.cost == pytest.approx((0.8, 2.4))
    assert "$0.8000 up to the first correction, $2.40 after it" in fleet_report.markdown(report)


def test_money_that_nobody_knows_is_not_nought(fleet):
    """It is left out."""
    report = fleet_report.gather([fleet.save()])

    assert report.as_json()["cost_usd"] is None
    assert "money" not in fleet_report.markdown(report)


@pytest.mark.parametrize("price", ["", "x", "m=1", "m=1/x", "=1/2", "m=-1/2", "m=1/nan", "m=1/inf"])
def test_a_price_of_another_form_is_refused(fleet, price):
    """With what was given, and what is allowed."""
    done = CliRunner().invoke(app, ["report", str(fleet.save()), "--price", price])

    assert done.exit_code == 2
    assert "MODEL=INPUT/OUTPUT" in done.output


def test_the_worst_categories(fleet):
    """By what the corrections say: how many agents, how many corrections, and how firm."""
    report = fleet_report.gather([fleet.save()])

    assert report.by_category == [
        ("xss", 1, 6, 5),
        ("crypto", 1, 5, 5),
        ("business", 1, 3, 3),
        ("login", 1, 1, 1),
    ]
    assert "Worst drifters by category" in fleet_report.html(report)
    done = CliRunner().invoke(app, ["report", str(fleet.save())])
    assert "worst categories" in done.output


def test_drift_checks_are_told_with_their_cost(fleet):
    """How often a model was asked, and what that cost; its cost is not the agents'."""
    context = trace.set_span_in_context(trace.INVALID_SPAN)
    for _ in range(3):
        fleet.telemetry.check(drift_check(), context, {})

    report = fleet_report.gather([fleet.save()])

    facts = report.as_json()
    assert (facts["drift_checks"], facts["drift_checks_cost_usd"]) == (3, 0.033)
    assert facts["cost_usd"] is None
    assert facts["corrections"] == 15
    assert "| drift checks | 3, $0.0330 |" in fleet_report.markdown(report)


def test_a_delivery_is_no_second_correction(fleet):
    """Its span stands below the correction's and holds the same facts."""
    fleet.telemetry.deliver(correction(id="crypto-1", session="talk-crypto"))

    assert fleet_report.gather([fleet.save()]).corrections == 15


def test_runs_that_ended_by_a_limit(fleet):
    """The last turn was the last that hard-stop or terminate had left."""
    assert fleet_report.gather([fleet.save()]).capped == 2


def test_without_corrections_those_that_would_have_been_are_shown(tmp_path):
    """And the report says so."""
    path = tmp_path / "loop.jsonl"
    calls = [{"turn": turn, "kind": "tool_call", "name": "ls", "args": {}} for turn in range(1, 9)]
    path.write_text(json.dumps({"id": "loop", "events": calls}) + "\n", "utf-8")

    report = fleet_report.gather([path], WatchdogConfig(profile=Profile.CLASSIC))

    assert report.would_be == 1
    assert report.corrections >= 1
    assert "would have made" in fleet_report.markdown(report)


@pytest.mark.parametrize("form", ["terminal", "markdown", "html", "json"])
def test_the_command_writes_each_form(fleet, form):
    """The bar chart stands in each but JSON."""
    done = CliRunner().invoke(app, ["report", str(fleet.save()), "--format", form])

    assert done.exit_code == 0, done.output
    assert "xss-reflected" in done.output
    if form == "json":
        assert json.loads(done.output)["by_tier"]["nudge"] == 4
    else:
        assert any(bar in done.output for bar in ("████", "####", "class='bar'"))


def test_names_from_a_trace_cannot_break_a_page(tmp_path):
    """Agents may be called anything."""
    fleet = Fleet(tmp_path / "bad.pb")
    fleet.run("<script>|`x`", [Tier.NUDGE])

    report = fleet_report.gather([fleet.save()])

    assert "<script>" not in fleet_report.html(report)
    assert "<script>" not in fleet_report.markdown(report)
    assert r"\|" in fleet_report.markdown(report)


def test_the_bars_of_the_run_that_the_form_comes_from():
    """70 corrections of 80 agents: the longest bar is 36 long, and no tier is lost."""
    facts = [
        fleet_report.AgentFacts(session=f"{tier}", agent="a", tiers=[int(tier)] * SEED[tier.label])
        for tier in Tier
    ]

    text = fleet_report.markdown(fleet_report.Report(agents=facts, would_be=0))

    chart = text.split("```")[1].splitlines()[1:]
    assert [line.count("#") for line in chart] == [36, 19, 13, 4, 2]
    assert [int(line.split()[-1]) for line in chart] == list(SEED.values())


def test_what_cannot_be_read_is_told(tmp_path):
    """The other files count."""
    bad = tmp_path / "bad.json"
    bad.write_text("no", "utf-8")

    done = CliRunner().invoke(app, ["report", str(bad)])

    assert done.exit_code == 2
    assert "neither JSON nor OTLP" in done.output
