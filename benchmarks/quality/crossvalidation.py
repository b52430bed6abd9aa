"""Chooses thresholds on all groups but one and tries them there: what a figure says elsewhere."""

from collections.abc import Callable, Mapping, Sequence

from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.scores import Score, Verdict, judge
from otel_watchdog import detectors as d, profiles

Variant = Mapping[str, Callable[[], d.Detector]]
"""Detectors made otherwise, by name."""

VARIANTS: dict[str, Variant] = {
    "as shipped": {},
    "unchanged_result 2": {"unchanged_result": lambda: d.UnchangedResult(threshold=2)},
    "unchanged_result 4": {
        "unchanged_result": lambda: d.UnchangedResult(threshold=4, critical_threshold=6)
    },
    "unchanged_result 5": {
        "unchanged_result": lambda: d.UnchangedResult(threshold=5, critical_threshold=7)
    },
    "unchanged_result, polls 3": {"unchanged_result": lambda: d.UnchangedResult(poll_threshold=3)},
    "unchanged_result, polls 7": {"unchanged_result": lambda: d.UnchangedResult(poll_threshold=7)},
    "result_cycle 3": {"result_cycle": lambda: d.ResultCycle(threshold=3)},
    "same_error 3": {"same_error": lambda: d.SameError(threshold=3)},
    "same_error 5": {"same_error": lambda: d.SameError(threshold=5, alike_threshold=4)},
    "same_error, alike 4": {"same_error": lambda: d.SameError(alike_threshold=4)},
    "reworded_call 3": {"reworded_call": lambda: d.RewordedCall(threshold=3)},
    "reworded_call 5": {"reworded_call": lambda: d.RewordedCall(threshold=5)},
    "failing_check 3": {"failing_check": lambda: d.FailingCheck(threshold=3)},
    "failing_check 5": {"failing_check": lambda: d.FailingCheck(threshold=5)},
    "undone_edit 3": {"undone_edit": lambda: d.UndoneEdit(threshold=3)},
    "failure streak 4": {
        "tool_failure_streak": lambda: d.ToolFailureStreak(
            threshold=4, critical_threshold=8, by_evidence=True
        )
    },
    "failure streak 6": {
        "tool_failure_streak": lambda: d.ToolFailureStreak(
            threshold=6, critical_threshold=9, by_evidence=True
        )
    },
    "reworded_result 3": {"reworded_result": lambda: d.RewordedResult(threshold=3)},
    "reworded_result 5": {
        "reworded_result": lambda: d.RewordedResult(threshold=5, equal_threshold=4)
    },
    "unmoved_page 2": {"unmoved_page": lambda: d.UnmovedPage(threshold=2)},
    "unmoved_page 4": {"unmoved_page": lambda: d.UnmovedPage(threshold=4)},
    "reworded_request 3": {"reworded_request": lambda: d.RewordedRequest(threshold=3)},
    "reworded_request 5": {"reworded_request": lambda: d.RewordedRequest(threshold=5)},
    "repeated_text 2": {"repeated_text": lambda: d.RepeatedText(threshold=2)},
    "repeated_text 4": {"repeated_text": lambda: d.RepeatedText(threshold=4)},
    "green_but_continuing 2": {"green_but_continuing": lambda: d.GreenButContinuing(threshold=2)},
    "duplicate_work 2": {"duplicate_work": lambda: d.DuplicateWork(threshold=2)},
    "known_lines 4": {"known_lines": lambda: d.KnownLines(threshold=4)},
    "known_lines 6": {"known_lines": lambda: d.KnownLines(threshold=6)},
    "echoed_program 4": {"echoed_program": lambda: d.EchoedProgram(threshold=4)},
    "auth_wall 4": {"auth_wall": lambda: d.AuthWall(threshold=4)},
}
"""The neighbours of each threshold."""


def detectors_of(variant: Variant) -> list[d.Detector]:
    """Return the detectors of profile `standard`, some of them made otherwise."""
    made = [make() for make in profiles.STANDARD]
    return [variant[one.name]() if one.name in variant else one for one in made]


def neighbours(runs: Sequence[LabelledRun]) -> dict[str, list[Verdict]]:
    """Return what each variant makes of the runs."""
    return {
        name: judge(runs, detectors=detectors_of(variant)) for name, variant in VARIANTS.items()
    }


def cross_validated(
    verdicts: Mapping[str, Sequence[Verdict]], score: Callable[[Sequence[Verdict]], Score]
) -> tuple[Score, dict[str, str]]:
    """Return the score over all groups, each judged by the variant that is best on the others.

    Args:
        verdicts: Of each variant, in the same order of runs.
        score: Counts.

    Returns:
        The score, and which variant was chosen for each group left out.
    """
    groups = sorted({verdict.run.group for verdict in verdicts["as shipped"]})
    chosen: dict[str, str] = {}
    kept: list[Verdict] = []
    for group in groups:

        def elsewhere(name: str, group: str = group) -> tuple[float, float, int]:
            rest = score([one for one in verdicts[name] if one.run.group != group])
            return (round(rest.f1, 6), -float(rest.false), name == "as shipped")

        best = max(verdicts, key=elsewhere)
        chosen[group] = best
        kept += [one for one in verdicts[best] if one.run.group == group]
    return score(kept), chosen
