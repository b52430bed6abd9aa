"""One incident for what has one cause."""

import pytest

from otel_watchdog_collector.fleet.incidents import IncidentKind, Incidents, Trouble
from otel_watchdog_collector.fleet_config import FleetConfig

AUTH = IncidentKind.AUTH


@pytest.fixture
def incidents():
    """Return incidents with the defaults: half of the agents, three at least, ten minutes."""
    return Incidents(FleetConfig())


def hit(incidents, agent, at, population=4, scope="anthropic"):
    """Let an agent get into trouble; return whether people hear of a new incident."""
    trouble = Trouble(AUTH, scope, agent, f"{agent}: alone")
    return incidents.raise_(trouble, at, lambda: population) is not None


def test_agents_that_follow_each_other_share_one(incidents):
    """The third of four makes it the fleet's, with the likely cause."""
    new = [hit(incidents, agent, at) for agent, at in (("a", 0), ("b", 300), ("c", 590))]

    (found,) = incidents.open
    assert new == [True, False, False]
    assert found.fleet_wide
    assert found.cause.startswith("3 of 4 agents of anthropic lost their credential together")
    assert found.fields()["severity"] == "error"


@pytest.mark.parametrize(
    ("agents", "population"), [("ab", 2), ("abc", 7)], ids=["too few", "too small a share"]
)
def test_few_of_them_are_not_the_fleet(incidents, agents, population):
    """Two agents, or less than half."""
    for agent in agents:
        hit(incidents, agent, 0, population)

    (found,) = incidents.open
    assert not found.fleet_wide
    assert found.cause == "a: alone"


def test_those_that_come_much_later_have_one_of_their_own(incidents):
    """Ten minutes after the last that joined."""
    assert hit(incidents, "a", 0)
    assert hit(incidents, "b", 601)


def test_those_that_drip_in_slowly_are_no_burst(incidents):
    """Each within ten minutes of the last, but never three within ten minutes."""
    for number, agent in enumerate("abcd"):
        hit(incidents, agent, number * 500)

    (found,) = incidents.open
    assert not found.fleet_wide


def test_other_providers_and_kinds_are_apart(incidents):
    """Nothing joins what it has nothing to do with."""
    hit(incidents, "a", 0)
    hit(incidents, "b", 0, scope="openai")
    incidents.raise_(Trouble(IncidentKind.WEDGE, "anthropic", "a", "w"), 0, lambda: 4)

    assert len(incidents.open) == 3


def test_an_agent_is_told_of_once(incidents):
    """However often it is looked at."""
    assert hit(incidents, "a", 0)
    incidents.take()

    assert not hit(incidents, "a", 30)
    assert incidents.take() == []


def test_it_closes_with_its_last_agent(incidents):
    """And names all that ever were in it."""
    for agent in "abc":
        hit(incidents, agent, 0)

    closed = [incidents.clear(AUTH, agent, 60) for agent in "abc"]

    assert [one is not None for one in closed] == [False, False, True]
    fields = incidents.take()[0].fields()
    assert (fields["state"], fields["agents"], fields["kept"]) == ("closed", ["a", "b", "c"], None)
    assert incidents.open == []


def test_it_goes_on_after_a_restart_of_the_service(incidents):
    """With the agents that are in it, so that they can leave it."""
    hit(incidents, "a", 0)
    kept = incidents.take()[0].fields()["kept"]
    again = Incidents(FleetConfig())

    again.restore(kept)

    assert not hit(again, "a", 5)
    assert not hit(again, "b", 6)
    assert again.clear(AUTH, "a", 7) is None
    assert again.clear(AUTH, "b", 7) is not None


def test_a_fleet_of_thousands_names_some(incidents):
    """A row has an end."""
    for number in range(300):
        hit(incidents, f"a{number}", 0, population=300)

    assert len(incidents.open[0].fields()["agents"]) == 200
    assert incidents.open[0].cause.startswith("300 of 300")
