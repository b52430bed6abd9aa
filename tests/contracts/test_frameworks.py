"""The pages on frameworks say what the recordings show."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "frameworks"


def writer():
    """Return the names of the script that writes the pages."""
    return runpy.run_path(str(ROOT / "docs" / "write_frameworks.py"))


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_pages_are_current():
    """After a change of a dialect, `python docs/write_frameworks.py` writes them anew."""
    pages = writer()["pages"]()

    assert {path.name for path in PAGES.glob("*.md")} == set(pages)
    assert [name for name, text in pages.items() if (PAGES / name).read_text() != text] == []
