"""What one call with its result, the evidence and all detectors cost."""

import gc
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from otel_watchdog import ModelTurn, Observation, ToolCall, ToolOutcome, ToolResult, Watchdog
from otel_watchdog.config import WatchdogConfig

CALLS = 3000
LARGE = 50_000
TEXT = (
    "def return import config session worker queue schema router header token cache retry index "
    "value result error path line file class self none true false with open read write"
)
WORDS = TEXT.split()


def text(randomness: random.Random, size: int) -> str:
    """Return lines of words and numbers as sources and logs hold them, all of them new."""
    lines = []
    length = 0
    while length < size:
        words = randomness.choices(WORDS, k=9)
        line = f"{randomness.randint(1, 9999)}: {' '.join(words)}_{randomness.randint(1, 9999)}"
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[:size]


def fresh(size: int) -> Iterator[tuple[str, str, str]]:
    """Yield tool, arguments and result of reading: each call and each result is new."""
    randomness = random.Random(1)  # noqa: S311 - the same text each time
    for number in range(CALLS if size < LARGE else CALLS // 10):
        body = text(randomness, size)
        yield "read_file", f'{{"path":"src/m{number}.py","limit":40}}', f"{number} {body}"


def repeated(size: int) -> Iterator[tuple[str, str, str]]:
    """Yield eight calls in turn, the same over and over but for a clock in each result."""
    randomness = random.Random(2)  # noqa: S311 - the same text each time
    bodies = [text(randomness, size - 30) for _ in range(8)]
    for number in range(CALLS):
        which = number % 8
        clock = f"2026-03-12T10:{number // 60 % 60:02d}:{number % 60:02d}Z"
        yield "read_file", f'{{"path":"src/m{which}.py"}}', f"{clock} {bodies[which]}"


def shell(size: int) -> Iterator[tuple[str, str, str]]:
    """Yield shell commands, one in four of which fails."""
    randomness = random.Random(3)  # noqa: S311 - the same text each time
    for number in range(CALLS if size < LARGE else CALLS // 10):
        body = text(randomness, size)
        if number % 4 == 3:  # noqa: PLR2004 - one in four
            body = f"Error: step {number} failed\n{body}"[:size]
        yield (
            "bash",
            f'{{"command":"python -m tool{number} --fast | head -50"}}',
            f"{number} {body}",
        )


SHAPES: dict[str, Callable[[int], Iterator[tuple[str, str, str]]]] = {
    "fresh": fresh,
    "repeated": repeated,
    "shell": shell,
}


def measure(calls: Iterator[tuple[str, str, str]]) -> dict[str, float]:
    """Return median and 99th percentile of a call with its result, in microseconds."""
    watchdog = Watchdog(config=WatchdogConfig())
    turns: list[tuple[Observation, Observation, Observation]] = [
        (
            ModelTurn("s", turn, float(turn), "Next.", tool_calls=1),
            ToolCall("s", turn, tool, arguments, f"c{turn}", float(turn)),
            ToolResult("s", turn, tool, ToolOutcome.OK, result, None, f"c{turn}", float(turn)),
        )
        for turn, (tool, arguments, result) in enumerate(calls, start=1)
    ]
    times = []
    gc.collect()
    gc.disable()
    for spoken, called, answered in turns:
        watchdog.observe(spoken)
        begin = time.perf_counter_ns()
        watchdog.observe(called)
        watchdog.observe(answered)
        times.append((time.perf_counter_ns() - begin) / 1000)
    gc.enable()
    times.sort()
    return {"median_us": statistics.median(times), "p99_us": times[int(len(times) * 0.99)]}


def report() -> dict[str, Any]:
    """Return the cost by size of the results and shape of the run."""
    return {
        f"{size // 1000} KB": {name: measure(shape(size)) for name, shape in SHAPES.items()}
        for size in (1000, 100_000)
    }
