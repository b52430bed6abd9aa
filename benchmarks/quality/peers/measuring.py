"""Has every detector watch the same runs, each in its own environment, and scores all alike."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.quality.peers import PACKAGES, RULES
from benchmarks.quality.peers.guards import HALT
from benchmarks.quality.peers.steps import Call, steps_of
from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.scores import Verdict, judge, score
from otel_watchdog.version import VERSION

ROOT = Path(__file__).parents[3]
ENVIRONMENTS = Path(os.environ.get("OTEL_WATCHDOG_PEERS", ROOT / ".venv-peers"))
MAX_SECONDS = 1800
LIMITS = range(3, 101)
"""Counts of calls that are tried for the best one in hindsight."""
OURS = "otel-watchdog"


@dataclass(frozen=True, slots=True)
class Row:
    """What one detector made of a set of runs."""

    name: str
    version: str
    verdicts: Sequence[Verdict] = ()
    """Of each run; a run on which it crashed has what it said until then."""
    crashes: Sequence[str] = field(default_factory=tuple)
    """Runs on which it raised, and what."""
    failure: str | None = None
    """Why it could not be measured at all; then there are no verdicts."""

    def only(self, wanted: Callable[[LabelledRun], bool]) -> "Row":
        """Return the row over some of the runs."""
        kept = [one for one in self.verdicts if wanted(one.run)]
        ids = {one.run.id for one in kept}
        crashes = [one for one in self.crashes if one.split(": ", 1)[0] in ids]
        return replace(self, verdicts=kept, crashes=crashes)

    def as_json(self) -> dict[str, Any]:
        """Return all figures, or why there are none."""
        told: dict[str, Any] = {
            "name": self.name,
            "version": self.version,
            "failure": self.failure,
            "crashes": list(self.crashes),
        }
        if self.failure is None:
            for key, grade in (("spoke", "correction"), ("halted", "critical")):
                told[key] = score(self.verdicts, grade).as_json()
        return told


def measure(runs: Sequence[LabelledRun]) -> list[Row]:
    """Return the row of each detector, ours first."""
    rows = [Row(OURS, VERSION, judge(runs))]
    for adapter in (*PACKAGES, *RULES):
        rows += watched_by(adapter, runs)
    return [*rows, best_count(runs)]


def python_of(adapter: str) -> Path:
    """Return the interpreter of an adapter's environment; rules written anew run in this one."""
    package = PACKAGES.get(adapter)
    if package is None:
        return Path(sys.executable)
    return ENVIRONMENTS / package / "bin" / "python"


def watched_by(adapter: str, runs: Sequence[LabelledRun]) -> list[Row]:
    """Return the rows of an adapter; if it cannot be had or dies, one that says so."""
    name = PACKAGES.get(adapter, adapter)
    python = python_of(adapter)
    if not python.exists():
        return [Row(name, "-", failure="not installed")]
    text = "".join(
        json.dumps({"events": list(run.events), "is_good": run.expect == "quiet"}) + "\n"
        for run in runs
    )
    try:
        return [_row(one, runs) for one in _ask(python, adapter, text)]
    except subprocess.TimeoutExpired:
        return [Row(name, "-", failure=f"not done within {MAX_SECONDS} seconds")]
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:] or [f"exit {error.returncode}"]
        return [Row(name, "-", failure=f"died: {printable(last[0])}")]
    except (ValueError, KeyError, TypeError):
        return [Row(name, "-", failure="its answer could not be read")]


def _ask(python: Path, adapter: str, text: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(  # noqa: S603 - an interpreter of our own and a name from our list
            [str(python), "-m", "benchmarks.quality.peers.worker", adapter],
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
            timeout=MAX_SECONDS,
            cwd=ROOT,
            # Nothing of this machine's settings or keys: each is measured as it comes.
            env={"HOME": home, "TMPDIR": home, "PATH": os.defpath, "PYTHONUTF8": "1"},
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def _row(told: dict[str, Any], runs: Sequence[LabelledRun]) -> Row:
    verdicts, crashes = [], []
    for run, one in zip(runs, told["runs"], strict=True):
        verdicts.append(
            Verdict(
                run,
                tuple(event for event, _ in one["said"]),
                tuple(event for event, grade in one["said"] if grade == HALT),
                (),
            )
        )
        if one["crash"] is not None:
            crashes.append(f"{run.id}: {printable(one['crash'])}")
    return Row(told["name"], printable(told["version"]), verdicts, crashes)


def best_count(runs: Sequence[LabelledRun]) -> Row:
    """Return the count of calls that does best on these very runs: no rule could know it before."""
    calls = [
        [step.index for step in steps_of(run.events) if isinstance(step, Call)] for run in runs
    ]

    def halted(limit: int) -> list[Verdict]:
        events = [tuple(one[limit:]) for one in calls]
        return [Verdict(run, at, at, ()) for run, at in zip(runs, events, strict=True)]

    best = max(LIMITS, key=lambda limit: score(halted(limit)).f1)
    return Row("count of calls, best in hindsight", f"{best} calls", halted(best))


def printable(text: str) -> str:
    """Return foreign text on one line, without what a terminal or a table would obey."""
    return "".join(one if one.isprintable() else " " for one in text).replace("|", "/")[:200]
