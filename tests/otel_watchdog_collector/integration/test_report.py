"""The fleet report of a real service's store, by its API and by the command."""

import json

import pytest
from typer.testing import CliRunner

from otel_watchdog import fleet_report
from otel_watchdog.cli.app import app
from otel_watchdog.errors import InputError

PROTOBUF = {"content-type": "application/x-protobuf"}
SECRET = "0123456789abcdef"  # noqa: S105 - of the tests


def send(running, made, headers=None):
    """Send a trace request and wait until it was judged."""
    answer = running.client.post(
        "/v1/traces", content=made.SerializeToString(), headers=PROTOBUF | (headers or {})
    )
    assert answer.status_code == 200


def with_usage(made, tool="ls"):
    """Say what each model call took, and let another tool be called, to a new end each time."""
    for span in made.resource_spans[0].scope_spans[0].spans:
        if span.name.startswith("chat"):
            for key, count in (("input_tokens", 90), ("output_tokens", 10)):
                span.attributes.add(key=f"gen_ai.usage.{key}").value.int_value = count
            span.attributes.add(key="gen_ai.usage.cost").value.double_value = 0.25
        elif tool != "ls":
            for pair in span.attributes:
                if pair.key == "gen_ai.tool.name":
                    pair.value.string_value = tool
                elif pair.key in {"gen_ai.tool.call.arguments", "gen_ai.tool.call.result"}:
                    pair.value.string_value = json.dumps({"path": f"{span.span_id.hex()}.py"})
    return made


@pytest.fixture
def busy(serve, agent_spans):
    """Return a service of which one agent heeded its correction, and another did nothing wrong."""
    running = serve()
    send(running, with_usage(agent_spans.request(turns=range(1, 9))))
    waiting = running.client.get("/v1/feedback/conv?claim=1&wait=5").json()["corrections"]
    assert len(waiting) == 1
    send(running, with_usage(agent_spans.request(turns=range(9, 14)), tool="write_file"))
    calm = agent_spans.request(agent="calm", conversation="other", turns=[1], seed=2)
    send(running, with_usage(calm))
    settled(running)
    return running


def settled(running):
    """Wait until both sessions and the outcome are in the store."""
    for _ in range(200):
        runs = running.client.get("/api/v1/runs").json()["items"]
        given = running.client.get("/api/v1/corrections").json()["items"]
        if len(runs) == 2 and given and given[0]["fields"].get("outcome"):
            return
        running.wait(_turn(running))
    pytest.fail("the service did not judge what it was sent")


async def _turn(running):
    running.service.intake._wake.set()


def test_what_a_service_has_stored_is_reported(busy):
    """Agents, corrections with their outcome, and turns, tokens and money before and after."""
    facts = fleet_report.gather_stored(busy.url).as_json()

    assert (facts["agents"], facts["corrected_agents"], facts["corrections"]) == (2, 1, 1)
    assert facts["drifters"] == [{"agent": "fixer", "corrections": 1, "max_tier": "nudge"}]
    assert (facts["heeded"], facts["outcomes_known"], facts["median_turns_to_heed"]) == (1, 1, 1.0)
    assert (facts["turns"], facts["tokens"], facts["cost_usd"]) == (14, 1400, 3.5)
    costs = [facts[f"cost_usd_{when}_first_correction"] for when in ("before", "after")]
    assert sum(costs) == 3.25
    after = facts["turns_after_first_correction"]
    assert facts["turns_before_first_correction"] + after == 13
    assert after >= 5
    assert facts["tokens_after_first_correction"] == 100 * after
    assert facts["would_be_recordings"] == 0
    assert facts["wall_clock_seconds"] > 0


def test_rows_come_page_by_page(busy, monkeypatch):
    """All of them, each once."""
    monkeypatch.setattr("otel_watchdog.fleet_report.service.PAGE_ROWS", 1)

    assert len(fleet_report.gather_stored(busy.url).agents) == 2


def test_what_has_not_changed_since_is_left_out(busy):
    """By the service's clock."""
    assert fleet_report.gather_stored(busy.url, since=4_000_000_000.0).agents == []


def test_the_command_takes_a_services_address(busy):
    """Beside recordings, and in each form."""
    done = CliRunner().invoke(app, ["report", busy.url, "--format", "json"])

    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["by_tier"]["nudge"] == 1


def test_in_mode_observe_what_would_have_been_is_shown(serve, agent_spans):
    """And the report says so."""
    running = serve(mode="observe")
    send(running, agent_spans.request())
    for _ in range(200):
        if running.client.get("/api/v1/corrections").json()["items"]:
            break
        running.wait(_turn(running))

    report = fleet_report.gather_stored(running.url)

    assert (report.would_be, report.corrections) == (1, 1)
    assert "would have made" in fleet_report.markdown(report)


def test_a_token_that_may_not_read_is_told_of(serve):
    """Of a service with tokens; nothing of the token is shown."""
    made = [{"name": "r", "token": SECRET, "role": "read", "tenant": "t"}]
    running = serve(tokens=made)
    allowed = CliRunner(env={"OTEL_WATCHDOG_SERVICE_TOKEN": SECRET})
    refused = CliRunner(env={"OTEL_WATCHDOG_SERVICE_TOKEN": "x" * 16})

    assert allowed.invoke(app, ["report", running.url]).exit_code == 0
    done = refused.invoke(app, ["report", running.url])

    assert done.exit_code == 2
    assert "answered 401: a token that may read is needed" in done.output
    assert "x" * 16 not in done.output


@pytest.mark.parametrize("path", ["/healthz?", "/api/v1/openapi.json?"])
def test_what_is_no_service_is_told_of(serve, path):
    """An address that answers something else, or nothing."""
    running = serve()

    with pytest.raises(InputError, match=r"127\.0\.0\.1"):
        fleet_report.gather_stored(running.url + path.rstrip("?"))
    with pytest.raises(InputError, match="Refused"):
        fleet_report.gather_stored("http://127.0.0.1:9")
