"""Every panel's expression answers on a real Prometheus, and alert rules do what they say."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from tests.integration.backends.conftest import (
    ROOT,
    ask,
    binary,
    eventually,
    run_agent,
    served,
    system,
)

METRICS_PORT, SERVICE_PORT, PORT = 19464, 14318, 19090
FOLDER = ROOT / "dashboards"
HERE = Path(__file__).parent


def expressions():
    """Return the main dashboard's expressions by panel."""
    board = json.loads((FOLDER / "grafana" / "otel-watchdog-prometheus.json").read_text("utf-8"))
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory):
    """Return the address of a Prometheus that scrapes an agent's process and the fleet service."""
    folder = tmp_path_factory.mktemp("prometheus")
    program = system("prometheus")
    scrape = {"targets": [f"127.0.0.1:{port}" for port in (METRICS_PORT, SERVICE_PORT)]}
    job = {"job_name": "watchdog", "static_configs": [scrape]}
    settings = {"global": {"scrape_interval": "1s"}, "scrape_configs": [job]}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(settings), "utf-8")
    url = f"http://127.0.0.1:{PORT}"
    python = binary("prometheus")
    service = [sys.executable, "-m", "otel_watchdog_collector", "serve", "--store", "memory:"]
    service += ["--mode", "feedback", "--grpc-port", "-1", "--http-port", str(SERVICE_PORT)]
    with (
        served(
            [python, str(HERE / "seed_metrics.py"), str(METRICS_PORT)],
            f"http://127.0.0.1:{METRICS_PORT}/metrics",
            folder,
            PYTHONPATH=str(ROOT),
        ),
        served(service, f"http://127.0.0.1:{SERVICE_PORT}/readyz", _made(folder / "service")),
        served(
            [
                program,
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=data",
                f"--web.listen-address=127.0.0.1:{PORT}",
            ],
            f"{url}/-/ready",
            folder,
        ),
    ):
        run_agent(f"http://127.0.0.1:{SERVICE_PORT}/v1/traces")
        yield url


def _made(folder):
    folder.mkdir()
    return folder


@pytest.mark.timeout(200)
def test_every_panel_has_series(prometheus):
    """A dashboard with an empty panel is a dashboard with a wrong name in it."""

    def empty():
        found = []
        for title, expression in expressions():
            asked = expression.replace("$__rate_interval", "5s").replace("$__range", "10s")
            answer = ask(f"{prometheus}/api/v1/query?query={quote(asked)}")
            values = [row["value"][1] for row in answer["data"]["result"]]
            if not values or set(values) == {"NaN"}:
                found.append((title, asked))
        return found

    eventually(lambda: not empty(), seconds=40)


@pytest.mark.timeout(100)
def test_alert_rules_do_what_they_say():
    """promtool checks them and runs their unit tests."""
    promtool = system("promtool")

    for command in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
        done = subprocess.run(
            [promtool, *command],
            cwd=FOLDER / "prometheus",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.timeout(100)
def test_the_dashboards_are_what_the_script_makes():
    """Nobody has edited them by hand."""
    done = subprocess.run(
        [binary("dashboards"), "build.py", "--check"],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
