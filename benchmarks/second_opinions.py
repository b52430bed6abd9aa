"""Whether second opinions without a model find what rules miss, at how many false alarms.

    python benchmarks/second_opinions.py --corpus PATH [--embedding FOLDER]

Two measures, each over one agent's texts in order, begun anew when a user speaks. *Novelty*: of a
text's words, the share that the session has not seen; it fires where several in a row bring too
little. *Embedding*: of the last nine calls of a tool, or messages, how many are worded
otherwise and alike in meaning. Its folder is that of the unpacked package `wordllama`, which holds
a small model; `safetensors`, `tokenizers` and `numpy` are needed, too.

The rules' own misses are found by replaying the runs, and only thresholds are shown that find any
of them. For what came of it see docs/judge.md.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.quality.runs import LabelledRun, cases, corpus, suite
from benchmarks.quality.scores import judge

WORD = re.compile(r"[^\W_]+")
MIN_WORDS = 5
MIN_CHARS = 15
WINDOW = 8
NOVELTIES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
COSINES = (0.8, 0.85, 0.9, 0.93, 0.96)
LENGTHS = (3, 4, 5, 6, 8)


class Said(NamedTuple):
    event: int
    kind: str
    tool: str | None
    text: str


def texts(run: LabelledRun) -> Iterator[list[Said | None]]:
    """Yield each agent's texts in order; `None` where a user spoke."""
    found: dict[Any, list[Said | None]] = defaultdict(list)
    for number, event in enumerate(run.events):
        if event["kind"] == "user_text":
            for one in found.values():
                one.append(None)
            continue
        is_call = event["kind"] == "tool_call"
        text = json.dumps(event.get("args")) if is_call else event.get("result")
        if isinstance(text, str):
            said = Said(number, event["kind"], event.get("name"), text)
            found[event.get("agent")].append(said)
    yield from found.values()


def stale(run: LabelledRun, share: float) -> int:
    """Return the most texts in a row of which at most `share` of the words was new."""
    most = 0
    for said in texts(run):
        known: set[str] = set()
        length = 0
        for one in said:
            if one is None:
                length = 0
                continue
            words = set(WORD.findall(one.text.lower()[:20_000]))
            if len(words) >= MIN_WORDS:
                length = length + 1 if len(words - known) <= share * len(words) else 0
                most = max(most, length) if one.event >= run.evaluate_from else most
            known |= words
    return most


class Embedding:
    """The mean of a text's token vectors."""

    def __init__(self, folder: Path) -> None:
        import numpy as np  # noqa: PLC0415 - only where it is asked for
        from safetensors.numpy import load_file  # noqa: PLC0415
        from tokenizers import Tokenizer  # noqa: PLC0415

        self._numpy = np
        (weights,) = (folder / "weights").glob("*.safetensors")
        (tokenizer,) = (folder / "tokenizers").glob("*.json")
        self._vectors = next(iter(load_file(weights).values())).astype(np.float32)
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._known: dict[str, Any] = {}

    def __call__(self, text: str) -> Any:
        if text not in self._known:
            ids = self._tokenizer.encode(text[:600], add_special_tokens=False).ids
            vector = self._vectors[ids].mean(0) if ids else self._vectors[0] * 0
            self._known[text] = vector / max(float(self._numpy.linalg.norm(vector)), 1e-9)
        return self._known[text]


def alike(run: LabelledRun, kind: str, cosine: float, embed: Embedding) -> int:
    """Return the most of nine texts of one kind that are alike in meaning and differ in words."""
    most = 0
    for said in texts(run):
        recent: deque[Said] = deque(maxlen=WINDOW)
        for one in said:
            if one is None:
                recent.clear()
            elif one.kind == kind and len(one.text) >= MIN_CHARS:
                same = sum(
                    other.tool == one.tool
                    and other.text != one.text
                    and float(embed(other.text) @ embed(one.text)) >= cosine
                    for other in recent
                )
                most = max(most, 1 + same) if one.event >= run.evaluate_from else most
                recent.append(one)
    return most


def lines(
    name: str, most: Mapping[int, int], runs: Sequence[LabelledRun], missed: set[int], modern: int
) -> Iterator[str]:
    """Yield a line for each length at which a measure finds what the rules miss."""
    for length in LENGTHS:
        fired = {number for number, found in most.items() if found >= length}
        gained = missed & fired
        quiet = [n for n, run in enumerate(runs) if run.expect == "quiet"]
        false = [n for n in quiet if n in fired]
        if gained:
            yield (
                f"{name + f', {length}':44} finds {len(gained)} of {len(missed)}   "
                f"false {len(false):3}/{len(quiet)}, "
                f"modern {sum(n < modern and runs[n].is_modern for n in false)}   "
                f"{', '.join(runs[n].id for n in sorted(gained))}"
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, help="labelled runs, one a line")
    parser.add_argument("--embedding", type=Path, help="folder of the unpacked package wordllama")
    options = parser.parse_args()
    labelled = corpus(options.corpus) if options.corpus else []
    runs = [*labelled, *suite(), *cases()]
    verdicts = judge(runs)
    missed = {
        n for n, one in enumerate(verdicts) if one.run.is_fire and not one.is_hit("correction")
    }
    counts = Counter(run.expect for run in runs)
    sys.stdout.write(f"runs {dict(counts)}; missed by rules: {len(missed)}\n")
    for share in NOVELTIES:
        most = {number: stale(run, share) for number, run in enumerate(runs)}
        for line in lines(f"novelty at most {share:.0%}", most, runs, missed, len(labelled)):
            sys.stdout.write(line + "\n")
    if options.embedding:
        embed = Embedding(options.embedding)
        for kind in ("tool_call", "assistant_text"):
            for cosine in COSINES:
                most = {n: alike(run, kind, cosine, embed) for n, run in enumerate(runs)}
                named = f"embedding of {kind}, {cosine}"
                for line in lines(named, most, runs, missed, len(labelled)):
                    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
