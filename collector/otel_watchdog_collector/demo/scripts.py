"""What the demo's agents do: honest work, and the ways in which agents get stuck."""

from typing import Final

from otel_watchdog_collector.demo.steps import Call, Refused, Say, Script

MAX_TURNS: Final = 14
"""Turns after which an agent gives up by itself that nobody talks to."""


def polls() -> Script:
    """Wait for a build that goes on: the same call, and each time another answer."""
    for done in range(0, 100, 9):
        yield Call(
            tool="build_status", arguments={"build": 812}, result=f"running, {done} % of tests"
        )
    yield Call(tool="build_status", arguments={"build": 812}, result="passed, 412 tests")
    yield Say(text="Build 812 has passed: 412 tests.")


def reads_pages() -> Script:
    """Read a long report page after page: one tool alone, and always something new."""
    for page in range(1, 11):
        yield Call(
            tool="read_page",
            arguments={"file": "audit.pdf", "page": page},
            result=f"Page {page}. Finding {page * 7}: supplier {page * 131} was paid "
            f"{page * 1900} EUR against order {page * 37 + 1000}.",
        )
    yield Say(text="The audit lists ten payments; none lacks an order.")


def rewords() -> Script:
    """Ask the same question in ever new words, until told that the answer stays the same."""
    words = ("list", "current list", "complete list", "overview", "full overview", "summary")
    for number in range(MAX_TURNS):
        told = yield Call(
            tool="search",
            arguments={"query": f"{words[number % 6]} of prices for plan {number // 6 + 1} please"},
            result="Our plans: contact sales for an offer that suits your company and its size.",
        )
        if told:
            break
    yield Call(tool="open_page", arguments={"url": "example.com/plans"}, result="Starter: 9 EUR")
    yield Say(text="The starter plan costs 9 EUR; the others only by offer.")


def is_walled() -> Script:
    """Be refused by the model's provider: no restart and no correction can help."""
    for _ in range(5):
        yield Refused(error="Error code: 401 - invalid x-api-key")


def loops() -> Script:
    """Read one file again and again, until told; then look elsewhere."""
    for _ in range(MAX_TURNS):
        told = yield Call(
            tool="read_file", arguments={"path": "main.py"}, result="config.load('config.toml')"
        )
        if told:
            break
    yield Call(tool="read_file", arguments={"path": "config.toml"}, result="legacy-tls = '0.1'")
    yield Say(text="config.toml names a package that is gone; remove the line `legacy-tls`.")


def ignores() -> Script:
    """List the same folder for ever, whatever is said."""
    for _ in range(MAX_TURNS + 8):
        yield Call(tool="list_folder", arguments={"path": "src"}, result="main.py\nutil.py")


def goes_in_circles() -> Script:
    """Undo by one call what the other did, until told."""
    for _ in range(MAX_TURNS // 2):
        told = yield Call(
            tool="set_flag", arguments={"name": "cache", "value": "on"}, result="cache is on"
        )
        if told:
            break
        told = yield Call(
            tool="set_flag", arguments={"name": "cache", "value": "off"}, result="cache is off"
        )
        if told:
            break
    yield Call(tool="run_tests", arguments={"suite": "cache"}, result="12 passed in 3.1 s")
    yield Say(text="The cache is on, and its tests pass.")


def is_done_and_goes_on() -> Script:
    """Be finished, and thank for ever, until told to hand over."""
    yield Call(tool="write_file", arguments={"path": "notes.md"}, result="wrote 1,204 bytes")
    told = yield Say(text="The task is complete: notes.md is written.")
    thanks = ("You are welcome!", "Glad to help.", "Thank you, all is done.", "Nothing more to do.")
    for number in range(MAX_TURNS):
        if told:
            return
        told = yield Say(text=thanks[number % len(thanks)])


def fails_and_recovers() -> Script:
    """Run into one error again and again; read the manual when told."""
    for port in range(5432, 5432 + MAX_TURNS):
        told = yield Call(
            tool="connect",
            arguments={"host": "db", "port": port},
            result="Error: connection refused: no pg_hba.conf entry for host",
        )
        if told:
            break
    yield Call(tool="read_file", arguments={"path": "README"}, result="Use the socket /run/db.sock")
    yield Call(tool="connect", arguments={"socket": "/run/db.sock"}, result="connected to orders")
    yield Say(text="The database is reached by its socket.")


def hangs() -> Script:
    """Work a little, then begin a call that never comes back; as `hangs` of its member says."""
    yield Call(tool="fetch", arguments={"url": "example.com/1"}, result="one")
    yield Call(tool="fetch", arguments={"url": "example.com/2"}, result="two")


def answers() -> Script:
    """Answer a customer, as it should be."""
    yield Call(tool="find_order", arguments={"id": 7781}, result="sent on Monday, arrives Thursday")
    yield Call(tool="send_mail", arguments={"to": "customer 91"}, result="sent")
    yield Say(text="Your order arrives on Thursday.")
