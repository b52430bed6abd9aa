"""What a model span costs as the conversation before it grows.

    python benchmarks/history.py [--repeat 7]

Model spans repeat the whole conversation. Read is only what is new, so a span of turn 46 may cost
no more than one of turn 5. Measured is reading the span and telling what it adds, without the
detectors, on the recordings of 46 turns; the best of several replays counts for each span.
"""

import argparse
import gc
import gzip
import json
import time
from pathlib import Path

from otel_watchdog.otlp import in_order, spans_of
from otel_watchdog.scopes import Scopes
from otel_watchdog.sessions import Sessions
from otel_watchdog.spans import ModelReading

RECORDINGS = Path(__file__).parents[1] / "tests" / "recordings"
EARLY, LATE = slice(3, 9), slice(38, 44)


def costs(spans):
    """Return the seconds that each model span costs, in order."""
    scopes = Scopes()
    sessions = Sessions(lambda span: scopes.read(scopes[span.scope], span))
    found = []
    for index, opens in in_order(spans):
        span = spans[index]
        if opens:
            sessions.open(span.span_id, span.parent_id, span)
            continue
        begin = time.perf_counter()
        reading = scopes.read(scopes[span.scope], span)
        node = sessions.close(span.span_id, span.parent_id)
        sessions.observe(node, span, reading)
        end = time.perf_counter()
        if isinstance(reading, ModelReading):
            found.append(end - begin)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    gc.disable()
    print(f"{'recording':<44}{'turns 4-9':>12}{'turns 39-44':>12}{'ratio':>8}")  # noqa: T201
    for path in sorted(RECORDINGS.glob("*_long.json.gz")):
        with gzip.open(path) as file:
            spans = list(spans_of(json.load(file)))
        best = [min(each) for each in zip(*(costs(spans) for _ in range(repeat)), strict=True)]
        early, late = (sum(best[part]) / len(best[part]) * 1e6 for part in (EARLY, LATE))
        name = path.name.removesuffix(".json.gz")
        print(f"{name:<44}{early:>10.0f} µs{late:>10.0f} µs{late / early:>8.2f}")  # noqa: T201


if __name__ == "__main__":
    main()
