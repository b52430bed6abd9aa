"""Tokens, rates, counters."""

import pytest

from otel_watchdog.testing import FakeClock
from otel_watchdog_collector.access import ADMIN, INGEST, OPERATE, READ, Access, digest
from otel_watchdog_collector.config import TokenConfig
from otel_watchdog_collector.limits import MAX_CLIENTS, RateLimit
from otel_watchdog_collector.meters import COUNTERS, Meters

SECRET = "0123456789abcdef"  # noqa: S105 - of the tests


@pytest.mark.parametrize("given", [{"token": SECRET}, {"sha256": digest(SECRET)}])
def test_a_token_may_stand_in_the_settings_as_its_digest(given):
    """So that a file that leaks gives nothing away."""
    access = Access([TokenConfig(name="ci", role="read", tenant="t", **given)])

    client = access.client(f"Bearer {SECRET}")

    assert client is not None
    assert (client.name, client.tenant, client.role) == ("ci", "t", "read")


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", f"Basic {SECRET}", SECRET, f"Bearer {SECRET}x"]
)
def test_anything_else_is_nobody(header):
    """No token, another scheme, another secret."""
    access = Access([TokenConfig(name="ci", role="read", token=SECRET)])

    assert access.client(header) is None


def test_without_tokens_everybody_may_do_everything():
    """Then the service listens to its own machine alone."""
    client = Access().client(None)

    assert client is not None
    assert all(client.may(action) for action in (INGEST, READ, OPERATE, ADMIN))


def test_a_rate_is_refilled_with_time():
    """Ten seconds' worth may be saved up; what was overdrawn is paid back first."""
    clock = FakeClock()
    rate = RateLimit(10, clock)

    rate.spend("a", 150)
    allowed = [rate.allows("a"), rate.allows("b")]
    clock.advance(5.1)

    assert allowed == [False, True]
    assert rate.allows("a")


def test_no_rate_is_no_limit_and_clients_are_bounded():
    """Whatever number of addresses asks."""
    unlimited, limited = RateLimit(0, FakeClock()), RateLimit(1, FakeClock())

    for number in range(MAX_CLIENTS + 10):
        limited.spend(str(number), 1)
        unlimited.spend(str(number), 10**9)

    assert unlimited.allows("0")
    assert len(limited._left) == MAX_CLIENTS


def test_a_count_that_is_not_declared_is_a_mistake():
    """Each has its help text."""
    meters = Meters()

    with pytest.raises(KeyError):
        meters.add("spans")

    assert all(text.endswith(".") for text in COUNTERS.values())
