"""The API over real sockets: who may see what, and that nothing makes it fail."""

import pytest

from tests.otel_watchdog_collector.integration.fleet_calls import PROTOBUF, SECRET, tokens


def rows(running, what, headers=None, **asked):
    """Return the rows of a list, once there are any."""
    listed: list[dict[str, object]] = []
    for _ in range(100):
        answer = running.client.get(f"/api/v1/{what}", params=asked, headers=headers)
        assert answer.status_code == 200
        listed = answer.json()["items"]
        if listed:
            break
        running.wait(_turn(running))
    return listed


async def _turn(running):
    running.service.intake._wake.set()


def test_what_agents_did_is_listed(serve, agent_spans):
    """Agents, sessions, runs, corrections and findings of the spans that came."""
    running = serve()
    running.client.post(
        "/v1/traces", content=agent_spans.request().SerializeToString(), headers=PROTOBUF
    )

    listed = {
        what: rows(running, what)
        for what in ("agents", "sessions", "runs", "corrections", "findings")
    }

    assert [one["agent"] for one in listed["agents"]] == ["fixer"]
    assert [one["id"] for one in listed["sessions"]] == ["conv"]
    assert [one["fields"]["turns"] for one in listed["runs"]] == [8]
    assert [one["fields"]["tier"] for one in listed["corrections"]] == ["nudge"]
    assert listed["findings"]
    assert rows(running, "corrections", session="conv", agent="fixer") == listed["corrections"]
    assert running.client.get("/api/v1/runs?session=none").json() == {"items": [], "next": None}


def test_pages_follow_each_other(serve, agent_spans):
    """`next` of a page leads to the following one, to the end."""
    running = serve()
    for seed in range(1, 6):
        made = agent_spans.request(seed=seed, conversation=f"c{seed}", turns=[1])
        running.client.post("/v1/traces", content=made.SerializeToString(), headers=PROTOBUF)
    rows(running, "sessions")
    seen, before = [], None

    while True:
        asked = {"limit": 2} | ({"before": before} if before else {})
        page = running.client.get("/api/v1/sessions", params=asked).json()
        seen += [one["id"] for one in page["items"]]
        before = page["next"]
        if before is None:
            break

    assert sorted(seen) == [f"c{seed}" for seed in range(1, 6)]


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        ("ingest", {"/v1/feedback/x"}),
        ("read", {"/api/v1/agents", "/api/v1/mode", "/metrics"}),
        ("operate", {"/api/v1/agents", "/api/v1/mode", "/metrics"}),
        (
            "admin",
            {"/api/v1/agents", "/api/v1/mode", "/api/v1/config", "/metrics", "/v1/feedback/x"},
        ),
    ],
)
def test_a_role_may_do_what_it_is_for(serve, role, allowed):
    """And nothing else; health is for everybody."""
    made, (headers,) = tokens((role, "t"))
    running = serve(tokens=made)
    paths = ("/api/v1/agents", "/api/v1/mode", "/api/v1/config", "/metrics", "/v1/feedback/x")

    got = {path: running.client.get(path, headers=headers).status_code for path in paths}
    nobody = {path: running.client.get(path).status_code for path in paths}

    assert got == {path: 200 if path in allowed else 403 for path in paths}
    assert set(nobody.values()) == {401}
    assert running.client.get("/healthz").status_code == 200
    assert running.client.get("/readyz").status_code == 200


def test_only_who_operates_changes_the_mode(serve, agent_spans):
    """From the next span on; for its own tenant alone."""
    made, (sender, reader, operator, other) = tokens(
        ("ingest", "t"), ("read", "t"), ("operate", "t"), ("operate", "u")
    )
    running = serve(tokens=made, mode="observe")

    refused = running.client.put("/api/v1/mode", json={"mode": "enforce"}, headers=reader)
    changed = running.client.put("/api/v1/mode", json={"mode": "feedback"}, headers=operator)
    running.client.post(
        "/v1/traces",
        content=agent_spans.request().SerializeToString(),
        headers={**PROTOBUF, **sender},
    )
    feedback = running.client.get("/v1/feedback/conv", headers=sender).json()

    assert (refused.status_code, changed.status_code) == (403, 200)
    assert running.client.get("/api/v1/mode", headers=other).json()["mode"] == "observe"
    assert (feedback["mode"], len(feedback["corrections"])) == ("feedback", 1)


def test_a_tenant_sees_its_own_rows_alone(serve, agent_spans):
    """Whatever it asks for."""
    made, (sender, mine, theirs) = tokens(("ingest", "t"), ("read", "t"), ("read", "u"))
    running = serve(tokens=made)
    running.client.post(
        "/v1/traces",
        content=agent_spans.request().SerializeToString(),
        headers={**PROTOBUF, **sender},
    )

    seen = rows(running, "corrections", headers=mine)

    assert len(seen) == 1
    for what in ("agents", "sessions", "runs", "corrections", "findings"):
        answer = running.client.get(f"/api/v1/{what}?session=conv", headers=theirs)
        assert answer.json()["items"] == []


def test_no_answer_may_be_used_by_a_page_of_another_site(serve):
    """Security headers on all, CORS on none; nothing says what the server runs on."""
    running = serve()

    answers = [
        running.client.get(path, headers={"origin": "https://elsewhere.example"})
        for path in ("/healthz", "/api/v1/agents", "/api/v1/agents?limit=x", "/no/such/path")
    ]
    preflight = running.client.options(
        "/api/v1/mode",
        headers={"origin": "https://e.example", "access-control-request-method": "PUT"},
    )

    for answer in [*answers, preflight]:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert "server" not in answer.headers
    assert preflight.status_code == 405


def test_no_secret_is_told_or_logged(serve, caplog):
    """Neither tokens nor the headers of destinations, in any answer or line of the log."""
    made, (headers,) = tokens(("admin", "t"))
    destination = {"name": "b", "endpoint": "http://127.0.0.1:9", "headers": {"x-key": SECRET}}
    caplog.set_level("DEBUG", logger="otel_watchdog_collector")
    running = serve(tokens=made, destinations=[destination], log_level="debug")

    config = running.client.get("/api/v1/config", headers=headers)
    wrong = running.client.get("/api/v1/config", headers={"authorization": f"Bearer x{SECRET}"})

    assert config.status_code == 200
    assert SECRET not in config.text + wrong.text + caplog.text


def test_metrics_are_what_prometheus_reads(serve, agent_spans):
    """Counters and gauges with help and type."""
    running = serve()
    running.client.post(
        "/v1/traces", content=agent_spans.request().SerializeToString(), headers=PROTOBUF
    )

    answer = running.client.get("/metrics")

    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "otel_watchdog_collector_received_spans_total 16\n" in answer.text
    assert "# TYPE otel_watchdog_collector_sessions gauge\n" in answer.text
    assert "otel_watchdog_collector_sessions 1\n" in answer.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:4318", "collector", ""])
def test_without_tokens_no_other_name_leads_to_the_api(serve, host):
    """A page of a site whose name was made to lead here can neither read nor steer."""
    running = serve()

    read = running.client.get("/api/v1/agents", headers={"host": host})
    steered = running.client.put(
        "/api/v1/kill-switch", json={"paused": True}, headers={"host": host}
    )

    assert {read.status_code, steered.status_code} <= {400, 403}
    assert running.client.get("/api/v1/healing").json()["paused_by"] == []


def test_with_tokens_any_name_will_do(serve):
    """Others cannot know the token."""
    made, (reader,) = tokens(("read", "t"))

    answer = serve(tokens=made).client.get(
        "/api/v1/agents", headers={**reader, "host": "watchdog.example"}
    )

    assert answer.status_code == 200
