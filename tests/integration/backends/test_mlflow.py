"""A corrected run in a real MLflow: received by OTLP, given back by its own client."""

import json
import subprocess

import pytest

from tests.integration.backends.conftest import (
    LOOPBACK,
    ask,
    binary,
    eventually,
    listening,
    run_agent,
    served,
)

PORT = 15000
URL = f"http://127.0.0.1:{PORT}"
READ = """
import json, sys, mlflow
mlflow.set_tracking_uri(sys.argv[1])
traces = mlflow.search_traces(locations=[sys.argv[2]], return_type="list")
print(json.dumps([
    {"name": span.name, "type": span.span_type, "inputs": span.inputs, "outputs": span.outputs,
     "events": [event.name for event in span.events],
     "id": span.span_id, "parent": span.parent_id, "attributes": dict(span.attributes)}
    for one in traces for span in one.data.spans
], default=str))
"""

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def spans(tmp_path_factory):
    """Run MLflow, send it a corrected run, and return the spans as its client gives them back."""
    folder = tmp_path_factory.mktemp("mlflow")
    server = [binary("mlflow", "mlflow"), "server", "--host", "127.0.0.1", "--port", str(PORT)]
    store = f"sqlite:///{folder}/mlflow.db"
    path = str(binary("mlflow")).removesuffix("/python")
    with served(
        [*server, "--workers", "1", "--backend-store-uri", store],
        f"{URL}/health",
        folder,
        PATH=f"{path}:/usr/bin:/bin",
        MLFLOW_DISABLE_TELEMETRY="true",
        DO_NOT_TRACK="true",
    ):
        experiment = ask(f"{URL}/api/2.0/mlflow/experiments/create", {"name": "watchdog"})
        id_ = experiment["experiment_id"]
        assert run_agent(f"{URL}/v1/traces", {"x-mlflow-experiment-id": id_})
        assert listening(PORT) <= LOOPBACK

        def look():
            done = subprocess.run(
                [binary("mlflow"), "-c", READ, URL, id_],
                capture_output=True,
                text=True,
                check=False,
                env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
            )
            found = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else []
            return found if any(one["name"].startswith("invoke_agent") for one in found) else None

        yield eventually(look, seconds=5)


def test_a_correction_is_a_guardrail_with_input_and_output(spans):
    """What fired goes in, the exact message comes out."""
    correction = next(one for one in spans if one["name"].startswith("watchdog-nudge"))

    assert correction["type"] == "GUARDRAIL"
    assert "list_files" in json.dumps(correction["inputs"])
    assert "[watchdog]" in json.dumps(correction["outputs"])
    assert correction["attributes"]["watchdog.tier.name"] == "nudge"
    assert correction["events"] == ["watchdog.feedback"]


def test_a_drift_check_is_a_model_call(spans):
    """With what was asked, and what came back."""
    (check,) = [one for one in spans if one["name"] == "drift-check"]

    assert check["type"] == "LLM"
    assert check["attributes"]["watchdog.verdict"] == "progressing"
    assert "Task: build it." in json.dumps(check["inputs"])


def test_the_trace_keeps_its_root(spans):
    """It is the agent's, and the outcome stands in it, too."""
    assert [one["name"] for one in spans if not one["parent"]] == ["invoke_agent fixer"]
    assert any(one["name"].startswith("watchdog-outcome") for one in spans)
