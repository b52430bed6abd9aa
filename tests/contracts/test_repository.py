"""What holds for the files of the repository, whatever they hold."""

import re
import tomllib
from pathlib import Path

import pytest

from otel_watchdog.version import VERSION

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "requirements" / "constraints.txt"
BUILT = {"__pycache__", "_build", "build", "dist", "modules"}
DATA = {".gz", ".json", ".jsonl", ".pb", ".png"}
MACHINE_PATH = re.compile(r"(?<![\w./~}])/(?:home|root|work|Users)/\w")
FRAGMENT = re.compile(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md")


def own_files():
    """Return the repository's files, without what is built, installed or kept by tools."""
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") for part in parts[:-1] if part != ".ci")
        if path.is_file() and not hidden and not BUILT.intersection(parts):
            yield path


def pinned():
    """Return the names that are pinned, also for adapters alone, in lower case with hyphens."""
    lists = [CONSTRAINTS, *(ROOT / "requirements" / "adapters").glob("*.txt")]
    text = "\n".join(path.read_text("utf-8") for path in lists)
    found = re.findall(r"^([A-Za-z0-9._-]+)==", text, re.MULTILINE)
    return {re.sub(r"[._]", "-", name).lower() for name in found}


def test_the_constraints_file_names_no_index():
    """It installs from whichever index the reader has set up."""
    text = CONSTRAINTS.read_text("utf-8")

    assert re.findall(r"https?:|file:|^-.*|--(?!hash=).*| @ .*", text, re.MULTILINE) == []


def test_each_pin_has_its_hash():
    """What was not seen when the pins were made is not installed."""
    text = re.sub(r"^\s*#.*\n?", "", CONSTRAINTS.read_text("utf-8"), flags=re.MULTILINE)
    entries = text.replace("\\\n", " ").strip().splitlines()

    assert [entry for entry in entries if "==" not in entry or "--hash=" not in entry] == []


@pytest.mark.parametrize("project", ["", "collector"])
def test_each_dependency_is_pinned(project):
    """`make lock` was run after the last change of dependencies."""
    table = tomllib.loads((ROOT / project / "pyproject.toml").read_text("utf-8"))
    groups = [
        table["build-system"]["requires"],
        table["project"]["dependencies"],
        *table["project"].get("optional-dependencies", {}).values(),
        *table.get("dependency-groups", {}).values(),
    ]
    names = {re.split(r"[^A-Za-z0-9._-]", entry)[0] for group in groups for entry in group}
    wanted = {re.sub(r"[._]", "-", name).lower() for name in names} - {"otel-watchdog"}

    assert wanted - pinned() == set()


@pytest.mark.parametrize("project", ["", "collector"])
def test_both_distributions_have_the_librarys_version(project):
    """They are released together."""
    table = tomllib.loads((ROOT / project / "pyproject.toml").read_text("utf-8"))

    assert table["project"]["version"] == VERSION


def test_no_file_names_somebodys_machine():
    """No path of a home folder or a checkout; recorded data may hold what it holds."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in own_files()
        if path.suffix not in DATA and "testdata" not in path.parts
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if MACHINE_PATH.search(line) or str(ROOT) in line
    ]

    assert found == []


def test_changelog_fragments_are_named_by_their_kind():
    """`<short-name>.<added|changed|fixed|removed>.md`, so that a release can gather them."""
    names = {path.name for path in (ROOT / "changelog.d").iterdir()} - {"README.md"}

    assert [name for name in names if not FRAGMENT.fullmatch(name)] == []
