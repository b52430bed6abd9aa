"""A service on loopback, agents that are put before it, and a real headless Chromium.

`make test-pages` makes the environment that they need; elsewhere these tests say that it is missing.
"""

import contextlib
import os
import shutil

import httpx
import pytest

from otel_watchdog_collector.clock import system_wall_clock
from otel_watchdog_collector.facts import Row, Table
from tests.otel_watchdog_collector import spans
from tests.otel_watchdog_collector.conftest import Running

PROTOBUF = {"content-type": "application/x-protobuf"}
FAULTS = ("serious", "critical")


class Fleet(Running):
    """A service, and what its agents send."""

    def send(self, **facts):
        """Have an agent loop; see `spans.request`."""
        facts.setdefault("start", int(system_wall_clock()) - 1000)
        body = spans.request(**facts).SerializeToString()
        answer = httpx.post(f"{self.url}/v1/traces", content=body, headers=PROTOBUF, timeout=20)
        assert answer.status_code == 200

    def sweep(self):
        """Have all agents judged now."""
        self.wait(self.service.fleets.sweep())

    def keep(self, rows):
        """Have rows in the store."""
        self.wait(self.service.intake.keep(rows))

    def row(self, table, id_, **fields):
        """Return a row of the default tenant, of now."""
        return Row(table=table, tenant="default", id=id_, at=system_wall_clock(), fields=fields)

    def runs(self):
        """Return what is known of runs, the latest first."""
        return [item["fields"] for item in self.client.get("/api/v1/runs").json()["items"]]

    def flush(self):
        """Wait until all that was sent is in the store."""
        self.keep([self.row(Table.FLEET, "flush")])

    def run_page(self, agent):
        """Return the address of an agent's latest run."""
        self.flush()
        run = next(one for one in self.runs() if one["agent"] == agent)
        return httpx.URL(
            f"{self.url}/fleet/run", params={"session": run["session"], "run": run["run"]}
        )


@pytest.fixture
def serve():
    """Return what starts services; they are stopped when the test ends."""
    with contextlib.ExitStack() as stack:

        def start(**settings):
            fleet = Fleet(**settings)
            stack.callback(fleet.stop)
            return fleet

        yield start


@pytest.fixture(scope="session")
def chromium():
    """Return a running browser."""
    api = pytest.importorskip("playwright.sync_api", reason="`make test-pages` installs it")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is not installed: `make test-pages` does it on Debian")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        yield browser
        browser.close()


class Looker:
    """Somebody with a browser, who minds what goes wrong in it."""

    def __init__(self, chromium, **options):
        self.context = chromium.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.troubles: list[str] = []
        self.dialogs: list[str] = []
        self.hosts: set[str] = set()
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self.hosts.add(httpx.URL(request.url).host))

    def open(self, url):
        """Go to a page; return what it was answered with."""
        return self.page.goto(str(url))

    def wait_for(self, selector, number):
        """Wait until there are so many of something."""
        found = self.page.locator(selector)
        found.nth(number).wait_for(state="detached")
        if number:
            found.nth(number - 1).wait_for(state="attached")

    def faults(self):
        """Return what axe-core finds that is serious, as rule and place."""
        from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - in this environment alone

        found = Axe().run(self.page).response["violations"]
        return [
            (one["id"], node["html"][:200], node["failureSummary"])
            for one in found
            if one["impact"] in FAULTS
            for node in one["nodes"]
        ]

    def _note(self, message):
        if message.type in {"error", "warning"}:
            self.troubles.append(message.text)

    def _dismiss(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()


@pytest.fixture
def look(chromium):
    """Return what opens browsers; at the end nothing may have gone wrong in them."""
    lookers = []

    def start(**options):
        looker = Looker(chromium, **options)
        lookers.append(looker)
        return looker

    yield start
    for looker in lookers:
        looker.context.close()
    assert [trouble for looker in lookers for trouble in looker.troubles] == []
    assert [one for looker in lookers for one in looker.dialogs] == []
    assert {host for looker in lookers for host in looker.hosts} <= {"127.0.0.1"}
