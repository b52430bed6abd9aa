"""The demo, run as people run it."""

import subprocess
import sys

import pytest

NAMES = [
    "order-desk",
    "build-fixer",
    "build-watcher",
    "auditor",
    "price-scout",
    "planner",
    "file-clerk",
    "release-bot",
    "note-taker",
    "data-loader",
    "crawler",
    "mail-desk",
]


def lines_of(printed):
    """Return the table's first line of each agent, by name, as its cells."""
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines()]
    return {row[0]: row for row in cells if row and row[0] in NAMES}


@pytest.mark.timeout(240)
def test_twelve_agents_end_with_the_fleets_report():
    """Honest work is left alone, those that are stuck are corrected, and each is what it should be."""
    command = [
        sys.executable,
        "-m",
        "otel_watchdog_collector",
        "demo",
        "--headless",
        "--delay",
        "0",
    ]

    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)  # noqa: S603 - our own command

    assert (done.returncode, done.stderr) == (0, "")
    agents = lines_of(done.stdout)
    assert sorted(agents) == sorted(NAMES)
    untouched = {name for name, row in agents.items() if row[5] == "none"}
    assert untouched == {"order-desk", "build-watcher", "auditor", "crawler", "mail-desk"}
    assert {name: row[3] for name, row in agents.items() if row[3] != "ready"} == {
        "planner": "auth-required",
        "crawler": "no-output",
    }
    assert "terminate" in done.stdout
    assert "Worst drifters: smolagents/file-clerk" in done.stdout
    assert "Money: unknown" in done.stdout
