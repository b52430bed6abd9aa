"""Settings: where they come from, who wins, and what is refused."""

import logging
import os

import pytest
from pydantic import ValidationError

from otel_watchdog import ConfigError, Mode, Profile, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.config import is_paused


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    """Have no settings in the environment but the test's own."""
    for name in list(os.environ):
        if name.upper().startswith("OTEL_WATCHDOG"):
            monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path):
    """Return what writes a file of settings."""

    def write(text):
        path = tmp_path / "watchdog.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_defaults():
    """Feedback, standard, thirty seconds and two turns: wiring the callback is the consent."""
    config = WatchdogConfig.load()

    assert (config.mode, config.profile) == (Mode.FEEDBACK, Profile.STANDARD)
    assert (config.refractory_seconds, config.refractory_turns) == (30, 2)
    assert (config.min_turns, config.max_corrections, config.redact) == (0, 5, True)


def test_code_wins_over_variables_and_variables_over_the_file(monkeypatch, file):
    """Each source is heard where no stronger one speaks."""
    path = file("min_turns: 1\nrefractory_turns: 1\nmax_corrections: 1\nmode: enforce\n")
    monkeypatch.setenv("OTEL_WATCHDOG_MIN_TURNS", "2")
    monkeypatch.setenv("OTEL_WATCHDOG_REFRACTORY_TURNS", "2")

    config = WatchdogConfig.load(path, min_turns=3)

    assert config.min_turns == 3
    assert config.refractory_turns == 2
    assert config.max_corrections == 1
    assert config.mode is Mode.ENFORCE


@pytest.mark.parametrize("name", ["OTEL_WATCHDOG_MIN_TURNS", "otel_watchdog_min_turns"])
def test_a_variable_wins_in_any_case(monkeypatch, file, name):
    """Variables are read whatever their case, and win as such."""
    monkeypatch.setenv(name, "2")

    assert WatchdogConfig.load(file("min_turns: 1")).min_turns == 2


def test_the_file_may_be_named_by_a_variable(monkeypatch, file):
    """Without a word in the code; a file given in code is another."""
    monkeypatch.setenv("OTEL_WATCHDOG_CONFIG", str(file("min_turns: 7")))

    assert WatchdogConfig.load().min_turns == 7


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n"])
def test_an_empty_file_is_no_settings(file, text):
    """Defaults hold."""
    assert WatchdogConfig.load(file(text)) == WatchdogConfig.load()


def test_the_processor_reads_variables(monkeypatch):
    """An agent is configured from outside."""
    monkeypatch.setenv("OTEL_WATCHDOG_MAX_SESSIONS", "nine")

    with pytest.raises(ConfigError, match="max_sessions"):
        WatchdogSpanProcessor()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n- b\n", "must be a mapping of settings, got list"),
        ("just words", "must be a mapping of settings, got str"),
        ("mode: [", "cannot be read as YAML settings"),
        ("a: !!python/object/apply:os.system ['true']", "cannot be read as YAML settings"),
        (b"\xff\xfe\x00", "cannot be read as YAML settings"),
        ("max_turn: 3", "max_turn is no setting; allowed: "),
        ("min_turns: many", "min_turns: "),
        ("1: 2", "1 is no setting"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(file, text, said):
    """The message leads to the place."""
    path = file(text)

    with pytest.raises(ConfigError) as raised:
        WatchdogConfig.load(path)

    assert str(raised.value).startswith(f"{path}: ")
    assert said in str(raised.value)


def test_a_missing_file_is_an_error(tmp_path):
    """Whoever names a file wants it read."""
    with pytest.raises(ConfigError, match=r"gone\.yaml: cannot be read"):
        WatchdogConfig.load(tmp_path / "gone.yaml")


def test_a_folder_is_no_file(tmp_path):
    """Nor is it a traceback."""
    with pytest.raises(ConfigError, match="cannot be read"):
        WatchdogConfig.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_turns", -1),
        ("min_turns", 10_001),
        ("min_turns", 1.5),
        ("max_corrections", 6),
        ("max_corrections", -1),
        ("refractory_seconds", -0.1),
        ("refractory_seconds", float("nan")),
        ("refractory_seconds", float("inf")),
        ("refractory_turns", -1),
        ("max_sessions", 0),
        ("session_ttl_seconds", 0),
        ("max_open_spans", 15),
        ("redact", "perhaps"),
        ("profile", "strict"),
        ("mode", 7),
        ("mode", None),
        ("no_such", 1),
    ],
)
def test_what_is_out_of_range_is_refused_and_named(name, value):
    """Wrong settings fail at start."""
    with pytest.raises(ConfigError) as raised:
        WatchdogConfig.load(**{name: value})

    assert name in str(raised.value)


@pytest.mark.parametrize(("name", "value"), [("MIN_TURNS", "-1"), ("REDACT", "perhaps")])
def test_a_wrong_variable_is_refused_and_named(monkeypatch, name, value):
    """It is a setting like any other."""
    monkeypatch.setenv(f"OTEL_WATCHDOG_{name}", value)

    with pytest.raises(ConfigError, match=f"(?i){name}"):
        WatchdogConfig.load()


@pytest.mark.parametrize("word", ["enforce", "ENFORCE", " Enforce "])
def test_a_mode_is_named_by_its_word(monkeypatch, word):
    """In any case."""
    monkeypatch.setenv("OTEL_WATCHDOG_MODE", word)

    assert WatchdogConfig.load().mode is Mode.ENFORCE


@pytest.mark.parametrize("word", ["warn", " ", "3", "true"])
def test_an_unknown_mode_observes_and_says_so(monkeypatch, caplog, word):
    """Nothing is done that nobody asked for, and the log tells why."""
    monkeypatch.setenv("OTEL_WATCHDOG_MODE", word)

    with caplog.at_level(logging.WARNING, "otel_watchdog"):
        config = WatchdogConfig.load()

    assert config.mode is Mode.OBSERVE
    assert "observing instead; allowed: off, observe, feedback, enforce" in caplog.text


@pytest.mark.parametrize(("written", "mode"), [("off", Mode.OFF), ("Off", Mode.OFF)])
def test_yaml_s_off_means_off(file, written, mode):
    """YAML 1.1 reads a bare `off` as false; it is meant as the mode."""
    assert WatchdogConfig.load(file(f"mode: {written}")).mode is mode


def test_yaml_s_on_is_no_mode(file, caplog):
    """`mode: on` says not how much: observe, loudly."""
    config = WatchdogConfig.load(file("mode: on"))

    assert config.mode is Mode.OBSERVE
    assert "observing instead" in caplog.text


@pytest.mark.parametrize("name", ["MODE", "MIN_TURNS", "CONFIG"])
def test_an_empty_variable_is_unset(monkeypatch, file, name):
    """As OpenTelemetry has it; the file speaks then."""
    monkeypatch.setenv(f"OTEL_WATCHDOG_{name}", "")

    config = WatchdogConfig.load(file("mode: enforce\nmin_turns: 3"))

    assert (config.mode, config.min_turns) == (Mode.ENFORCE, 3)


@pytest.mark.parametrize(
    ("value", "paused"),
    [
        ("1", True),
        ("true", True),
        ("YES", True),
        (" on ", True),
        ("0", False),
        ("false", False),
        ("", False),
        ("2", False),
    ],
)
def test_pause_is_one_of_four_words(monkeypatch, value, paused):
    """Anything else is no pause."""
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", value)

    assert is_paused() is paused


@pytest.mark.parametrize("name", ["OTEL_WATCHDOG_PAUSE", "OTEL_WATCHDOG_SOMETHING_NEW"])
def test_other_variables_are_no_settings(monkeypatch, name):
    """A variable of a newer version, or the pause, stops no start."""
    monkeypatch.setenv(name, "true")

    assert WatchdogConfig.load() == WatchdogConfig()


def test_settings_cannot_be_changed():
    """They are read once, at start."""
    config = WatchdogConfig()

    with pytest.raises(ValidationError):
        config.min_turns = 3


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("mode: feedback\nmax_turn: 3\n", 2, "max_turn is no setting; allowed: "),
        ("\n\nrefractory_second: 3\n", 3, "did you mean refractory_seconds?"),
        ("min_turns: true\n", 1, "min_turns: must be a number, got True"),
        ("min_turns: '3'\n", 1, "min_turns: must be a number, got '3'"),
        ("redact: 'yes'\n", 1, "redact: must be true or false, got 'yes'"),
        ("mode: feedback\nmin_turns: -1\n", 2, "min_turns: "),
        ("min_turns: 3\nmin_turns: 4\n", 2, "min_turns is given twice, first in line 1"),
        ("tools:\n  bash:\n    exemt: true\n", 3, "did you mean exempt?"),
        ("tools:\n  bash: 3\n", 2, "tools.bash"),
        ("agents:\n  a:\n    min_turns: true\n", 3, "must be a number, got True"),
        ("agents:\n  a:\n    min_turns: 99999\n", 3, "got 99999"),
        ("categories:\n  x:\n    min_turns: []\n", 3, "categories.x.min_turns"),
        ("warn_limit: gently\n", 1, "got 'gently'"),
    ],
)
def test_an_error_points_at_its_line(file, text, line, said):
    """File, line, setting, value and what is allowed."""
    path = file(text)

    with pytest.raises(ConfigError) as raised:
        WatchdogConfig.load(path)

    assert str(raised.value).startswith(f"{path}: line {line}: ")
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("warn_limit: terminate\ncritical_limit: nudge\n", "must not be below warn_limit"),
        ("policy: {ladder: {}, spaced: {}}\n", "policy must name one policy"),
        ("agents: {a: {category: logn}}\n", "did you mean login?"),
    ],
)
def test_settings_that_are_at_odds_are_refused(file, text, said):
    """Each may be right alone."""
    path = file(text)

    with pytest.raises(ConfigError) as raised:
        WatchdogConfig.load(path)

    assert str(raised.value).startswith(f"{path}: ")
    assert said in str(raised.value)


def test_a_value_from_elsewhere_does_not_blame_the_file(file, monkeypatch):
    """Where a variable is wrong, no line of the file is named."""
    monkeypatch.setenv("OTEL_WATCHDOG_MIN_TURNS", "many")

    with pytest.raises(ConfigError) as raised:
        WatchdogConfig.load(file("min_turns: 3\nmode: observe\n"))

    assert "line" not in str(raised.value)


def test_sections_may_come_from_a_variable(monkeypatch):
    """As JSON."""
    monkeypatch.setenv("OTEL_WATCHDOG_TOOLS", '{"wait_*": {"exempt": true}}')

    rule = WatchdogConfig.load().rules().tool("wait_and_verify")

    assert rule is not None
    assert rule.exempt


def test_profiles_set_what_nobody_else_does(file):
    """Floors, limits and the policy; what is set by hand stays."""
    eager = WatchdogConfig.load(file("profile: eager\ncategories: {login: {min_turns: 3}}\n"))
    gentle = WatchdogConfig.load(profile="gentle")

    assert (eager.min_turns, eager.warn_limit, eager.step_down) == (15, "terminate", False)
    assert [eager.rules().floor(None, name) for name in ("authorization", "login", "default")] == [
        25,
        3,
        15,
    ]
    assert WatchdogConfig.load(profile="eager", min_turns=2).min_turns == 2
    assert (gentle.policy, gentle.wait_for_sub_agents) == ("spaced", True)
    assert WatchdogConfig.load(min_turns=4).rules().floor(None, "login") == 4
