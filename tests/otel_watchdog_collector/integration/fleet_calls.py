"""How the tests of the fleet's health speak to a service, and wait for what it does."""

import asyncio

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from otel_watchdog import semconv

PROTOBUF = {"content-type": "application/x-protobuf"}


SECRET = "0123456789abcdef"  # noqa: S105 - of the tests


HUNG = {
    semconv.GEN_AI_AGENT_NAME: "fixer",
    semconv.HEARTBEAT_OPEN_SPANS: 1.0,
    semconv.HEARTBEAT_IDLE_SECONDS: 4000.0,
}


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
    running.wait(settle(running.service.fleets))


async def settle(fleets):
    """Wait until every action that is under way is done."""
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
