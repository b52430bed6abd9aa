"""Every page in a real browser: it shows what is there, in light and in dark, without a fault."""

import pytest

from otel_watchdog_collector.facts import Table

PAGES = ["/fleet", "/fleet/corrections", "/fleet/activity", "/fleet/approvals", "/fleet/settings"]


@pytest.fixture
def small_fleet(serve):
    """Return a service with three agents, a run of which was corrected, and a question."""
    fleet = serve()
    for number, agent in enumerate(("fixer", "writer", "clerk"), start=1):
        fleet.send(agent=agent, conversation=f"c-{agent}", seed=number)
    asked = {"state": "asked", "agent": "shop/fixer", "session": "c-fixer", "step": "asked"}
    asked |= {"scope": "once", "by": "", "reason": "repeated_tool_call"}
    asked |= {"asked_at": "2026-11-30T10:00:00.000Z", "at": "2026-11-30T10:00:00.000Z"}
    fleet.keep([fleet.row(Table.APPROVALS, "c-fixer/3/x", **asked)])
    fleet.sweep()
    return fleet


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_no_serious_fault(small_fleet, look, path, scheme):
    """Axe-core finds none, in either scheme; nothing is fetched from elsewhere."""
    looker = look(color_scheme=scheme)

    answer = looker.open(small_fleet.url + path)

    assert answer.status == 200
    assert looker.page.locator("h1").count() == 1
    assert looker.faults() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_agent_and_its_run_have_no_serious_fault(small_fleet, look, scheme):
    """From the table to the agent, from there to its run, by what there is to click."""
    looker = look(color_scheme=scheme)
    looker.open(f"{small_fleet.url}/fleet")

    looker.page.get_by_role("link", name="fixer").click()
    looker.page.wait_for_url("**/fleet/agent*")
    agent_faults = looker.faults()
    looker.page.locator("#runs + .scroll a").first.click()
    looker.page.wait_for_url("**/fleet/run*")

    assert agent_faults == []
    assert looker.faults() == []
    assert looker.page.locator("article.correction").count() == 1


def test_a_run_shows_what_changed_after_its_correction(small_fleet, look):
    """Turns in order, the finding and the correction in the turn that they judge, then more turns."""
    looker = look()

    looker.open(small_fleet.run_page("fixer"))

    headings = looker.page.locator(".turns h2").all_inner_texts()
    corrected = looker.page.locator("li:has(article.correction)")
    assert headings == [f"Turn {number}" for number in range(1, 9)]
    assert corrected.get_attribute("id") == "turn-6"
    assert "[watchdog]" in corrected.locator("blockquote").inner_text()
    assert corrected.locator(".change dd").all_inner_texts() == [
        "3 calls, 1 different: 3 ls",
        "2 calls, 1 different: 2 ls",
    ]


def test_an_empty_fleet_says_how_to_begin(serve, look):
    """Every page works before the first agent; the first tells where to send spans."""
    fleet = serve()
    looker = look()

    for path in PAGES[1:]:
        assert looker.open(fleet.url + path).status == 200
    looker.open(fleet.url)

    assert looker.page.locator(".empty h2").inner_text() == "No agent has been heard of"
    assert fleet.url in looker.page.locator(".empty code").inner_text()
    assert looker.faults() == []


def test_everything_is_reached_by_keyboard(small_fleet, look):
    """The first stop leads past the header; the table's links are stops of their own."""
    looker = look()
    looker.open(f"{small_fleet.url}/fleet")
    press = looker.page.keyboard.press

    press("Tab")
    skips = looker.page.evaluate("document.activeElement.textContent")
    press("Enter")
    looker.page.get_by_label("Agent", exact=True).press_sequentially("writ")
    looker.wait_for("#fleet tbody tr", 1)
    for _ in range(30):
        press("Tab")
        if looker.page.evaluate("document.activeElement.id") == "agent-1":
            break
    press("Enter")
    looker.page.wait_for_url("**/fleet/agent?id=shop%2Fwriter")

    assert skips == "Skip to the content"
    assert looker.page.locator("h1").inner_text() == "writer shop"


def test_approvals_show_who_waits(small_fleet, look):
    """A question that is not answered stands above those that are."""
    looker = look()

    looker.open(f"{small_fleet.url}/fleet/approvals")

    assert looker.page.locator("#waiting + .scroll tbody tr").count() == 1
    assert looker.page.locator("#done + p").inner_text() == "None."


def test_money_that_is_not_known_is_called_unknown(small_fleet, look):
    """No figure is made up: not for what was saved, not for what was spent."""
    looker = look()

    looker.open(f"{small_fleet.url}/fleet/corrections")

    figures = looker.page.locator(".figures > div")
    assert figures.filter(has_text="Money saved").locator(".big").inner_text() == "unknown"
    assert figures.filter(has_text="Money spent").locator(".big").inner_text() == "unknown"
    assert figures.first.locator(".big").inner_text() == "3"


def test_settings_are_tried_before_they_are_changed(small_fleet, look):
    """A preview counts what a change would have made of the last week; it changes nothing."""
    looker = look()
    looker.open(f"{small_fleet.url}/fleet/settings")
    before = small_fleet.client.get("/api/v1/config").json()

    looker.page.get_by_label("The setting watchdog").fill("max_corrections: 0")
    looker.page.get_by_role("button", name="Preview").click()
    said = looker.page.locator("#preview").inner_text()
    faults = looker.faults()
    looker.page.get_by_label("The setting watchdog").fill("no_such_setting: 1")
    looker.page.get_by_role("button", name="Preview").click()

    assert said.startswith("This change would have fired 0 times last week")
    assert "the settings as they are, 3." in said
    assert faults == []
    assert "no_such_setting" in looker.page.get_by_role("alert").inner_text()
    assert [trouble for trouble in looker.troubles if "422" not in trouble] == []
    looker.troubles.clear()
    assert small_fleet.client.get("/api/v1/config").json() == before


def test_modes_and_the_kill_switch_are_changed_by_forms(small_fleet, look):
    """What the API does, people can; the header says at once what holds."""
    looker = look()
    looker.open(f"{small_fleet.url}/fleet/settings")

    looker.page.get_by_label("Mode").select_option("enforce")
    looker.page.get_by_role("button", name="Change the mode").click()
    mode = looker.page.locator("header .mode").inner_text()
    looker.page.get_by_role("button", name="Kill switch").click()
    killed = looker.page.locator("header .mode").inner_text()
    looker.page.get_by_role("button", name="Turn the kill switch off").click()

    assert mode == "Agents are corrected: enforce"
    assert killed == "Kill switch on (api)"
    assert looker.page.locator("header .mode").inner_text() == mode


def test_an_agent_is_left_alone_and_healed_again(small_fleet, look):
    """The button changes with what holds."""
    looker = look()
    looker.open(f"{small_fleet.url}/fleet/agent?id=shop/fixer")

    looker.page.get_by_role("button", name="Leave it alone").click()
    notice = looker.page.locator(".notice").inner_text()
    looker.page.get_by_role("button", name="Let it be healed again").click()

    assert notice.startswith("Left alone since")
    assert looker.page.get_by_role("button", name="Leave it alone").is_visible()
