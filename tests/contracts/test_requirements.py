"""What holds for every list of pinned packages, beside the one that all work with."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KINDS = ("dropin", "pages", "peers")
LISTS = sorted(path for kind in KINDS for path in (ROOT / "requirements").glob(f"{kind}/*.txt"))
PINNED = [path for path in LISTS if path.with_suffix(".in").exists()]


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.stem)
def test_a_list_names_no_index_and_hashes_all(path):
    """It installs from whichever index the reader has set up, and nothing that was not seen."""
    text = path.read_text("utf-8")
    stripped = re.sub(r"^\s*#.*\n?", "", text, flags=re.MULTILINE)
    entries = stripped.replace("\\\n", " ").strip().splitlines()

    assert re.findall(r"https?:|file:| @ .*", text) == []
    assert [entry for entry in entries if "==" not in entry or "--hash=" not in entry] == []


def test_each_asked_for_is_pinned():
    """`make lock` and `make lock-peers` were run after the last change."""
    missing = [
        path.stem
        for kind in KINDS
        for path in (ROOT / "requirements" / kind).glob("*.in")
        if not path.with_suffix(".txt").exists()
    ]

    assert missing == []
