"""Writes `docs/frameworks/`: what is visible of each framework, read off its recordings.

And how its agents are corrected, which is the program in `examples` that the adapters' tests run.

    python docs/write_frameworks.py

`tests/contracts/test_frameworks.py` fails where a page is not what this would write.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from otel_watchdog import doctor

ROOT: Final = Path(__file__).parents[1]
RECORDINGS: Final = ROOT / "tests" / "recordings"
PAGES: Final = ROOT / "docs" / "frameworks"
EXAMPLES: Final = ROOT / "examples"
TABLE: Final = PAGES / "frameworks.toml"

COUNTED: Final = ("arguments", "results", "ids", "outcomes")
WORDS: Final = {"ids": "call ids"}
FIRST: Final = """from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from otel_watchdog import install

trace.set_tracer_provider(TracerProvider())
"""


def pages() -> dict[str, str]:
    """Return the text of each page by its file's name."""
    table = tomllib.loads(TABLE.read_text("utf-8"))
    written = {f"{slug}.md": "\n".join(_page(facts)) for slug, facts in table.items()}
    written["index.md"] = "\n".join(_index(table))
    return written


def _index(table: Mapping[str, Any]) -> Iterator[str]:
    yield "# Frameworks\n"
    yield "What each framework shows of its agents, and what to set so that it shows more.\n"
    yield "```{toctree}\n:maxdepth: 1\n"
    yield from table
    yield "```\n"


def _page(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {facts['title']}\n"
    yield "<!-- Written by docs/write_frameworks.py: change frameworks.toml, then run it. -->\n"
    if note := facts.get("note"):
        yield f"{note}\n"
    for way in facts["ways"]:
        yield from _way(way)
    for adapter in facts.get("adapters", ()):
        yield from _adapter(adapter)


def _adapter(extra: str) -> Iterator[str]:
    file = EXAMPLES / f"{extra.replace('-', '_')}_agent.py"
    yield f"## Corrections: `otel-watchdog[{extra}]`\n"
    yield f"```sh\npip install 'otel-watchdog[{extra}]'\n```\n"
    yield f"```py\n{file.read_text('utf-8').strip()}\n```\n"


def _way(way: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {way['title']}\n"
    if install := way.get("install"):
        yield f"```sh\n{install}\n```\n"
    if "python" in way:
        yield f"```py\n{FIRST}{way['python'].strip()}\n\ninstall()\n```\n"
    elif "code" in way:
        yield f"```{way.get('language', 'text')}\n{way['code'].strip()}\n```\n"
    names = way["recordings"]
    reports = [(name, _examined(name)) for name in names]
    columns = ["recorded", "tool calls", *(WORDS.get(what, what) for what in COUNTED)]
    columns += ["turns", "agent", "session"]
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for name, report in reports:
        yield _row(name, report)
    yield ""
    yield from _said(reports)


def _examined(name: str) -> doctor.Report:
    """Examine a recording; `a+logs` is one with its log records."""
    stem, _, logs = name.partition("+")
    files = [RECORDINGS / f"{stem}.json.gz"]
    if logs:
        files.append(RECORDINGS / f"{stem}.{logs}.json.gz")
    return doctor.examine_recording(files)


def _row(name: str, report: doctor.Report) -> str:
    agents = sorted({session.agent for session in report.sessions if session.agent})
    known = any(len(session.id) != len(f"{0:032x}") for session in report.sessions)
    cells = [
        f"`{name}`",
        str(report.calls.total),
        *(_share(report, what) for what in COUNTED),
        str(sum(session.turns for session in report.sessions)),
        "yes" if agents else "no",
        "yes" if known else "no",
    ]
    return f"| {' | '.join(cells)} |"


def _share(report: doctor.Report, what: str) -> str:
    share = report.calls.share(what)
    return "-" if share is None else f"{share:.0%}"


def _said(reports: list[tuple[str, doctor.Report]]) -> Iterator[str]:
    """Yield what is not visible, and the switches."""
    for name, report in reports:
        if not report.calls.total:
            yield f"Not visible in `{name}`: tool calls.\n"
            continue
        missing = [WORDS.get(what, what) for what in COUNTED if report.calls.share(what) != 1]
        if missing:
            yield f"Not always visible in `{name}`: {', '.join(missing)}.\n"
    settings = dict.fromkeys(
        (remedy.setting, remedy.shows) for _, report in reports for remedy in report.remedies
    )
    if settings:
        yield "To see more, set\n"
        yield from (f"- `{setting}`: {shows}" for setting, shows in settings)
        yield ""


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        (PAGES / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
