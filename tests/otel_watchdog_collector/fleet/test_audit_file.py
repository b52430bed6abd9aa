"""The audit as lines in files."""

import json

import pytest

from otel_watchdog_collector.fleet.audit_file import MAX_FILE_DAYS, AuditFile
from otel_watchdog_collector.health import AuditEntry

NOW = 1_790_000_000.0
DAY = 86_400


def entry(number, at=NOW):
    """Return an entry."""
    return AuditEntry(
        id=f"{number}", tenant="t", at=at, action="watchdog-restart", agent="s/a\n", detail={"n": 1}
    )


@pytest.fixture
def file(tmp_path):
    """Return an audit file in a folder that is not there yet."""
    return AuditFile(tmp_path / "deep" / "audit.jsonl", max_bytes=4096, keep_days=90)


def test_an_entry_is_a_line_of_json(file, tmp_path):
    """Whatever stands in it; for the owner's eyes alone."""
    file.append([entry(1), entry(2)], NOW)
    file.append([entry(3)], NOW)

    path = tmp_path / "deep" / "audit.jsonl"
    lines = path.read_text("utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["1", "2", "3"]
    assert json.loads(lines[0]) == {
        "id": "1",
        "time": "2026-09-21T14:13:20.000Z",
        "tenant": "t",
        "user": "watchdog",
        "action": "watchdog-restart",
        "agent": "s/a\n",
        "detail": {"n": 1},
    }
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_large_file_is_put_aside_and_read_on(file, tmp_path):
    """No entry is lost, and their order stays."""
    for number in range(100):
        file.append([entry(number)], NOW + number)

    files = sorted((tmp_path / "deep").iterdir())
    assert len(files) > 3
    assert all(path.stat().st_size < 4096 + 400 for path in files)
    assert [int(one["id"]) for one in file.read()] == list(range(100))


def test_a_file_is_put_aside_after_days_so_that_old_entries_can_go(file):
    """After ninety days from its last entry it is deleted; the rest stays."""
    for day in range(0, 200, 2):
        file.append([entry(day, NOW + day * DAY)], NOW + day * DAY)
        file.prune(NOW + day * DAY)

    kept = [int(one["id"]) for one in file.read()]
    assert kept == list(range(kept[0], 200, 2))
    assert 198 - 90 - 2 * MAX_FILE_DAYS <= kept[0] <= 198 - 90


def test_a_line_that_was_cut_spoils_no_other(file, tmp_path):
    """The process may be killed while it writes."""
    file.append([entry(1)], NOW)
    path = tmp_path / "deep" / "audit.jsonl"
    path.write_bytes(path.read_bytes() + b'{"id": "2", "ti')

    file.append([entry(3)], NOW)

    assert [one["id"] for one in file.read()] == ["1", "3"]


def test_other_files_in_the_folder_are_let_alone(file, tmp_path):
    """Those with names alike, too."""
    file.append([entry(1)], NOW)
    others = [tmp_path / "deep" / name for name in ("audit.jsonl.bak", "x.audit.jsonl.12")]
    for path in others:
        path.write_text("mine", "utf-8")

    count = file.prune(NOW + 1000 * DAY)

    assert count == 0
    assert all(path.exists() for path in others)


def test_nothing_is_written_for_nothing(file, tmp_path):
    """No entry, no file."""
    file.append([], NOW)

    assert not (tmp_path / "deep").exists()
    assert list(file.read()) == []
