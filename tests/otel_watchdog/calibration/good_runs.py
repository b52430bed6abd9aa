"""Good runs to calibrate on: those of the quality benchmark, and ones made to order."""

import io
import json

from benchmarks.quality.runs import cases, suite
from otel_watchdog.calibration import read


def lines(count, *, errors=0, first=0):
    """Return observation lines of good runs, in so many of which one call fails three times."""
    made = []
    for number in range(first, first + count):
        events = []
        for turn in range(1, 9):
            fails = number - first < errors and 3 <= turn <= 5
            said = f"boom {turn}" if fails else f"row {number * 7919 + turn}"
            call_id = f"c{turn}"
            query = {"q": f"thing {number * 31 + turn}"}
            events += [
                {
                    "kind": "tool_call",
                    "turn": turn,
                    "name": "find",
                    "args": query,
                    "call_id": call_id,
                },
                {
                    "kind": "tool_result",
                    "turn": turn,
                    "name": "find",
                    "result": said,
                    "error": fails,
                    "call_id": call_id,
                },
            ]
        made.append(json.dumps({"id": f"run-{number}", "events": events}))
    return "\n".join(made).encode()


def good(count, config, **options):
    """Return good runs made to order."""
    return list(read(io.BytesIO(lines(count, **options)), config))


def honest(config):
    """Return the honest work of suite and cases, some of which looks like a loop."""
    runs = [one for one in (*suite(), *cases()) if one.expect == "quiet" and not one.evaluate_from]
    text = "\n".join(
        json.dumps({"id": str(number), "events": list(run.events)})
        for number, run in enumerate(runs)
    )
    return list(read(io.BytesIO(text.encode()), config))
