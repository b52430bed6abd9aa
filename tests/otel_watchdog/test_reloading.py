"""Settings that are read again while the watchdog runs."""

import logging
import os
import signal
import threading
from typing import Any

import pytest

from otel_watchdog import Mode, WatchdogConfig
from otel_watchdog.engine import Watchdog
from otel_watchdog.model import RunStarted, ToolCall
from otel_watchdog.reloading import Reloader

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")


@pytest.fixture
def file(tmp_path):
    """A file of settings."""
    path = tmp_path / "watchdog.yaml"
    path.write_text("min_turns: 1\n")
    return path


def write(file, text):
    """Write settings, and see to it that the file's time differs."""
    before = file.stat().st_mtime_ns
    file.write_text(text)
    os.utime(file, ns=(before + 10_000_000, before + 10_000_000))


def test_a_changed_file_is_read_at_the_start_of_a_run(file):
    """What code gave still wins."""
    applied: list[Any] = []
    reloader = Reloader(WatchdogConfig.load(file, max_corrections=2), applied.append)

    reloader.start_run()
    write(file, "min_turns: 7\nmax_corrections: 4\n")
    reloader.start_run()
    reloader.start_run()

    assert [(c.min_turns, c.max_corrections) for c in applied] == [(7, 2)]


@pytest.mark.parametrize("text", ["min_turns: many\n", "min_turn: 3\n", "mode: [", "- a\n"])
def test_a_bad_file_keeps_the_last_good_one_and_says_so(file, caplog, text):
    """Once a change, with file and what is wrong; a good one is taken again."""
    applied: list[Any] = []
    reloader = Reloader(WatchdogConfig.load(file), applied.append)
    write(file, text)

    with caplog.at_level(logging.ERROR, "otel_watchdog"):
        reloader.start_run()
        reloader.start_run()
    write(file, "min_turns: 9\n")
    reloader.start_run()

    assert [c.min_turns for c in applied] == [9]
    (record,) = caplog.records
    assert str(file) in record.message
    assert "the old ones hold" in record.message


def test_a_detector_that_does_not_exist_keeps_the_old_settings(file, caplog):
    """What the engine refuses is as bad as what the file's reader does."""
    engine = Watchdog(config=WatchdogConfig.load(file))
    reloader = Reloader(engine.outfit.config, engine.configure)
    write(file, "detectors:\n  same_errors: {}\n")

    reloader.start_run()

    assert engine.outfit.config.min_turns == 1
    assert "line 2: detectors.same_errors: no 'same_errors'" in caplog.text
    assert "did you mean same_error?" in caplog.text


def test_a_file_that_went_away_keeps_the_last_good_settings(file):
    """Nothing raises."""
    applied: list[Any] = []
    reloader = Reloader(WatchdogConfig.load(file), applied.append)

    file.unlink()
    reloader.start_run()

    assert applied == []


def test_sessions_go_by_new_settings_from_their_next_run_on(file):
    """The mode counts at once; detectors and policy with the run."""
    file.write_text("mode: feedback\ndetectors: {repeated_tool_call: {threshold: 9}}\n")
    config = WatchdogConfig.load(file, profile="classic")
    engine = Watchdog(config=config)
    reloader = Reloader(config, engine.configure)

    def calls(run):
        engine.observe(RunStarted("s", run))
        found = [engine.observe(ToolCall("s", turn, "ls", "{}")) for turn in range(1, 6)]
        return [c.turn for c in found if c]

    first = calls("r1")
    write(file, "mode: observe\ndetectors: {repeated_tool_call: {threshold: 4}}\n")
    reloader.start_run()

    assert engine.mode is Mode.OBSERVE
    assert (first, calls("r2")) == ([], [4])


def test_sighup_has_the_file_read_and_the_old_handler_called(file):
    """Opt-in; the handler only takes a note."""
    heard: list[Any] = []
    before = signal.signal(signal.SIGHUP, lambda number, _: heard.append(number))
    applied: list[Any] = []
    reloader = Reloader(WatchdogConfig.load(file, reload_on_signal=True), applied.append)
    try:
        signal.raise_signal(signal.SIGHUP)
        due = reloader.is_due
        reloader.start_run()
        reloader.close()
        reloader.close()
        signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)

    assert due
    assert len(applied) == 1
    assert heard == [signal.SIGHUP] * 2
    assert not reloader.is_due


def test_sighup_is_left_alone_by_default(file):
    """Whoever does not ask keeps the system's handling."""
    before = signal.getsignal(signal.SIGHUP)

    Reloader(WatchdogConfig.load(file), print)

    assert signal.getsignal(signal.SIGHUP) == before


def test_sighup_is_left_alone_outside_of_the_main_thread(file, caplog):
    """Python allows it there alone; the log says so."""
    config = WatchdogConfig.load(file, reload_on_signal=True)
    before = signal.getsignal(signal.SIGHUP)
    thread = threading.Thread(target=lambda: Reloader(config, print))

    thread.start()
    thread.join()

    assert signal.getsignal(signal.SIGHUP) == before
    assert "not in the main thread" in caplog.text


def test_without_a_file_there_is_nothing_to_read():
    """Settings from code stay."""
    applied: list[Any] = []
    reloader = Reloader(WatchdogConfig(reload_on_signal=True), applied.append)

    reloader.start_run()

    assert applied == []


def test_a_plugin_that_raises_keeps_the_old_settings(file, caplog):
    """Whatever it raises, the traced program's run begins."""

    def refuse(_):
        raise RuntimeError("boom")

    reloader = Reloader(WatchdogConfig.load(file), refuse)
    write(file, "min_turns: 9\n")

    reloader.start_run()

    assert "the old ones hold: boom" in caplog.text
