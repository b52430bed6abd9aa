"""Runs the pages: their Python blocks as doctests or programs, their console blocks as commands.

A block that is not to be run stands as `sh`, `yaml` or `text`.
"""

import os
import subprocess
import sys
from doctest import ELLIPSIS
from importlib import import_module
from pathlib import Path

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).parent
DOCS = ROOT / "docs"
ADAPTERS = ROOT / "otel_watchdog" / "adapters"
SECONDS_PER_COMMAND = 60


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the documentation's programs, and an adapter whose framework is not here.

    No other file may fail to import.
    """
    if collection_path.parent == DOCS and collection_path.suffix == ".py":
        return True
    if collection_path.parent != ADAPTERS or collection_path.suffix != ".py":
        return None
    try:
        import_module(f"otel_watchdog.adapters.{collection_path.stem}")
    except ModuleNotFoundError as error:
        return None if (error.name or "").startswith("otel_watchdog") else True
    return None


def _run_console_block(example: Example) -> str | None:
    """Run each `$ command`; what stands under it, if anything, must be what it prints."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    for chunk in ("\n" + example.parsed).split("\n$ ")[1:]:
        command, _, expected = chunk.partition("\n")
        done = subprocess.run(  # noqa: S602 - the commands are those of our own pages
            command,
            shell=True,
            cwd=ROOT,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            timeout=SECONDS_PER_COMMAND,
            check=False,
        )
        if done.returncode != 0:
            return f"{command!r} ended with {done.returncode}: {done.stderr}"
        if expected.strip() and expected.strip() != done.stdout.strip():
            return f"{command!r} printed {done.stdout!r}, the page says {expected!r}"
    return None


pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=ELLIPSIS),
        CodeBlockParser(language="console", evaluator=_run_console_block),
        SkipParser(),
    ],
    patterns=["*.md"],
).pytest()
