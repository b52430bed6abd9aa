"""Prints how often the watchdog is right, in profile `standard`.

    python -m benchmarks.quality [--corpus PATH] [--source NAME=PATH …] [--quick] [--judge NAME]
                                 [--json] [--chart FILE]

The suite and the cases lie beside this file and were written for this project. A corpus of labelled
runs is given by its path: one JSON object a line, as observation lines with `source`, `expect`
(`fire`, `quiet` or `borderline`) and `fire_by_turn`. A source is read from its own published files:
`trail` and `agent_reward_bench`, whose runs people have labelled; `tau_bench`, `intercode`,
`swe_agent` and `mini_swe_agent`, of which it is known whether the task was solved. Nobody has
labelled these: it is told how many are warned and halted, of all and, wrongly, of the solved ones.

A correction is one that `otel-watchdog replay --json` lists; critical is a finding of that
severity. A fire before the onset of a fault counts as a false one. Where a run says from which
event on it is to be judged, what came before does not count, for quiet runs neither.

With `--judge` it says what a judge adds to the rules, and what one that is wrong takes from them:
`careful` knows the labels, `fallible` errs once in ten, `stuck` and `fine` always say the same, and
`lying` says what a tool result commands. None is a model: see `benchmarks/quality/judges.py`.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality import chart, judges, timing
from benchmarks.quality.crossvalidation import cross_validated, neighbours
from benchmarks.quality.runs import LabelledRun, cases, corpus, suite
from benchmarks.quality.scores import Verdict, alarms, judge, score
from benchmarks.quality.sources import SOURCES, load
from benchmarks.quality.transformations import TRANSFORMATIONS, joined, without_results

GRADES = ("correction", "critical")


def report_on(runs: Sequence[LabelledRun], *, quick: bool) -> dict[str, Any]:
    """Return all figures of one set of runs; of unlabelled ones, how many are warned."""
    verdicts = judge(runs)
    told: dict[str, Any] = {"alarms": alarms(verdicts), "detectors": _by_detector(verdicts)}
    if all(run.expect == "unlabelled" for run in runs):
        return told
    told |= {
        grade: {
            "all": score(verdicts, grade).as_json(),
            "groups": _grouped(verdicts, grade, lambda one: one.run.group),
            "age": _grouped(
                verdicts, grade, lambda one: "modern" if one.run.is_modern else "older"
            ),
        }
        for grade in GRADES
    }
    told["in_time_by_kind"] = sum(one.is_hit("correction") and one.names_kind() for one in verdicts)
    told["wrong"] = _wrong(verdicts)
    if quick:
        return told
    variants = neighbours(runs)
    told["neighbours"] = {name: score(found).as_json() for name, found in variants.items()}
    for grade in GRADES:
        validated, chosen = cross_validated(variants, partial(score, grade=grade))
        told[grade]["cross_validated"] = validated.as_json()
        told[grade]["chosen"] = chosen
    told["robustness"] = _robustness(runs)
    return told


def _grouped(
    verdicts: Sequence[Verdict], grade: str, group: Callable[[Verdict], str]
) -> dict[str, Any]:
    names = sorted({group(one) for one in verdicts})
    return {
        name: score([one for one in verdicts if group(one) == name], grade).as_json()
        for name in names
    }


def _wrong(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    found = []
    for one in verdicts:
        fired = one.fired_at("correction")
        if one.run.expect not in {"fire", "quiet"} or one.is_hit("correction"):
            continue
        if one.run.is_fire or fired is not None:
            speaking = next((f[1] for f in one.findings if f[0] == fired), None)
            found.append(
                {"id": one.run.id, "expect": one.run.expect, "fired": fired, "detector": speaking}
            )
    return found


def _by_detector(verdicts: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    """Return by detector in how many runs it fired, rightly and wrongly, and alone.

    In a solved run that nobody has labelled, it fired wrongly.
    """
    counts: dict[str, dict[str, int]] = {}
    for one in verdicts:
        is_wrong = one.run.expect == "quiet" or (
            one.run.expect == "unlabelled" and one.run.is_solved
        )
        if not (one.run.is_fire or is_wrong):
            continue
        fired = {name for event, name, _, _ in one.findings if event >= one.run.evaluate_from}
        for name in fired:
            count = counts.setdefault(name, {"right": 0, "wrong": 0, "alone": 0})
            count["wrong" if is_wrong else "right"] += 1
            count["alone"] += len(fired) == 1 and one.run.is_fire
    return dict(sorted(counts.items(), key=lambda item: -item[1]["right"]))


def _robustness(runs: Sequence[LabelledRun]) -> dict[str, Any]:
    told = {}
    for name, change in {**TRANSFORMATIONS, "results not captured": without_results}.items():
        randomness = random.Random(7)  # noqa: S311 - the same runs each time
        verdicts = judge([change(run, randomness) for run in runs])
        told[name] = {grade: score(verdicts, grade).as_json() for grade in GRADES}
    randomness = random.Random(3)  # noqa: S311 - the same runs each time
    verdicts = judge(joined(runs, randomness))
    told["quiet runs joined, user messages between"] = {
        grade: score(verdicts, grade).as_json() for grade in GRADES
    }
    return told


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--corpus", type=Path, help="labelled runs, one JSON object a line")
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help=f"runs of a public source, {', '.join(SOURCES)}; may be given several times",
    )
    parser.add_argument("--quick", action="store_true", help="no neighbours and no robustness")
    parser.add_argument("--judge", choices=judges.JUDGES, help="what a judge adds and takes away")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--chart", type=Path, help="write a chart of the neighbours as SVG")
    options = parser.parse_args()
    sets = {"suite": suite(), "cases": cases()}
    if options.corpus:
        sets["corpus"] = corpus(options.corpus)
    try:
        sets |= dict(map(load, options.source))
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if options.judge:
        told = {
            name: judges.report_on(runs, options.judge)
            for name, runs in sets.items()
            if any(run.expect != "unlabelled" for run in runs)
        }
        if options.json:
            sys.stdout.write(json.dumps(told, indent=2) + "\n")
        else:
            sys.stdout.write("\n".join(_lines_of_judge(options.judge, told)) + "\n")
        return
    report: dict[str, Any] = {
        name: report_on(runs, quick=options.quick) for name, runs in sets.items()
    }
    report["cost"] = timing.report()
    if options.chart and not options.quick:
        options.chart.write_text(chart.draw(report), "utf-8")
    if options.json:
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(report)) + "\n")


def _lines(report: dict[str, Any]) -> list[str]:
    lines = []
    for name, told in report.items():
        if name != "cost":
            lines += ["", name.upper(), *_lines_of(told)]
    lines += ["", "COST of a call with its result, evidence and all detectors"]
    for size, shapes in report["cost"].items():
        lines += [
            f"  {size:7} {shape:10} median {figures['median_us']:8.1f} µs"
            f"   p99 {figures['p99_us']:8.1f} µs"
            for shape, figures in shapes.items()
        ]
    return lines


def _lines_of(told: dict[str, Any]) -> list[str]:
    lines = _lines_of_alarms(told)
    for grade in GRADES if "correction" in told else ():
        lines.append(_line(grade, told[grade]["all"]))
        if "cross_validated" in told[grade]:
            lines.append(_line("  cross-validated", told[grade]["cross_validated"]))
        ages = told[grade]["age"]
        lines += [_line(f"  {age}", ages[age]) for age in ages if len(ages) > 1]
    if "correction" in told:
        lines.append("  by group, corrections:")
        lines += [_line(f"    {n}", s) for n, s in told["correction"]["groups"].items()]
    lines.append("  by detector, runs right / wrong / found by it alone:")
    lines += [
        f"    {detector:34} {count['right']:4} / {count['wrong']} / {count['alone']}"
        for detector, count in told["detectors"].items()
    ]
    lines += [f"  wrong: {one}" for one in told.get("wrong", ())]
    if "neighbours" in told:
        lines.append("  one threshold changed, corrections:")
        lines += [_line(f"    {which}", figures) for which, figures in told["neighbours"].items()]
        lines.append("  in other surroundings:")
        for which, graded in told["robustness"].items():
            lines += [_line(f"    {which}, {grade}", graded[grade]) for grade in GRADES]
    return lines


def _lines_of_alarms(told: dict[str, Any]) -> list[str]:
    """Return how many runs are warned and halted, of all and of the solved ones."""
    return [
        f"{which + ' runs ' + what:58} {share['count']:>5}/{share['runs']:<5} "
        f"{share['share']:.4f} [{share['interval'][0]:.4f}-{share['interval'][1]:.4f}]"
        for which, figures in told["alarms"].items()
        for what, share in figures.items()
    ]


def _lines_of_judge(judge: str, told: dict[str, Any]) -> list[str]:
    lines = [f"JUDGE {judge}, mode enforce"]
    for name, figures in told.items():
        lines.append(f"  {name}")
        for which, value in figures.items():
            if isinstance(value, dict):
                lines.append(_line(f"    {which}", value))
            else:
                lines.append(f"    {which}: {value}")
    return lines


def _line(name: str, figures: dict[str, Any]) -> str:
    def share(which: str, count: str, total: str) -> str:
        interval = figures[f"{which}_interval"]
        if interval is None:
            return " " * 26
        low, high = interval
        return (
            f"{figures[which]:.3f} [{low:.2f}-{high:.2f}] {figures[count]:>3}/{figures[total]:<3}"
        )

    return (
        f"{name:58} R {share('recall', 'hits', 'fires')}  FPR "
        f"{share('false_rate', 'false', 'quiets')}  P {figures['precision']:.3f} "
        f"F1 {figures['f1']:.3f}  early {figures['early']} delay {figures['delay_median_turns']}"
    )


if __name__ == "__main__":
    main()
