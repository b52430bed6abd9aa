"""The signal file: whole or not at all, once, and whatever stands in it."""

import json
import os
import stat
import threading

import pytest

from otel_watchdog import ConfigError, InputError
from otel_watchdog.transport import signal_files
from otel_watchdog.transport.signal_files import CLAIMED, SIGNAL, Signal


@pytest.fixture
def folder(tmp_path):
    """Return a folder of one agent."""
    place = tmp_path / "agent"
    place.mkdir(mode=0o700)
    return place


def claim(folder):
    """Take what waits; return the signals and what was wrong with the rest."""
    bad: list[str] = []
    return signal_files.claim(folder, on_bad=bad.append), bad


def test_what_is_put_is_claimed_once(folder):
    """The file is gone afterwards, and so is the claimed one."""
    signal = Signal("[watchdog] stop", 30, "c1", "hard-stop", 20)
    assert signal_files.put(folder, signal)

    first, second = claim(folder), claim(folder)

    assert first == ([signal], [])
    assert second == ([], [])
    assert not [path for path in folder.iterdir() if path.name != signal_files.LOCK]


def test_has_the_shape_that_simple_readers_know(folder):
    """Two fields, and more for who wants them; what is not known is left out."""
    signal_files.put(folder, Signal("[watchdog] stop", 30))

    assert json.loads((folder / SIGNAL).read_bytes()) == {
        "correction": "[watchdog] stop",
        "max_turns_override": 30,
    }


def test_an_unread_one_is_not_written_over(folder):
    """Nothing is lost between two writers."""
    assert signal_files.put(folder, Signal("[watchdog] one"))

    assert not signal_files.put(folder, Signal("[watchdog] two"))
    assert claim(folder)[0][0].correction == "[watchdog] one"


def test_a_withdrawn_one_is_not_claimed(folder):
    """Whoever moves the file first has it."""
    signal_files.put(folder, Signal("[watchdog] one"))

    assert signal_files.withdraw(folder)
    assert not signal_files.withdraw(folder)
    assert claim(folder) == ([], [])


def test_what_a_dead_reader_left_is_delivered_once_and_first(folder):
    """It had moved the file away and not read it."""
    signal_files.put(folder, Signal("[watchdog] one"))
    (folder / SIGNAL).rename(folder / CLAIMED)
    signal_files.put(folder, Signal("[watchdog] two"))

    assert [signal.correction for signal in claim(folder)[0]] == [
        "[watchdog] one",
        "[watchdog] two",
    ]
    assert claim(folder) == ([], [])


@pytest.mark.timeout(30)
def test_readers_and_writers_at_once_lose_and_double_nothing(folder):
    """Each signal goes to one reader, whole."""
    claimed: list[str] = []
    count, running = 100, threading.Event()
    running.set()

    def write(number):
        for n in range(count):
            while not signal_files.put(
                folder, Signal(f"[watchdog] {number}-{n}", id=f"{number}-{n}")
            ):
                pass

    def read():
        while running.is_set():
            claimed.extend(signal.id for signal in claim(folder)[0])

    writers = [threading.Thread(target=write, args=(n,)) for n in range(2)]
    readers = [threading.Thread(target=read) for _ in range(3)]
    for thread in writers + readers:
        thread.start()
    for thread in writers:
        thread.join()
    running.clear()
    for thread in readers:
        thread.join()
    claimed.extend(signal.id for signal in claim(folder)[0])

    assert sorted(claimed) == sorted(f"{number}-{n}" for number in range(2) for n in range(count))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"stop",
        b"[]",
        b"{}",
        b'{"correction": 5}',
        b'{"correction": "  "}',
        b'{"correction": "' + b"x" * 70_000 + b'"}',
        b'{"correction": "\xff"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_correction_is_named_and_deleted(folder, content):
    """It never comes again."""
    (folder / SIGNAL).write_bytes(content)

    signals, bad = claim(folder)

    assert signals == []
    assert len(bad) == 1
    assert claim(folder) == ([], [])


def test_fields_of_the_wrong_kind_are_left_out():
    """The message is delivered all the same."""
    content = {
        "correction": "stop",
        "max_turns_override": True,
        "turn": -1,
        "id": "../../x y",
        "tier": "kill",
        "more": [],
    }

    assert signal_files.decode(json.dumps(content).encode()) == Signal("[watchdog] stop")


def test_a_message_cannot_steer_a_terminal():
    """Control characters and turned text are taken out, lines and tabs stay."""
    text = signal_files.clean("a\x1b]0;x\x07b\u202ec\nd\te\r")

    assert text == "[watchdog] a]0;xbc\nd\te"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_reads_no_pipe_and_no_link(folder, tmp_path):
    """Neither hangs the agent nor shows it a file from elsewhere."""
    os.mkfifo(folder / SIGNAL)
    pipe = claim(folder)
    secret = tmp_path / "secret"
    secret.write_text('{"correction": "secret"}', "utf-8")
    (folder / SIGNAL).symlink_to(secret)
    link = claim(folder)

    assert (pipe[0], link[0]) == ([], [])
    assert len(pipe[1]) == len(link[1]) == 1
    assert secret.exists()


def test_files_and_folders_are_their_owners_alone(tmp_path):
    """Messages may quote the agent's data."""
    folder = tmp_path / "all" / "one"

    signal_files.put(folder, Signal("[watchdog] stop"))

    modes = [stat.S_IMODE(p.stat().st_mode) for p in (folder.parent, folder, folder / SIGNAL)]
    assert modes == [0o700, 0o700, 0o600]


def test_a_folder_that_all_may_write_into_is_refused(tmp_path):
    """Anybody could put words into the agent's ear."""
    tmp_path.chmod(0o777)

    with pytest.raises(ConfigError, match="must not be writable by everybody"):
        signal_files.check(tmp_path)


def test_a_file_in_the_folders_place_is_refused(tmp_path):
    """It says what is there."""
    file = tmp_path / "file"
    file.touch()

    with pytest.raises(ConfigError, match="is no folder"):
        signal_files.check(file)
    signal_files.check(tmp_path / "missing")


@pytest.mark.parametrize(
    "session", ["", ".", "..", "a/b", "../x", "a" * 300, "ü", "a\0b", "\ud800"]
)
def test_no_session_leads_out_of_the_folder(tmp_path, session):
    """Keys come from traces."""
    place = signal_files.folder_of(tmp_path, session)

    assert place.parent == tmp_path
    assert place.name not in {"", ".", ".."}
    assert len(place.name) < 100
    assert place != signal_files.folder_of(tmp_path, f"{session}x")


def test_too_large_a_content_is_said():
    """The limit stands in the message."""
    with pytest.raises(InputError, match="larger than 65536 bytes"):
        signal_files.decode(b" " * 65_537)
