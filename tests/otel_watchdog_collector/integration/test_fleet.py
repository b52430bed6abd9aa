"""The fleet's health over real sockets: who sees it, who steers it, and what outlives the service."""

import asyncio
import json
import sys
import threading
from typing import Any

import pytest
from opentelemetry import _logs
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from otel_watchdog import WatchdogConfig, WatchdogSpanProcessor, semconv
from otel_watchdog.testing import reraise
from otel_watchdog_collector.api import fleet_models

PROTOBUF = {"content-type": "application/x-protobuf"}
SECRET = "0123456789abcdef"  # noqa: S105 - of the tests
ROUTES = (
    "/api/v1/conditions",
    "/api/v1/incidents",
    "/api/v1/approvals",
    "/api/v1/healing",
    "/api/v1/audit",
    "/api/watchdog/activity",
)


def tokens(*pairs):
    """Return tokens, one for each role and tenant, and the headers that show them."""
    made = [
        {"name": f"{role}-{tenant}", "token": f"{SECRET}-{role}-{tenant}", "role": role}
        | {"tenant": tenant}
        for role, tenant in pairs
    ]
    return made, [{"authorization": f"Bearer {one['token']}"} for one in made]


def look(running):
    """Look at all agents, and wait for what is done to them."""
    running.wait(running.service.fleets.sweep())
    running.wait(_settle(running.service.fleets))


async def _settle(fleets):
    while fleets._acting:
        await asyncio.gather(*fleets._acting)


def send(running, agent_spans, headers=None, **facts):
    """Let an agent's spans come."""
    body = agent_spans.request(**{"turns": [1], **facts}).SerializeToString()
    answer = running.client.post(
        "/v1/traces", content=body, headers={**PROTOBUF, **(headers or {})}
    )
    assert answer.status_code == 200


def record(running, event, said, service="shop", headers=None):
    """Let a log record of an agent come."""
    made = ExportLogsServiceRequest()
    group = made.resource_logs.add()
    pair = group.resource.attributes.add()
    pair.key, pair.value.string_value = "service.name", service
    one = group.scope_logs.add().log_records.add()
    one.event_name = event
    for key, value in said.items():
        pair = one.attributes.add()
        pair.key = key
        if isinstance(value, str):
            pair.value.string_value = value
        else:
            pair.value.double_value = value
    answer = running.client.post(
        "/v1/logs", content=made.SerializeToString(), headers={**PROTOBUF, **(headers or {})}
    )
    assert answer.status_code == 200


HUNG = {
    semconv.GEN_AI_AGENT_NAME: "fixer",
    semconv.HEARTBEAT_OPEN_SPANS: 1.0,
    semconv.HEARTBEAT_IDLE_SECONDS: 4000.0,
}


def test_conditions_of_an_agent_are_shown(serve, agent_spans):
    """All three, with times; by id, service and state."""
    running = serve()
    send(running, agent_spans)
    look(running)

    (agent,) = running.client.get("/api/v1/conditions").json()["items"]

    assert agent["id"] == "shop/fixer"
    assert [(one["type"], one["status"]) for one in agent["conditions"]] == [
        ("Ready", "True"),
        ("Authenticated", "Unknown"),
        ("Producing", "True"),
    ]
    assert all(one["lastTransitionTime"].endswith("Z") for one in agent["conditions"])
    for asked, count in (
        ({"agent": "shop/fixer"}, 1),
        ({"agent": "shop/other"}, 0),
        ({"service": "shop", "state": "ready"}, 1),
        ({"state": "no-output"}, 0),
    ):
        answer = running.client.get("/api/v1/conditions", params=asked)
        assert len(answer.json()["items"]) == count
    assert "kept" not in agent


def test_roles_see_and_steer_what_is_theirs(serve):
    """Reading shows conditions and incidents; the audit and the switches are the operator's."""
    made, headers = tokens(("ingest", "t"), ("read", "t"), ("operate", "t"), ("admin", "t"))
    running = serve(tokens=made)

    seen = [
        [running.client.get(path, headers=one).status_code for path in ROUTES] for one in headers
    ]
    changes = [
        ("put", "/api/v1/healing", {"mode": "heal"}),
        ("put", "/api/v1/kill-switch", {"paused": True}),
        ("put", "/api/v1/reports", {"agent": "shop/fixer", "queued": 1}),
        ("post", "/api/v1/pause", {"agent": "shop/fixer"}),
        ("post", "/api/v1/resume", {"agent": "shop/fixer"}),
    ]
    steered = [
        [
            getattr(running.client, method)(path, json=body, headers=one).status_code
            for method, path, body in changes
        ]
        for one in headers
    ]

    assert seen == [[403] * 6, [200] * 4 + [403] * 2, [200] * 6, [200] * 6]
    assert steered == [[403] * 5, [403] * 5, [200] * 5, [200] * 5]
    assert {running.client.get(path).status_code for path in ROUTES} == {401}


def test_a_tenant_sees_and_steers_its_own_fleet_alone(serve, agent_spans):
    """Agents, audit, modes and switches."""
    made, (sender, mine, theirs) = tokens(("ingest", "t"), ("operate", "t"), ("operate", "u"))
    running = serve(tokens=made)
    send(running, agent_spans, sender)
    look(running)
    running.client.put("/api/v1/kill-switch", json={"paused": True}, headers=mine)
    running.client.put("/api/v1/healing", json={"mode": "heal"}, headers=mine)

    seen = {path: running.client.get(path, headers=theirs).json() for path in ROUTES}

    for path in ("/api/v1/conditions", "/api/v1/incidents", "/api/v1/approvals", "/api/v1/audit"):
        assert seen[path]["items"] == []
    assert seen["/api/v1/healing"] == {"mode": "observe", "acting": "observe", "paused_by": []}
    assert seen["/api/watchdog/activity"]["agents"] == []
    answer = running.client.post("/api/v1/resume", json={"agent": "shop/fixer"}, headers=theirs)
    assert answer.status_code == 404


def test_answers_are_what_the_openapi_document_says(serve):
    """Every field of every list, with something in each of them."""
    running = serve(
        fleet={"boot_grace_seconds": 0, "backoff_seconds": [0.001], "crash_loop_after": 1}
    )
    for _ in range(2):
        record(running, semconv.HEARTBEAT_EVENT, HUNG)
        look(running)
    record(running, semconv.APPROVAL_EVENT, {semconv.WATCHDOG_APPROVAL_STEP: "asked"})
    running.wait(_settle(running.service.fleets))
    described = running.client.get("/api/v1/openapi.json").json()["paths"]

    for path, model in (
        ("/api/v1/conditions", fleet_models.HealthPage),
        ("/api/v1/incidents", fleet_models.IncidentPage),
        ("/api/v1/approvals", fleet_models.ApprovalPage),
        ("/api/v1/audit", fleet_models.AuditPage),
        ("/api/watchdog/activity", fleet_models.Activity),
    ):
        answer = running.client.get(path).json()
        assert model.model_validate(answer).model_dump(mode="json") == answer
        assert answer.get("items", True)
        said = described[path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert said["$ref"].endswith(f"/{model.__name__}")


@pytest.mark.parametrize(
    ("days", "status", "shown"),
    [("400", 200, 90), ("7", 200, 7), (None, 200, 30)]
    + [(days, 400, None) for days in ("0", "-3", "soon", "1.5", "", "9" * 17, "\u0663")],
)
def test_days_of_activity_are_a_whole_number(serve, days, status, shown):
    """More than the audit is kept counts as ninety; what is no number is refused."""
    running = serve()

    answer = running.client.get(
        "/api/watchdog/activity", params={"days": days} if days is not None else {}
    )

    assert answer.status_code == (422 if days == "9" * 17 else status)
    if shown is not None:
        assert (answer.json()["days"], len(answer.json()["daily"])) == (shown, shown)


def test_a_dead_agent_is_restarted_paused_and_resumed(serve, tmp_path):
    """From its heartbeats to the command, the incident, the audit and the activity."""
    told = tmp_path / "told"
    script = (
        "import os; open(r'"
        + str(told)
        + "', 'a').write(os.environ['OTEL_WATCHDOG_ACTION'] + '\\n')"
    )
    fleet = {
        "mode": "heal",
        "action": {"command": [sys.executable, "-c", script]},
        "boot_grace_seconds": 0,
        "backoff_seconds": [0.001],
        "crash_loop_after": 2,
        "audit_file": str(tmp_path / "audit.jsonl"),
    }
    running = serve(fleet=fleet)
    for _ in range(4):
        record(running, semconv.HEARTBEAT_EVENT, HUNG)
        look(running)

    agent = running.client.get("/api/v1/conditions").json()["items"][0]
    (incident,) = running.client.get("/api/v1/incidents?state=open").json()["items"]
    activity = running.client.get("/api/watchdog/activity?days=2").json()

    assert told.read_text("utf-8").splitlines() == ["restart", "restart", "pause"]
    metrics = running.client.get("/metrics").text
    assert "otel_watchdog_collector_open_incidents 1\n" in metrics
    assert "otel_watchdog_collector_fleet_actions_total 3\n" in metrics
    assert (agent["state"], agent["paused"]["trigger"]) == ("crash-loop", "watchdog-crashloop")
    assert (incident["kind"], incident["agents"]) == ("crash-loop", ["shop/fixer"])
    assert activity["byAction"] == {"crashloop-pause": 1, "giveup": 1, "restart": 2}
    assert (activity["acting"], activity["promotion"]) == (True, None)
    assert activity["agents"][0]["state"] == "crash-loop"
    resumed = running.client.post("/api/v1/resume", json={"agent": "shop/fixer"})
    running.wait(_settle(running.service.fleets))
    assert resumed.json() == {"done": True}
    assert told.read_text("utf-8").splitlines()[3:] == ["resume"]
    audit = running.client.get("/api/v1/audit").json()["items"]
    lines = [
        json.loads(line) for line in (tmp_path / "audit.jsonl").read_text("utf-8").splitlines()
    ]
    assert [one["action"] for one in lines] == [one["action"] for one in reversed(audit)]
    assert (audit[0]["action"], audit[0]["user"]) == ("resume", "anybody")


def test_the_kill_switch_holds_back_restarts_and_corrections(serve, agent_spans, tmp_path):
    """At once, by the API or by a file; and gives back no more than was set."""
    told, pause = tmp_path / "told", tmp_path / "pause"
    script = f"open(r'{told}', 'a').write('x')"
    fleet = {
        "mode": "heal",
        "action": {"command": [sys.executable, "-c", script]},
        "boot_grace_seconds": 0,
        "pause_file": str(pause),
    }
    running = serve(fleet=fleet, mode="feedback")
    send(running, agent_spans, turns=range(1, 9))
    for_agent = running.client.get("/v1/feedback/conv").json()
    assert len(for_agent["corrections"]) == 1

    running.client.put("/api/v1/kill-switch", json={"paused": True})
    record(running, semconv.HEARTBEAT_EVENT, HUNG | {semconv.GEN_AI_AGENT_NAME: "hung"})
    look(running)
    paused = running.client.get("/v1/feedback/conv").json()
    pause.touch()
    both = running.client.put("/api/v1/kill-switch", json={"paused": False}).json()

    assert paused == {"mode": "observe", "corrections": []}
    assert both == {"mode": "heal", "acting": "observe", "paused_by": ["file"]}
    assert not told.exists()
    pause.unlink()
    assert running.client.get("/v1/feedback/conv").json() == for_agent
    assert running.client.get("/api/v1/healing").json()["acting"] == "heal"
    look(running)
    assert told.read_text("utf-8") == "x"


def test_what_is_known_of_the_fleet_outlives_the_service(serve, tmp_path):
    """Mode, switch, conditions, ladders and open incidents; nothing is told of twice."""
    store = f"sqlite:{tmp_path}/w.db"
    fleet = {"boot_grace_seconds": 0, "backoff_seconds": [0.001], "crash_loop_after": 1}
    running = serve(store=store, fleet=fleet)
    for _ in range(2):
        record(running, semconv.HEARTBEAT_EVENT, HUNG)
        look(running)
    running.client.put("/api/v1/healing", json={"mode": "heal"})
    running.client.put("/api/v1/kill-switch", json={"paused": True})
    before = running.client.get("/api/v1/conditions").json()["items"]
    running.wait(running.service.stop())

    again = serve(store=store, fleet=fleet)
    look(again)

    assert again.client.get("/api/v1/healing").json() == {
        "mode": "heal",
        "acting": "observe",
        "paused_by": ["api"],
    }
    after = again.client.get("/api/v1/conditions").json()["items"]
    assert [one["lastTransitionTime"] for one in after[0]["conditions"]] == [
        one["lastTransitionTime"] for one in before[0]["conditions"]
    ]
    assert after[0]["shadow"] == before[0]["shadow"]
    assert len(again.client.get("/api/v1/incidents").json()["items"]) == 1
    actions = [one["action"] for one in again.client.get("/api/v1/audit").json()["items"]]
    assert actions.count("watchdog-giveup-observed") == 1
    assert (tmp_path / "w.db.audit.jsonl").exists()


def test_what_a_person_allowed_is_listed_and_audited(serve):
    """Questions come from agents' processes as log records."""
    running = serve()
    said = {
        semconv.WATCHDOG_APPROVAL_STEP: "asked",
        semconv.WATCHDOG_SESSION: "s1",
        semconv.WATCHDOG_TURN: 4.0,
        semconv.WATCHDOG_DETECTOR_NAME: "repeated_tool_call",
    }
    record(running, semconv.APPROVAL_EVENT, said)
    running.wait(_settle(running.service.fleets))
    waiting = running.client.get("/api/v1/approvals?state=asked").json()["items"]
    answer = {
        semconv.WATCHDOG_APPROVAL_STEP: "allow",
        semconv.WATCHDOG_APPROVAL_BY: "ada",
        semconv.WATCHDOG_APPROVAL_SCOPE: "tool",
    }
    record(running, semconv.APPROVAL_EVENT, said | answer)
    running.wait(_settle(running.service.fleets))

    (row,) = running.client.get("/api/v1/approvals").json()["items"]
    audit = running.client.get("/api/v1/audit?action=approval").json()["items"]

    assert [one["session"] for one in waiting] == ["s1"]
    assert (row["state"], row["by"], row["scope"]) == ("answered", "ada", "tool")
    assert row["asked_at"] == waiting[0]["asked_at"] < row["at"]
    assert [(one["user"], one["detail"]["answered_by"]) for one in audit] == [
        ("program", "ada"),
        ("program", None),
    ]


def test_an_orchestrator_says_what_spans_do_not_tell(serve, agent_spans):
    """Queue, cadence, credential; wrong values are refused, with the reason."""
    running = serve()
    send(running, agent_spans)
    good = {"agent": "shop/fixer", "queued": 3, "cadence_seconds": 86400, "credential": "absent"}
    running.client.put("/api/v1/reports", json=good)
    look(running)

    agent = running.client.get("/api/v1/conditions").json()["items"][0]
    wrong = [
        running.client.put("/api/v1/reports", json={"agent": "shop/fixer", **one}).status_code
        for one in ({"queued": -1}, {"cadence_seconds": 0}, {"credential": "maybe"}, {"other": 1})
    ]

    assert (agent["queued"], agent["cadence_seconds"]) == (3, 86400)
    assert agent["conditions"][1]["reason"] == "CredentialMissing"
    assert wrong == [422] * 4


def test_hostile_names_are_text(serve, agent_spans):
    """They come from outside: shown as they are, asked for as they are, and never more."""
    running = serve()
    name = "<script>alert(1)</script>/../'; DROP TABLE audit; --"
    send(running, agent_spans, agent=name)
    look(running)

    found = running.client.get("/api/v1/conditions", params={"agent": f"shop/{name}"})

    assert [one["agent"] for one in found.json()["items"]] == [name]
    assert found.headers["content-type"] == "application/json"
    assert found.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("text", [r"\ud800", r"a\u0000b", "x" * 5000], ids=["half", "NUL", "long"])
@pytest.mark.parametrize("path", ["/api/v1/reports", "/api/v1/pause", "/api/v1/resume"])
def test_no_text_of_a_request_makes_the_service_fail(serve, path, text):
    """What cannot be kept is refused, or kept as what stands for it; nothing else is lost."""
    running = serve()
    send = running.client.put if path.endswith("reports") else running.client.post

    answer = send(
        path, content='{"agent": "' + text + '"}', headers={"content-type": "application/json"}
    )
    running.client.put("/api/v1/kill-switch", json={"paused": True})
    look(running)

    assert answer.status_code in {200, 404, 422}
    assert [one["action"] for one in running.client.get("/api/v1/audit").json()["items"]] == [
        "kill-switch"
    ]
    assert running.service.meters["internal_errors_total"] == 0


@pytest.fixture
def traced(monkeypatch):
    """Return what makes a traced program that exports spans and logs to a service."""
    made: list[Any] = []

    def start(url, **settings):
        resource = Resource({"service.name": "shop"})
        logs = LoggerProvider(resource, shutdown_on_exit=False)
        exporter = OTLPLogExporter(f"{url}/v1/logs")
        logs.add_log_record_processor(SimpleLogRecordProcessor(exporter))
        monkeypatch.setattr(_logs._internal, "_LOGGER_PROVIDER", logs)
        spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        config = WatchdogConfig(**settings)
        spans.add_span_processor(WatchdogSpanProcessor(config=config, on_error=reraise))
        spans.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")))
        made.extend([spans, logs])
        return spans

    yield start
    for one in made:
        one.shutdown()


def test_an_open_run_is_seen_by_its_heartbeats(serve, traced):
    """From the processor through the stock exporter: alive while open, gone with a goodbye."""
    running = serve()
    provider = traced(running.url, heartbeat_seconds=20)
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "fixer"}

    with provider.get_tracer("t").start_as_current_span(
        "invoke_agent fixer", attributes=attributes
    ):
        _until(lambda: running.service.meters["heartbeats_total"])
        look(running)
        during = running.client.get("/api/v1/conditions").json()["items"]
    provider.shutdown()
    look(running)
    after = running.client.get("/api/v1/conditions").json()["items"]

    assert [(one["id"], one["state"]) for one in during] == [("shop/fixer", "ready")]
    assert during[0]["message"].startswith("a span of it began or ended")
    assert [(one["state"], one["message"]) for one in after] == [
        ("unknown", "its process ended as it should")
    ]


def test_without_heartbeats_an_agent_is_never_dead(serve, traced):
    """However long its run has been open: nobody can tell."""
    running = serve()
    provider = traced(running.url)
    with provider.get_tracer("t").start_as_current_span(
        "chat m", attributes={"gen_ai.operation.name": "chat", "gen_ai.agent.name": "fixer"}
    ):
        pass
    fleet = running.service.fleets._fleet("default")
    _until(lambda: fleet.agents)
    now = running.service._clock()

    states = set()
    for hours in range(1, 48):
        fleet.sweep(now + hours * 3600, fleet.mode)
        states.add(fleet.agents["shop/fixer"].liveness.value)

    assert states == {"unknown"}
    assert running.service.meters["heartbeats_total"] == 0


def _until(holds):
    """Wait until something holds."""
    pause = threading.Event()
    for _ in range(2000):
        if holds():
            return
        pause.wait(0.005)
    raise AssertionError("it did not come to that")
