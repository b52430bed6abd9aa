"""A replayed run, for people: all that comes from the recording is untrusted text."""

from collections.abc import Collection, Iterator
from typing import Final

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from otel_watchdog.cli.safe import safe
from otel_watchdog.model import Severity, Tier
from otel_watchdog.replay import Corrected, Found, ReplayedRun

_TIER_STYLES: Final = {
    Tier.NUDGE: "yellow",
    Tier.REDIRECT: "dark_orange",
    Tier.FORCE_WRAP: "magenta",
    Tier.HARD_STOP: "red",
    Tier.TERMINATE: "bold red",
}
_SHORT: Final = 60
_LONG: Final = 600


def lines(run: ReplayedRun, shown: Collection[str]) -> Iterator[RenderableType]:
    """Yield what to print of a run.

    Args:
        run: The run.
        shown: Which of `observations`, `findings` and `corrections`.
    """
    yield _title(run)
    if "observations" in shown and run.observations:
        yield _observations(run)
    marks: list[Found | Corrected] = []
    if "findings" in shown:
        marks += run.findings
    if "corrections" in shown:
        marks += run.corrections
    if marks:
        marks.sort(key=lambda mark: mark.event)
        yield _marks(marks, _labels(run))
    elif shown != {"observations"}:
        yield Text("  nothing found", style="green")
    yield from _blind(run)
    yield Text("")


def _title(run: ReplayedRun) -> Text:
    counts = (
        _count(len(run.sessions), "session"),
        _count(sum(session.runs for session in run.sessions), "run"),
        _count(sum(session.turns for session in run.sessions), "turn"),
        _count(sum(session.calls for session in run.sessions), "tool call"),
    )
    title = Text(safe(run.id), style="bold")
    title.append(f"  {' · '.join(counts)}", style="not bold dim")
    return title


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _labels(run: ReplayedRun) -> dict[str, str]:
    """Return what to call sessions, where there are several: by the agent, if that tells."""
    if len(run.sessions) == 1:
        return {}
    agents = [session.agent for session in run.sessions]
    by_agent = None not in agents and len(set(agents)) == len(agents)
    return {
        session.id: safe((by_agent and session.agent) or session.id, limit=_SHORT)
        for session in run.sessions
    }


def _marks(marks: list[Found | Corrected], labels: dict[str, str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("turn", justify="right")
    if labels:
        table.add_column("session", overflow="fold", max_width=24)
    table.add_column("", no_wrap=True)
    table.add_column("detector", overflow="fold")
    table.add_column("what", overflow="fold", ratio=1)
    for mark in marks:
        if isinstance(mark, Found):
            turn, finding, text = mark.turn, mark.finding, mark.finding.reason
            if mark.held is not None:
                text = f"{text} (not told: {mark.held})"
            warn = finding.severity is Severity.WARN
            what = Text(finding.severity.value, style="yellow" if warn else "red")
        else:
            given = mark.correction
            turn, finding, text = given.turn, given.finding, given.message
            what = Text(f"⇒ {given.tier.label}", style=_TIER_STYLES[given.tier])
            if given.max_turns is not None:
                text = f"{text} (to end by turn {given.max_turns})"
        row = [Text(str(turn)), what, Text(safe(finding.detector)), Text(safe(text, limit=_LONG))]
        if labels:
            row.insert(1, Text(labels.get(mark.session, "")))
        table.add_row(*row)
    return table


def _observations(run: ReplayedRun) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("event", justify="right")
    table.add_column("turn", justify="right")
    table.add_column("agent", overflow="fold", max_width=20)
    table.add_column("kind", no_wrap=True)
    table.add_column("what", overflow="fold", ratio=1)
    for seen in run.observations:
        facts = seen.as_json()
        what = (facts["name"], facts["arguments"], facts["outcome"], facts["result"])
        table.add_row(
            Text(str(seen.event)),
            Text(str(facts["turn"])),
            Text(safe(facts["agent"] or "", limit=_SHORT)),
            Text(facts["kind"].replace("_", " ")),
            Text("  ".join(safe(str(part), limit=_SHORT) for part in what if part is not None)),
        )
    return table


def _blind(run: ReplayedRun) -> Iterator[Text]:
    """Say once for each reason which detectors could not see."""
    labels = _labels(run)
    for session, lacking in run.blind.items():
        reasons: dict[str, list[str]] = {}
        for detector, reason in lacking.items():
            reasons.setdefault(reason, []).append(detector)
        where = f" in {labels[session]}" if session in labels else ""
        for reason, detectors in reasons.items():
            names = safe(", ".join(detectors), limit=1000)
            yield Text(f"  blind{where}: {safe(reason)}: {names}", style="dim")
