"""Pages that are open follow what happens, at once."""

SECOND_MS = 1000
TRIES = 3


def is_quick(try_once):
    """Say whether one of few tries was within the second: others may use the machine, too."""
    return any(try_once(number) for number in range(TRIES))


def arrives(locator, text):
    """Say whether a text stands there within a second."""
    from playwright.sync_api import TimeoutError as Late  # noqa: PLC0415 - in this environment alone

    try:
        locator.filter(has_text=text).wait_for(timeout=SECOND_MS)
    except Late:
        return False
    return True


def test_a_correction_is_in_the_table_within_a_second(serve, look):
    """The page is not loaded anew, what one was on stays, and those who hear the page are told."""
    fleet = serve()
    fleet.send(agent="quiet", conversation="q", seed=1, turns=[1])
    fleet.flush()
    looker = look()
    looker.open(f"{fleet.url}/fleet")
    looker.page.evaluate("window.sameDocument = true")
    looker.page.locator("#agent-1").focus()

    def correct(number):
        agent = f"looping-{number}"
        fleet.send(agent=agent, conversation=f"l{number}", seed=number + 2)
        row = looker.page.get_by_role("row").filter(has_text=agent)
        return arrives(row, "nudge")

    assert is_quick(correct)
    assert looker.page.evaluate("window.sameDocument")
    assert looker.page.evaluate("document.activeElement.id") == "agent-1"
    assert "nudge at turn 6" in looker.page.get_by_role("status").inner_text()


def test_a_correction_is_in_an_open_run_within_a_second(serve, look):
    """With the turns that led to it."""
    fleet = serve()
    looker = look()

    def correct(number):
        agent = f"fixer-{number}"
        fleet.send(agent=agent, conversation=f"c{number}", seed=number + 1, turns=range(1, 5))
        looker.open(fleet.run_page(agent))
        looker.page.wait_for_timeout(500)  # until the stream is open
        body = {"agent": agent, "conversation": f"c{number}", "seed": number + 1}
        fleet.send(**body, turns=range(5, 9))
        return arrives(looker.page.locator("article.correction"), "nudge")

    assert is_quick(correct)
    assert looker.page.locator(".turns > li").count() == 8


def test_a_page_that_was_told_to_stay_as_it_is_does(serve, look):
    """Whoever is disturbed by moving pages can stop them."""
    fleet = serve()
    fleet.send(agent="quiet", conversation="q", seed=1, turns=[1])
    fleet.flush()
    looker = look()
    looker.open(f"{fleet.url}/fleet")

    looker.page.get_by_role("link", name="Stop that").click()
    looker.page.wait_for_url("**live=off*")
    fleet.send(agent="looping", conversation="l", seed=2)
    fleet.flush()
    looker.page.wait_for_timeout(SECOND_MS)

    assert looker.page.get_by_role("row").filter(has_text="looping").count() == 0
    assert looker.page.get_by_role("row").filter(has_text="quiet").count() == 1


def test_streams_end_with_the_service(serve, look):
    """A page that is open does not keep the service from stopping in time."""
    fleet = serve()
    looker = look()
    looker.open(f"{fleet.url}/fleet")
    looker.page.wait_for_timeout(500)
    viewers = fleet.service._live.viewers

    fleet.wait(fleet.service.stop())
    looker.page.goto("about:blank")
    looker.troubles.clear()  # the page says that its stream was cut

    assert (viewers, fleet.service._live.viewers) == (1, 0)
