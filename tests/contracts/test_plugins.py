"""What holds for every built-in plug-in: file = listed = documented = tested."""

from pathlib import Path

import pytest

from otel_watchdog import channels, detectors, dialects, judges, policies

ROOT = Path(__file__).parents[2]
KINDS = {
    "detectors": detectors,
    "dialects": dialects,
    "policies": policies,
    "channels": channels,
    "judges": judges,
}
PAGES = {
    "detectors": "detectors.md",
    "dialects": "dialects.md",
    "policies": "corrections.md",
    "channels": "corrections.md",
    "judges": "judge.md",
}
PLUGINS = [
    pytest.param(kind, cls, id=f"{kind}.{cls.name}")
    for kind, package in KINDS.items()
    for cls in package.BUILT_IN
]


def rows(page, kind):
    """Return the first column of the table in a page's section, or page, named after the kind."""
    text = (ROOT / page).read_text("utf-8")
    section = next(part for part in text.split("\n#") if part.lstrip("# ").lower().startswith(kind))
    return [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("kind", KINDS)
def test_each_file_holds_one_listed_plugin(kind):
    """A folder's files and its `BUILT_IN` name the same things."""
    files = {path.stem for path in (ROOT / "otel_watchdog" / kind).glob("*.py")}

    assert files - {"__init__", "base"} == {cls.name for cls in KINDS[kind].BUILT_IN}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folder", ["", "docs"])
def test_each_plugin_has_its_row(kind, folder):
    """The tables of README and site list what is built in, in the order it is asked."""
    page = f"docs/{PAGES[kind]}" if folder else "README.md"

    assert rows(page, kind) == [cls.name for cls in KINDS[kind].BUILT_IN]


@pytest.mark.parametrize(("kind", "cls"), PLUGINS)
def test_file_id_and_class_are_one_name(kind, cls):
    """`tool_failure_streak` is `ToolFailureStreak` in `tool_failure_streak.py`."""
    assert cls.__module__ == f"otel_watchdog.{kind}.{cls.name}"
    assert cls.__name__.lower() == cls.name.replace("_", "")


@pytest.mark.parametrize(("kind", "cls"), PLUGINS)
def test_each_plugin_is_public_in_its_package(kind, cls):
    """A plug-in is imported from its kind: `otel_watchdog.detectors.ToolFailureStreak`."""
    assert cls.__name__ in KINDS[kind].__all__


@pytest.mark.parametrize(("kind", "cls"), PLUGINS)
def test_each_plugin_has_its_test_file(kind, cls):
    """Tests mirror the source tree."""
    assert (ROOT / "tests" / "otel_watchdog" / kind / f"test_{cls.name}.py").is_file()


@pytest.mark.parametrize("cls", detectors.BUILT_IN, ids=lambda cls: cls.name)
def test_each_detector_admits_where_it_is_wrong(cls):
    """Who reads about a detector learns when it fires without cause."""
    assert "Known false positive:" in (cls.__doc__ or "")
