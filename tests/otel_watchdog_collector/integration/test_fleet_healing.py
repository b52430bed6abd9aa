"""Dead agents are restarted and paused over real sockets; switches hold back; what is known outlives the service."""

import json
import sys

from otel_watchdog import semconv
from tests.otel_watchdog_collector.integration.fleet_calls import HUNG, look, record, send, settle


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
    running.wait(settle(running.service.fleets))
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
