"""The fleet's health over real sockets: who sees it, who steers it, and what is said of it."""

import re

import pytest

from otel_watchdog import semconv
from otel_watchdog_collector.api import fleet_models
from tests.otel_watchdog_collector.integration.fleet_calls import (
    HUNG,
    look,
    record,
    send,
    settle,
    tokens,
)

ROUTES = (
    "/api/v1/conditions",
    "/api/v1/incidents",
    "/api/v1/approvals",
    "/api/v1/healing",
    "/api/v1/audit",
    "/api/watchdog/activity",
)


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
    running.wait(settle(running.service.fleets))
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
    """More than the audit is kept counts as ninety; what the document does not allow is refused."""
    running = serve()
    described = running.client.get("/api/v1/openapi.json").json()["paths"]
    (parameter,) = described["/api/watchdog/activity"]["get"]["parameters"]

    answer = running.client.get(
        "/api/watchdog/activity", params={"days": days} if days is not None else {}
    )

    assert answer.status_code == (422 if days == "9" * 17 else status)
    fits = days is None or re.search(parameter["schema"]["pattern"], days) is not None
    assert fits == (answer.status_code != 400)
    if shown is not None:
        assert (answer.json()["days"], len(answer.json()["daily"])) == (shown, shown)


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
    running.wait(settle(running.service.fleets))
    waiting = running.client.get("/api/v1/approvals?state=asked").json()["items"]
    answer = {
        semconv.WATCHDOG_APPROVAL_STEP: "allow",
        semconv.WATCHDOG_APPROVAL_BY: "ada",
        semconv.WATCHDOG_APPROVAL_SCOPE: "tool",
    }
    record(running, semconv.APPROVAL_EVENT, said | answer)
    running.wait(settle(running.service.fleets))

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
    disguised = [
        running.client.put("/api/v1/reports", json={"agent": "shop/fixer", **one}).status_code
        for one in ({"queued": True}, {"queued": "3"}, {"started_at": False})
    ]
    switch = running.client.put("/api/v1/kill-switch", json={"paused": 0}).status_code
    whole = running.client.put("/api/v1/reports", json={"agent": "shop/fixer", "queued": 3.0})

    assert (agent["queued"], agent["cadence_seconds"]) == (3, 86400)
    assert agent["conditions"][1]["reason"] == "CredentialMissing"
    assert wrong == [422] * 4
    assert (*disguised, switch, whole.status_code) == (422, 422, 422, 422, 200)


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
