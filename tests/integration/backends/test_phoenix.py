"""A corrected run in a real Arize Phoenix: received by OTLP, given back by its API."""

import pytest

from tests.integration.backends.conftest import (
    LOOPBACK,
    PROJECT,
    ask,
    eventually,
    listening,
    phoenix_served,
    run_agent,
)

PORT, GRPC_PORT = 16006, 14317

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory):
    """Run Phoenix on loopback; return its address."""
    folder = tmp_path_factory.mktemp("phoenix")
    with phoenix_served(folder, PORT, GRPC_PORT) as url:
        assert run_agent(f"{url}/v1/traces")
        yield url


@pytest.fixture(scope="module")
def spans(phoenix):
    """Return the run's spans as Phoenix gives them back."""

    def look():
        found = ask(f"{phoenix}/v1/projects/{PROJECT}/spans?limit=200")["data"]
        return found if any(span["name"].startswith("invoke_agent") for span in found) else None

    return eventually(look)


@pytest.fixture(scope="module")
def correction(spans):
    """Return the first correction's span."""
    return next(span for span in spans if span["name"].startswith("watchdog-nudge"))


@pytest.mark.usefixtures("phoenix")
def test_it_listens_on_loopback_alone():
    """Neither port is open to the network."""
    for port in (PORT, GRPC_PORT):
        assert listening(port)
        assert listening(port) <= LOOPBACK


def test_a_correction_is_a_guardrail_with_input_and_output(correction):
    """What fired goes in, the exact message comes out."""
    attributes = correction["attributes"]

    assert correction["span_kind"] == "GUARDRAIL"
    assert "list_files" in attributes["input.value"]
    assert attributes["output.value"].startswith("[watchdog]")
    assert attributes["watchdog.tier.name"] == "nudge"
    assert attributes["session.id"] == "talk"
    assert [event["name"] for event in correction["events"]] == ["watchdog.feedback"]


def test_it_stands_below_the_run_and_the_trace_keeps_its_root(spans, correction):
    """One trace, one root, and it is the agent's."""
    roots = [span for span in spans if not span["parent_id"]]

    assert [span["name"] for span in roots] == ["invoke_agent fixer"]
    assert correction["parent_id"] == roots[0]["context"]["span_id"]
    assert len({span["context"]["trace_id"] for span in spans}) == 1


def test_the_outcome_stands_beside_it(spans):
    """The agent changed course, and that is on the record, too."""
    outcomes = [span for span in spans if span["name"].startswith("watchdog-outcome")]

    assert outcomes
    assert {span["span_kind"] for span in outcomes} == {"EVALUATOR"}
    assert "heeded" in {span["attributes"]["watchdog.outcome"] for span in outcomes}


def test_its_delivery_stands_below_it(spans, correction):
    """The model call has gone out with it, after so many seconds."""
    (delivered,) = [span for span in spans if span["name"] == "watchdog-feedback-delivered"]

    assert delivered["parent_id"] == correction["context"]["span_id"]
    assert delivered["attributes"]["watchdog.delivery.seconds"] >= 0


def test_a_drift_check_is_a_model_call_with_its_cost(spans):
    """Tokens and money count once; the verdict stands on it."""
    (check,) = [span for span in spans if span["name"] == "drift-check"]

    attributes = check["attributes"]
    assert check["span_kind"] == "LLM"
    assert attributes["watchdog.verdict"] == "progressing"
    assert attributes["llm.token_count.prompt"] == 900
    assert attributes["llm.cost.total"] == 0.011
    assert attributes["input.value"].startswith("Task: build it.")


def test_a_correction_takes_annotations(phoenix, correction):
    """People, and programs, say there whether it was called for."""
    place = correction["context"]["span_id"]
    said = {
        "span_id": place,
        "name": "watchdog.false_alarm",
        "annotator_kind": "HUMAN",
        "result": {"label": "no", "score": 0.0},
    }

    ask(f"{phoenix}/v1/span_annotations?sync=true", {"data": [said]})

    found = ask(f"{phoenix}/v1/projects/{PROJECT}/span_annotations?span_ids={place}")["data"]
    assert [(one["name"], one["result"]["label"]) for one in found] == [
        ("watchdog.false_alarm", "no")
    ]
