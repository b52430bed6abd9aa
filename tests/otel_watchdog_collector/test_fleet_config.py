"""Settings of the fleet's health."""

import pytest
from typer.testing import CliRunner

from otel_watchdog.errors import ConfigError
from otel_watchdog_collector.__main__ import app
from otel_watchdog_collector.config import load
from otel_watchdog_collector.fleet_config import FleetConfig
from otel_watchdog_collector.health import HealingMode

SECRET = "0123456789abcdef-hidden"  # noqa: S105 - of the tests


def fleet(**settings):
    """Return settings as the service reads them."""
    return load(None, {"fleet": settings}).config.fleet


def test_by_itself_it_only_observes():
    """It takes a word of a person before anybody's process is touched."""
    config = FleetConfig()

    authority = config.model_dump(include={"mode", "action"})
    assert authority == {"mode": HealingMode.OBSERVE, "action": None}
    assert list(config.backoff_seconds) == [60, 120, 240, 480, 960]
    assert (config.crash_loop_after, config.login_streak) == (5, 3)
    assert (config.healthy_reset_seconds, config.no_production_seconds) == (1800, 21_600)


@pytest.mark.parametrize("word", ["heel", "enforce", "", "true", True, 1, None])
def test_an_unknown_mode_means_observe_loudly(word, caplog):
    """A slip of the pen never grants authority."""
    assert fleet(mode=word).mode is HealingMode.OBSERVE
    assert "unknown, observing instead" in caplog.text


@pytest.mark.parametrize(
    ("word", "mode"), [("heal", "heal"), (" HEAL ", "heal"), ("off", "off"), (False, "off")]
)
def test_modes_are_words(word, mode):
    """And YAML's bare `off` is one."""
    assert fleet(mode=word).mode.value == mode


WRONG = [
    ({"backoff_seconds": []}, "fleet.backoff_seconds"),
    ({"backoff_seconds": [60, 30]}, "fleet.backoff_seconds: .*growing"),
    ({"backoff_seconds": [-1]}, "fleet.backoff_seconds"),
    ({"crash_loop_after": 0}, "fleet.crash_loop_after"),
    ({"sweep_seconds": -5}, "fleet.sweep_seconds"),
    ({"sweep_second": 5}, "fleet.sweep_second is no setting"),
    ({"action": {}}, "fleet.action: .*either command or webhook"),
    ({"action": {"command": ["x"], "webhook": "http://x"}}, "either command or webhook"),
    ({"action": {"webhook": "http://x"}}, "webhook needs secret"),
    ({"action": {"webhook": "ftp://x", "secret": SECRET}}, "fleet.action.webhook"),
    ({"action": {"webhook": "http://x", "secret": "short"}}, "fleet.action.secret"),
    ({"action": {"webhook": "http://x", "secret": "whsec_no-base64-at-all"}}, "must be base64"),
    ({"agents": [{"match": ""}]}, "fleet.agents.0.match"),
    ({"probes": {"p": {"url": "x", "headers": {"k": SECRET}}}}, "fleet.probes.p.url"),
]


@pytest.mark.parametrize(("settings", "said"), WRONG, ids=lambda value: str(value)[:50])
def test_a_wrong_setting_ends_the_start(settings, said):
    """With its name; never with a secret."""
    with pytest.raises(ConfigError, match=said) as caught:
        fleet(**settings)

    assert SECRET not in str(caught.value)


def test_secrets_are_hidden_where_settings_are_shown(tmp_path):
    """Keys of signatures and headers of probes."""
    file = tmp_path / "w.yaml"
    file.write_text(
        "fleet:\n"
        f"  action: {{webhook: 'https://heal', secret: {SECRET}}}\n"
        f"  probes: {{anthropic: {{url: 'https://p', headers: {{x-api-key: {SECRET}}}}}}}\n",
        "utf-8",
    )

    done = CliRunner().invoke(app, ["serve", "--config", str(file), "--check"])

    assert done.exit_code == 0
    assert SECRET not in done.stdout
    assert '"webhook": "https://heal", "secret": "(hidden)"' in done.stdout
    assert SECRET not in repr(load(file).config)


def test_the_first_pattern_that_fits_holds():
    """Of those for the tenant."""
    config = fleet(
        agents=[
            {"match": "shop/*", "tenant": "u", "cadence_seconds": 1},
            {"match": "shop/night-?", "cadence_seconds": 86_400},
            {"match": "shop/*", "cadence_seconds": 60},
        ]
    )

    found = [
        config.of(tenant).declared(agent)
        for tenant, agent in (("t", "shop/night-1"), ("t", "shop/x"), ("u", "shop/x"), ("t", "y/x"))
    ]

    assert [one.cadence_seconds if one else None for one in found] == [86_400, 60, 1, None]
