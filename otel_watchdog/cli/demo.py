"""`otel-watchdog demo`: a real agent loops, and is corrected through nothing but its spans."""

import io
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from otel_watchdog import semconv
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.model import Mode
from otel_watchdog.processor import WatchdogSpanProcessor

TURN_LIMIT: Final = 60
"""Where the agent's own limit ends it, if nobody else does."""

LINES: Final = 18
WIDTH: Final = 120
_WEB_FONTS: Final = re.compile(r"@font-face\s*{[^}]*}")
"""Rich lets the reader's browser fetch fonts; the picture does without."""
_COLORS: Final = {1: "yellow", 2: "dark_orange", 3: "magenta", 4: "red", 5: "bold red"}


@dataclass
class Act:
    """One run of the agent, and what was seen of it."""

    title: str
    watched: bool
    heeds: bool
    agent: list[Text] = field(default_factory=list)
    """Lines about the agent."""
    watchdog: list[Text] = field(default_factory=list)
    """Lines about the watchdog."""
    corrections: list[dict[str, Any]] = field(default_factory=list)
    turns: int = 0
    tokens: int = 0
    outcome: str = ""


def demo(
    *,
    delay: Annotated[
        float, typer.Option(min=0, max=5, help="Seconds that each turn of the agent takes.")
    ] = 0.05,
    svg: Annotated[
        Path | None, typer.Option(help="Write a picture of the third run and the summary here.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")
    ] = False,
) -> None:
    """Show a looping agent being nudged, redirected and stopped.

    A real pydantic-ai agent with a scripted model reads the same file again and again: first
    alone, until its own limit; then watched, ignoring all it is told; then watched, heeding.

    For example: `otel-watchdog demo`, or `otel-watchdog demo --delay 0 --json`.
    """
    acts = [
        Act("alone", watched=False, heeds=False),
        Act("watched, and ignores what it is told", watched=True, heeds=False),
        Act("watched, and heeds what it is told", watched=True, heeds=True),
    ]
    console = Console(quiet=as_json, width=WIDTH if svg else None)
    for act in acts:
        with Live(_screen(act), console=console, auto_refresh=False) as live:
            _play(act, delay, lambda act=act, live=live: live.update(_screen(act), refresh=True))  # type: ignore[misc] # mypy knows no defaults of lambdas
    console.print(_summary_table(acts))
    if svg:
        picture = Console(record=True, width=WIDTH, file=io.StringIO())
        picture.print(_screen(acts[1]))
        picture.print(_summary_table(acts))
        drawn = picture.export_svg(title="otel-watchdog demo")
        svg.write_text(_WEB_FONTS.sub("", drawn), "utf-8")
    if as_json:
        sys.stdout.write(json.dumps([_facts(act) for act in acts], indent=2) + "\n")


class _Onlooker(SpanProcessor):
    """Notes the spans that pass: the agent's on the left, the watchdog's on the right."""

    def __init__(self, act: Act, delay: float, show: Callable[[], None]) -> None:
        self._act = act
        self._delay = delay
        self._show = show

    def on_end(self, span: ReadableSpan) -> None:
        """See `SpanProcessor.on_end`."""
        attributes = dict(span.attributes or {})
        scope = span.instrumentation_scope
        operation = attributes.get(semconv.GEN_AI_OPERATION_NAME)
        if scope is not None and scope.name == semconv.SCOPE:
            if semconv.WATCHDOG_OUTCOME in attributes or semconv.WATCHDOG_TIER not in attributes:
                return  # what came of a correction is seen in what follows
            _note_correction(self._act, span.name, attributes)
        elif operation == "chat" and semconv.GEN_AI_USAGE_OUTPUT_TOKENS in attributes:
            self._act.turns += 1
            time.sleep(self._delay)  # noqa: TID251 - the demo's own agent, so that people can watch
        elif operation == "execute_tool":
            call = f"{attributes.get(semconv.GEN_AI_TOOL_NAME)}"
            given = attributes.get(semconv.GEN_AI_TOOL_CALL_ARGUMENTS)
            self._act.agent.append(Text(f"turn {self._act.turns:2d}  {call} {given}"))
        self._show()


def _note_correction(act: Act, name: str, attributes: dict[str, Any]) -> None:
    tier = attributes[semconv.WATCHDOG_TIER]
    turn = attributes[semconv.WATCHDOG_TURN]
    message = str(attributes[semconv.OUTPUT_VALUE])
    act.corrections.append(
        {"span": name, "tier": attributes[semconv.WATCHDOG_TIER_NAME], "turn": turn}
    )
    act.watchdog += [
        Text(name, style=_COLORS[tier]),
        Text(f"  saw   {attributes[semconv.GEN_AI_EVALUATION_EXPLANATION]}", style="dim"),
        Text(f"  said  … {_ending(message)}"),
    ]


def _ending(message: str, chars: int = 80) -> str:
    """Return the last sentences of a message, where the advice stands."""
    start = message.rfind(". ", 0, max(0, len(message) - chars))
    return message[start + 2 :] if start >= 0 else message


def _play(act: Act, delay: float, show: Callable[[], None]) -> None:
    """Run the agent once under its own tracer provider."""
    from otel_watchdog.cli import demo_agent  # noqa: PLC0415 - an extra, needed here only

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(_Onlooker(act, delay, show))
    watchdog = None
    if act.watched:
        watchdog = WatchdogSpanProcessor(
            config=WatchdogConfig(mode=Mode.ENFORCE, refractory_seconds=0)
        )
        provider.add_span_processor(watchdog)
    act.outcome, act.tokens = demo_agent.run(
        provider, heeds=act.heeds, turn_limit=TURN_LIMIT, watchdog=watchdog
    )
    provider.shutdown()
    show()


def _screen(act: Act) -> RenderableType:
    """Return an act's picture: the agent on the left, the watchdog on the right."""
    grid = Table.grid(expand=True)
    grid.add_column(ratio=2)
    grid.add_column(ratio=3)
    grid.add_row(
        _panel(act.agent, f"agent · {act.turns} turns"),
        _panel(act.watchdog, "watchdog" if act.watched else "no watchdog"),
    )
    ending = Text(act.outcome, style="bold green" if act.outcome.startswith("fin") else "bold")
    return Panel(Group(grid, ending), title=act.title, title_align="left")


def _panel(lines: list[Text], title: str) -> Panel:
    shown = lines[-LINES:]
    for line in shown:
        line.no_wrap = True
        line.overflow = "ellipsis"
    return Panel(Group(*shown), title=title, title_align="left", height=LINES + 2)


def _summary_table(acts: list[Act]) -> Table:
    table = Table(title="What it came to", title_justify="left")
    for heading in ("run", "corrections", "turns", "tokens", "how it ended"):
        table.add_column(heading, justify="right" if heading in {"turns", "tokens"} else "left")
    for act in acts:
        tiers = ", ".join(f"{c['tier']} at {c['turn']}" for c in act.corrections) or "none"
        table.add_row(act.title, tiers, str(act.turns), f"{act.tokens:,}", act.outcome)
    return table


def _facts(act: Act) -> dict[str, Any]:
    return {
        "run": act.title,
        "watched": act.watched,
        "corrections": act.corrections,
        "turns": act.turns,
        "tokens": act.tokens,
        "outcome": act.outcome,
    }
