"""Takes the pictures of the fleet's pages, light and dark: `make screenshots`.

Runs the demo's twelve agents before a service on loopback, and looks at each page with headless
Chromium. Of the past, which the demo has none of, some days of would-be restarts are put in.
"""

import asyncio
import os
import shutil
import sys
import threading
from pathlib import Path

import httpx
from playwright.sync_api import Browser, sync_playwright

from otel_watchdog.clock import system_clock
from otel_watchdog_collector.clock import system_wall_clock
from otel_watchdog_collector.config import load
from otel_watchdog_collector.demo.command import JUDGED_SECONDS, SETTINGS, start
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.health import iso
from otel_watchdog_collector.service import Service

PICTURES = Path(__file__).parent / "_static"
SIZE = {"width": 1280, "height": 860}
DAY = 86_400
RESTARTS = (0, 2, 1, 0, 0, 3, 1, 0, 4, 2, 0, 0, 1, 0, 0, 2, 5, 1, 0, 0, 0, 1, 0, 2, 0, 0, 1, 0, 0)
"""Would-be restarts of each past day, the oldest first."""

PAGES = {
    "table": "/fleet",
    "agent": "/fleet/agent?id=smolagents%2Ffile-clerk",
    "corrections": "/fleet/corrections",
    "activity": "/fleet/activity",
    "approvals": "/fleet/approvals",
    "settings": "/fleet/settings",
}


def past() -> list[Row]:
    """Return what is put in: would-be restarts, and a question that waits for an answer."""
    now = system_wall_clock()
    rows = []
    for number, many in enumerate(RESTARTS):
        at = now - (len(RESTARTS) - number) * DAY
        for time in range(many):
            fields = {"id": f"{number}-{time}", "time": iso(at), "user": "watchdog"}
            fields |= {"agent": "semantic-kernel/crawler", "detail": {}}
            fields["action"] = "watchdog-restart-observed"
            rows.append(_row(Table.AUDIT, fields["id"], at, fields))
    asked = {"state": "asked", "agent": "pydantic-ai/build-fixer", "session": "build-fixer-1"}
    asked |= {"step": "asked", "scope": "once", "by": None, "reason": "repeated_tool_call"}
    asked |= {"asked_at": iso(now - 90), "at": iso(now - 90)}
    rows.append(_row(Table.APPROVALS, "build-fixer-1/5", now - 90, asked))
    return rows


def _row(table: Table, id_: str, at: float, fields: dict[str, object]) -> Row:
    return Row(table=table, tenant="default", id=id_, at=at, fields=fields)


def shoot(browser: Browser, url: str, scheme: str) -> None:
    """Take a picture of each page in one color scheme."""
    page = browser.new_context(viewport=SIZE, color_scheme=scheme, timezone_id="UTC").new_page()
    found = httpx.get(f"{url}/api/v1/corrections", params={"agent": "price-scout"}).json()
    run = f"/fleet/correction?id={found['items'][0]['id']}"
    for name, path in {**PAGES, "run": run}.items():
        page.goto(f"{url}{path}?live=off" if name == "table" else f"{url}{path}")
        if name == "settings":
            page.get_by_label("The setting watchdog").fill(
                "max_corrections: 2\nresponse_turns: 5\n"
            )
            page.get_by_role("button", name="Preview").click()
        picture = PICTURES / f"fleet-{name}-{scheme}.png"
        page.screenshot(path=picture)
        print(picture.relative_to(PICTURES.parents[1]))  # noqa: T201 - a script


def main() -> None:
    """Take the pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("chromium is not installed")
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def run(work: object) -> object:
        return asyncio.run_coroutine_threadsafe(work, loop).result(60)  # type: ignore[arg-type] # any of the service's

    service = Service(load(None, {**SETTINGS, "http_port": 0}))
    stop = threading.Event()
    run(service.start())
    try:
        url = f"http://127.0.0.1:{service.http_port}"
        players = start(url, 0.3, stop)
        for player in players:
            player.join()
        stop_at = system_clock() + JUDGED_SECONDS
        while system_clock() < stop_at:
            threading.Event().wait(0.5)
        run(service.intake.keep(past()))
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=flags)
            for scheme in ("light", "dark"):
                shoot(browser, url, scheme)
            browser.close()
    finally:
        stop.set()
        run(service.stop())


if __name__ == "__main__":
    main()
