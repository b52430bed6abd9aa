"""The model server, and the record of what works."""

import importlib.metadata
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.integration.adapters.model_server import ModelServer


def pytest_configure(config):
    config.addinivalue_line("markers", "works(column): fills a column of the table of frameworks")


@pytest.fixture(scope="session")
def model_server():
    server = ModelServer()
    yield server
    server.close()


SAID = ("no", "yes", "-")
"""What is said of a column; of several tests, that which stands first here."""

_found: dict[str, dict[str, Any]] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    marker = item.get_closest_marker("works")
    cls = getattr(item, "cls", None)
    if marker and cls and (call.when == "call" or report.outcome != "passed"):
        entry = _found.setdefault(
            cls.framework,
            {
                "package": cls.package,
                "version": importlib.metadata.version(cls.package),
                "works": {},
                "lacks": {},
            },
        )
        column, before = marker.args[0], entry["works"].get(marker.args[0], "-")
        said = {"passed": "yes", "failed": "no", "skipped": "-"}[report.outcome]
        entry["works"][column] = next(one for one in SAID if one in (before, said))
        if report.skipped:
            entry["lacks"][column] = report.longrepr[2].removeprefix("Skipped: ")
        if entry["works"][column] != "-":
            entry["lacks"].pop(column, None)
    return report


def pytest_sessionfinish():
    """Write what was found into the file that `ADAPTER_RESULTS` names, if it is set."""
    file = os.environ.get("ADAPTER_RESULTS")
    if not file or not _found:
        return
    path = Path(file)
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps(known | _found, indent=1, sort_keys=True) + "\n", "utf-8")
