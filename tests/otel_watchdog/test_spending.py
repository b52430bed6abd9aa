"""What a model call cost is read in any spelling; attributes of strangers may hold anything."""

import pytest

from otel_watchdog.spending import cost_of


@pytest.mark.parametrize(
    ("attributes", "cost"),
    [
        ({}, None),
        ({"gen_ai.usage.cost": 0.25}, 0.25),
        ({"llm.cost.total": 1}, 1.0),
        ({"gen_ai.cost.total_cost": 0.5}, 0.5),
        ({"operation.cost": 0}, 0.0),
        ({"gen_ai.usage.cost": "much", "llm.cost.total": 0.5}, 0.5),
        ({"gen_ai.usage.cost": True}, None),
        ({"gen_ai.usage.cost": -1.0}, None),
        ({"langfuse.observation.cost_details": '{"total": 0.5, "input": 0.1}'}, 0.5),
        ({"langfuse.observation.cost_details": '{"input": 0.25, "output": 0.5}'}, 0.75),
        ({"langfuse.observation.cost_details": "{"}, None),
        ({"langfuse.observation.cost_details": '{"total": "much"}'}, None),
        ({"langfuse.observation.cost_details": '{"total": [1]}'}, None),
    ],
)
def test_cost(attributes, cost):
    """The first spelling that holds an amount counts."""
    assert cost_of(attributes) == cost
