"""Settings: where they come from, which win, and what is said of wrong ones."""

import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Mode
from otel_watchdog_collector.__main__ import app
from otel_watchdog_collector.config import CollectorConfig, load

SECRET = "0123456789abcdef"  # noqa: S105 - of the tests


@pytest.fixture
def file(tmp_path):
    """Return a file of settings."""
    path = tmp_path / "w.yaml"
    path.write_text("http_port: 1000\ngrpc_port: 1001\nmode: feedback\n", "utf-8")
    return path


def test_flags_win_over_variables_and_variables_over_the_file(file, monkeypatch):
    """And each setting knows where it came from."""
    monkeypatch.setenv("OTEL_WATCHDOG_COLLECTOR_GRPC_PORT", "2001")
    monkeypatch.setenv("OTEL_WATCHDOG_COLLECTOR_HTTP_PORT", "2000")

    loaded = load(file, {"http_port": 3000})

    assert (loaded.config.http_port, loaded.config.grpc_port) == (3000, 2001)
    assert loaded.config.mode is Mode.FEEDBACK
    assert loaded.origins["http_port"] == "flag"
    assert loaded.origins["grpc_port"] == "OTEL_WATCHDOG_COLLECTOR_GRPC_PORT"
    assert loaded.origins["mode"] == str(file)
    assert loaded.origins["store"] == "default"


def test_alone_it_listens_to_this_machine_and_observes():
    """The defaults need nothing and endanger nothing."""
    config = CollectorConfig()

    assert (config.http_host, config.grpc_host) == ("127.0.0.1", "127.0.0.1")
    assert config.mode is Mode.OBSERVE
    assert config.library().max_sessions == 20_000


def test_an_unknown_mode_means_observe(caplog):
    """Loudly, and never more."""
    loaded = load(None, {"mode": "heal"})

    assert loaded.config.mode is Mode.OBSERVE
    assert "'heal'" in caplog.text


WRONG = [
    ({"http_prot": 1}, "http_prot is no setting; allowed: "),
    ({"http_port": 70_000}, "http_port: .*65535.*got 70000"),
    ({"store": "mongodb://x"}, "store: .*memory:, sqlite:"),
    ({"http_host": "0.0.0.0"}, "other than loopback need tokens"),  # noqa: S104 - refused
    ({"grpc_host": "::"}, "other than loopback need tokens"),
    ({"tls_key": "k.pem"}, "needed together"),
    ({"watchdog": {"refractory_turn": 1}}, "refractory_turn"),
    ({"watchdog": {"mode": "off"}}, "mode stands beside watchdog"),
    ({"tokens": [{"name": "a", "role": "read"}]}, "tokens.0: .*either token or sha256"),
    ({"tokens": [{"name": "a", "role": "god", "token": SECRET}]}, "tokens.0.role"),
    ({"tokens": [{"name": "a", "role": "read", "token": "short"}]}, "tokens.0.token"),
    ({"tokens": [{"name": "a", "role": "read", "token": SECRET}] * 2}, "names must be unique"),
    ({"destinations": [{"name": "a", "endpoint": "ftp://x"}]}, "destinations.0.endpoint"),
]


@pytest.mark.parametrize(("flags", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_setting_is_named(flags, said):
    """With what is allowed; never with a secret."""
    with pytest.raises(ConfigError, match=said) as caught:
        load(None, flags)

    assert SECRET not in str(caught.value)


def test_a_file_that_is_none_is_named(tmp_path):
    """Missing, damaged, or a list."""
    damaged, listed = tmp_path / "d.yaml", tmp_path / "l.yaml"
    damaged.write_text("a: [", "utf-8")
    listed.write_text("- a", "utf-8")

    for path in (tmp_path / "none.yaml", damaged, listed):
        with pytest.raises(ConfigError, match=str(path)):
            load(path)


def test_check_prints_each_setting_with_its_origin_and_hides_secrets(file):
    """`serve --check` starts nothing."""
    file.write_text(
        "store: postgresql://u:hunter2secret@db/w\n"
        f"tokens: [{{name: ci, role: ingest, token: {SECRET}}}]\n"
        f"destinations: [{{name: b, endpoint: 'http://b', headers: {{key: {SECRET}}}}}]\n",
        "utf-8",
    )

    done = CliRunner().invoke(app, ["serve", "--config", str(file), "--mode", "enforce", "--check"])

    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert len(lines) == len(CollectorConfig.model_fields)
    assert "mode: enforce  # flag" in lines
    assert f"store: postgresql://u:(hidden)@db/w  # {file}" in lines
    assert SECRET not in done.stdout
    assert "hunter2secret" not in done.stdout


def test_a_wrong_setting_ends_the_command_with_one_line(file):
    """Exit code 2, no traceback."""
    file.write_text("http_port: x\n", "utf-8")

    done = CliRunner().invoke(app, ["serve", "--config", str(file)])

    assert done.exit_code == 2
    assert done.stderr.startswith("otel-watchdog-collector: ")
    assert "Traceback" not in done.stderr


def test_the_example_is_valid_and_says_the_defaults():
    """Each setting of `config.example.yaml` exists, and what is commented out is the default."""

    text = (Path(__file__).parents[2] / "collector" / "config.example.yaml").read_text("utf-8")
    uncommented = re.sub(r"^# ?(?=[a-z_]+: )", "", text, flags=re.MULTILINE)
    given = yaml.safe_load(uncommented)

    config = CollectorConfig(**given)

    assert set(given) == set(CollectorConfig.model_fields)
    plain = CollectorConfig().model_dump(exclude={"tokens", "destinations", "mode"})
    assert config.model_dump(exclude={"tokens", "destinations", "mode"}) == plain
