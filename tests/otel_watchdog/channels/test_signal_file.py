"""What the signal file adds to what every channel promises."""

import logging

import pytest

from otel_watchdog import ConfigError, Mode, Tier
from otel_watchdog.channels import SignalFile
from otel_watchdog.testing import correction
from otel_watchdog.transport import signal_files


@pytest.fixture
def channel(tmp_path):
    """Return a channel for one agent."""
    channel = SignalFile(tmp_path / "agent", one_agent=True, poll_seconds=0.005)
    yield channel
    channel.close()


@pytest.fixture
def read(tmp_path, eventually):
    """Return what waits for the agent's file, and takes it."""
    return lambda: eventually(lambda: signal_files.claim(tmp_path / "agent", on_bad=pytest.fail))[0]


def test_one_agent_has_the_folder_to_itself(channel, read):
    """Whatever the session is called."""
    channel.send(correction(id="a", session="s", turn=7, tier=Tier.REDIRECT))

    assert read() == ("[watchdog] stop", None, "a", "redirect", 7)


def test_a_cap_is_written_in_mode_enforce_alone(channel, read):
    """In mode feedback it is advice, and the reader would obey it."""
    channel.send(correction(id="a", mode=Mode.FEEDBACK, max_turns=10))
    advice = read()
    channel.send(correction(id="b", mode=Mode.ENFORCE, max_turns=12))

    assert advice.max_turns_override is None
    assert read().max_turns_override == 12


def test_what_was_not_read_stays_when_it_closes(tmp_path, channel, eventually):
    """The agent may outlive its watchdog."""
    channel.send(correction(id="a"))
    eventually(lambda: signal_files.is_unread(tmp_path / "agent"))

    channel.close()

    assert signal_files.claim(tmp_path / "agent", on_bad=pytest.fail)[0].id == "a"


def test_what_is_dropped_is_counted(channel, tmp_path, eventually):
    """Two of six are given up: four wait."""
    for id_ in "abcdef":
        channel.send(correction(id=id_))
    file = tmp_path / "agent" / signal_files.SIGNAL

    eventually(lambda: file.exists() and signal_files.decode(file.read_bytes()).id == "c")

    assert channel.dropped == 2


def test_somebody_elses_file_is_waited_for(channel, tmp_path, read):
    """A person may have written one."""
    signal_files.put(tmp_path / "agent", signal_files.Signal("[watchdog] by hand", id="h"))
    channel.send(correction(id="a"))

    assert [read().id, read().id] == ["h", "a"]


def test_a_folder_that_cannot_be_written_to_harms_nobody(tmp_path, caplog, eventually):
    """It is logged and tried again; a file stands where the folder should be."""
    (tmp_path / "s").touch()
    channel = SignalFile(tmp_path, poll_seconds=0.005)

    with caplog.at_level(logging.WARNING):
        channel.send(correction(id="a", session="s"))
        eventually(lambda: "could not be handed over" in caplog.text)
    (tmp_path / "s").unlink()

    eventually(lambda: signal_files.is_unread(tmp_path / "s"))
    channel.close()


def test_sessions_are_bounded(tmp_path):
    """The one that was silent longest is forgotten, and what waits for it counted."""
    channel = SignalFile(tmp_path, max_sessions=1, poll_seconds=60)

    for session in "abc":
        channel.send(correction(id=session, session=session))
    channel.close()

    assert channel.dropped <= 2


@pytest.mark.parametrize(
    "options", [{"max_waiting": 0}, {"max_sessions": 0}, {"poll_seconds": 0}, {"poll_seconds": -1}]
)
def test_refuses_what_is_out_of_bounds(tmp_path, options):
    """It fails at start."""
    with pytest.raises(ConfigError, match="signal_file"):
        SignalFile(tmp_path, **options)


def test_refuses_a_folder_for_everybody(tmp_path):
    """It fails at start."""
    tmp_path.chmod(0o777)

    with pytest.raises(ConfigError, match="writable by everybody"):
        SignalFile(tmp_path)
