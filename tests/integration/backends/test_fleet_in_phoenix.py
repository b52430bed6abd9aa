"""Agents of real frameworks, corrected by a fleet service that stands between them and Phoenix.

Each agent is a process of its own that knows the service alone: its spans go there by OTLP, the
corrections come from there, and all of it stands in one trace in a real Arize Phoenix.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.integration.adapters.model_server import ModelServer
from tests.integration.backends.conftest import (
    ROOT,
    ask,
    binary,
    eventually,
    phoenix_served,
    served,
)
from tests.integration.backends.fleet_agent import OTHERS

PORT, GRPC_PORT = 16106, 14417
HERE = Path(__file__).parent
SECONDS = 120

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory):
    """Run Phoenix on loopback; return its address."""
    folder = tmp_path_factory.mktemp("phoenix")
    with phoenix_served(folder, PORT, GRPC_PORT) as url:
        yield url


@pytest.fixture(scope="module")
def service(phoenix, tmp_path_factory):
    """Run a fleet service that passes on to Phoenix what it is sent; return its address."""
    folder = tmp_path_factory.mktemp("service")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "http_port": port,
        "grpc_port": -1,
        "store": f"sqlite:{folder}/watchdog.db",
        "mode": "feedback",
        "destinations": [{"name": "phoenix", "endpoint": phoenix, "pass_through": True}],
    }
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(settings), "utf-8")
    command = [sys.executable, "-m", "otel_watchdog_collector", "serve", "--config", str(config)]
    url = f"http://127.0.0.1:{port}"
    with served(command, f"{url}/readyz", folder, PYTHONPATH=_source()):
        yield url


def _source():
    """Return where the library and the service of this checkout are imported from."""
    return os.pathsep.join([str(ROOT), str(ROOT / "collector")])


def _run(python, program, *urls):
    """Run an agent to its end; return the lines that it printed."""
    done = subprocess.run(
        [python, str(HERE / program), *urls],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()


def _pydantic_ai(service):
    """Run an agent of pydantic-ai; return our texts in each of its requests, and its trace."""
    *_, told, trace = _run(sys.executable, "fleet_pydantic_ai.py", service)
    return json.loads(told), trace


class _Model(ModelServer):
    """A model that makes the same call until it is told, then some others."""

    def _calls(self, request, turn, number):
        others = sum(bool(one.told) for one in self.requests)
        if others:
            self.script.arguments = {"at": f"other_{others}.py"}
        return super()._calls(request, turn, number) if others <= OTHERS else []


def _openai_agents(service):
    """Run an agent of the OpenAI Agents SDK; its model has our texts."""
    python = binary("openai-agents")
    with contextlib.closing(_Model()) as model:
        *_, trace = _run(python, "fleet_openai_agents.py", service, model.url)
        assert model.rejected == []
        return [request.told for request in model.requests], trace


@pytest.mark.parametrize("run", [_pydantic_ai, _openai_agents])
def test_an_agent_is_corrected_at_its_next_turn_and_its_trace_shows_it(service, phoenix, run):
    """The very next request holds the nudge, and the trace has it, delivered and heeded."""
    told, trace_id = run(service)

    def look():
        rows = ask(f"{service}/api/v1/corrections")["items"]
        mine = [row["fields"] for row in rows if row["fields"]["trace_id"] == trace_id]
        return mine if mine and mine[0].get("outcome") else None

    (row,) = eventually(look)
    project = run.__name__.removeprefix("_")
    spans = eventually(lambda: _of(phoenix, project, trace_id))
    by_name = {span["name"]: span for span in spans}
    nudge = by_name[f"watchdog-nudge-turn-{row['turn']}"]
    ids = {span["context"]["span_id"] for span in spans}
    assert [len(texts) for texts in told] == [0] * row["turn"] + [1] * (OTHERS + 1)
    assert (row["state"], row["outcome"]) == ("delivered", "heeded")
    assert nudge["span_kind"] == "GUARDRAIL"
    assert nudge["attributes"]["output.value"] == told[-1][0]
    assert nudge["parent_id"] in ids
    assert [span["name"] for span in spans if span["parent_id"] not in ids] == [_root(spans)]


def _of(phoenix, project, trace_id):
    """Return a trace's spans as Phoenix gives them back, once all are there."""
    found = ask(f"{phoenix}/v1/projects/{project}/spans?limit=500")["data"]
    mine = [span for span in found if span["context"]["trace_id"] == trace_id]
    names = {span["name"].partition("-turn-")[0] for span in mine}
    has_root = any(not span["parent_id"] for span in mine)
    return mine if has_root and {"watchdog-nudge", "watchdog-outcome"} <= names else None


def _root(spans):
    """Return the name of the span that began first."""
    return min(spans, key=lambda span: span["start_time"])["name"]
