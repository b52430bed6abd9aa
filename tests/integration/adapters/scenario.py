"""What every adapter must do, on the real framework against a model that loops.

A framework's test file derives a class from `Scenario` and says how to run its agent.
"""

import concurrent.futures
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from opentelemetry.sdk.trace import TracerProvider

from otel_watchdog import (
    Mode,
)
from otel_watchdog.model import REFUSAL
from tests.integration.adapters.model_server import DONE, ModelServer, Script
from tests.integration.adapters.watched import THRESHOLD, Ended, Watched, provider

ROOT = Path(__file__).parents[3]


def works(column: str) -> Callable[[Any], Any]:
    """Mark a test as one that fills a column of the table of frameworks."""
    return pytest.mark.works(column)


class Placement:
    """That corrections stand at the right place; a subclass sets `framework`, `package`, `run`.

    For further wire formats of a framework that `Scenario` tests already.
    """

    framework: ClassVar[str]
    """As the extra is called."""
    package: ClassVar[str]
    """The distribution whose version the table tells."""
    ways: ClassVar[tuple[str, ...]] = ("sync", "async", "stream")
    lacks: ClassVar[dict[str, str]] = {}
    """Columns that the framework or its tracing does not allow, or that were not tried, and why.

    The table of frameworks has `-` there, and says why below.
    """
    batches: ClassVar[bool] = True
    """Whether the framework has several calls in one turn."""
    example: ClassVar[str | None] = None
    """Its file in `examples`, without `_agent.py`; default: as the framework."""
    has_results: ClassVar[bool] = True
    """Whether results are more than text in a user message."""
    ask: ClassVar[tuple[str, dict[str, Any]]] = Script.ask
    """The tool by which an agent calls its sub-agent, and what with."""
    refusal: ClassVar[str] = REFUSAL
    """What a call to a withdrawn tool is answered with."""
    prelude: ClassVar[str] = ""
    """Run before the example."""
    _instrumented: ClassVar[set[str]] = set()

    server: ModelServer
    withdraw = False

    def instrument(self, provider: TracerProvider) -> None:
        """Set up the framework's tracing; called once."""

    def run(self, way: str) -> Ended:
        """Run an agent with a tool `look(at: str)` on `self.server.url`, in one of the ways."""
        raise NotImplementedError

    def run_with_sub_agent(self) -> Ended:
        """Run an agent whose tool `ask` runs another with `look`: "SUB-AGENT" in its orders."""
        raise NotImplementedError

    def look(self, at: str) -> str:
        """Return what stands there: the agent's tool."""
        self.looked.append(at)
        return f"nothing new in {at}"

    @pytest.fixture(autouse=True)
    def _set_up(self, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("OPENAI", "ANTHROPIC"):
            monkeypatch.setenv(f"{name}_API_KEY", "none")
        self.server = model_server
        self.looked: list[str] = []
        model_server.reset()
        if self.framework not in self._instrumented:
            self._instrumented.add(self.framework)
            self.instrument(provider())

    def watched(self, **settings: Any) -> Watched:
        """Return a new watchdog."""
        return Watched(**settings)

    def need(self, column: str) -> None:
        """Skip a test of what the framework does not allow."""
        if column in self.lacks:
            pytest.skip(self.lacks[column])

    def told_at(self) -> list[int]:
        """Return the requests whose last word was ours, from 1."""
        return [n for n, request in enumerate(self.server.requests, 1) if request.told_last]

    @works("nudge")
    @pytest.mark.parametrize("batch", [1, 2])
    def test_the_nudge_stands_in_the_very_next_request(self, batch: int) -> None:
        """As a user message after all results, once, and it stays there."""
        if batch > 1 and not self.batches:
            pytest.skip("there is one call in each turn")
        watched = self.watched()
        self.server.reset(loops=5, batch=batch)

        ended = self.run(self.ways[0])

        first = self.told_at()[0]
        roles = [role for role, _ in self.server.requests[first - 1].entries]
        assert self.server.rejected == []
        assert not ended.halted
        assert watched.sent
        if batch == 1:
            assert first == THRESHOLD + 1
            assert [len(r.told) for r in self.server.requests] == [0] * THRESHOLD + [1, 1, 1]
        results = ["result"] * batch if self.has_results else []
        assert roles[-1 - len(results) :] == [*results, "user"]

    @works("ladder")
    def test_an_ignoring_agent_is_led_up_the_ladder(self) -> None:
        """Nudge, redirect, force-wrap: each in the request after its own evidence."""
        watched = self.watched()
        self.server.reset(loops=3 * THRESHOLD)

        self.run(self.ways[0])

        assert watched.sent == ["nudge", "redirect", "force-wrap"]
        assert self.told_at() == [THRESHOLD * n + 1 for n in (1, 2, 3)]
        assert len(set(self.server.requests[-1].told)) == len(self.server.requests[-1].told) == 3
        assert self.server.rejected == []

    @works("heeds")
    def test_an_agent_that_heeds_finishes(self) -> None:
        """One nudge is all it takes; nothing is halted."""
        watched = self.watched(mode=Mode.ENFORCE)
        self.server.reset(heeds=True)

        ended = self.run(self.ways[0])

        assert not ended.halted
        assert DONE in ended.text
        assert watched.sent == ["nudge"]
        assert len(self.server.requests) == THRESHOLD + 1


class Scenario(Placement):
    """All that an adapter must do."""

    @works("halt")
    @pytest.mark.parametrize(
        ("corrections", "turns"), [(4, 22), (5, 18)], ids=["hard-stop", "terminate"]
    )
    def test_a_run_ends_at_its_cap(self, corrections: int, turns: int) -> None:
        """Hard-stop leaves ten turns, terminate three; then it is halted and says so."""
        watched = self.watched(mode=Mode.ENFORCE, max_corrections=corrections)

        ended = self.run(self.ways[0])

        assert len(watched.sent) == corrections
        assert ended.halted
        assert ended.reason == watched.corrections[-1].finding.reason
        assert len(self.server.requests) == turns
        assert self.server.rejected == []

    @works("resume")
    def test_after_a_halt_the_next_run_is_free(self) -> None:
        """A cap is its run's."""
        self.watched(mode=Mode.ENFORCE)
        self.run(self.ways[0])
        self.server.reset(loops=2)

        ended = self.run(self.ways[0])

        assert not ended.halted
        assert self.server.rejected == []

    @works("async")
    def test_awaited(self) -> None:
        """Nudged, and halted with its reason."""
        self.need("async")
        self._both("async")

    @works("streaming")
    def test_streamed(self) -> None:
        """Nudged, and halted with its reason."""
        self.need("streaming")
        self._both("stream")

    def _both(self, way: str) -> None:
        if way not in self.ways:
            pytest.skip("there is no such way to run")
        watched = self.watched(mode=Mode.ENFORCE)

        ended = self.run(way)

        assert self.told_at()[0] == THRESHOLD + 1
        assert ended.halted
        assert ended.reason == watched.corrections[-1].finding.reason
        assert len(self.server.requests) == 5 * THRESHOLD + 3
        assert self.server.rejected == []

    @works("threads")
    def test_two_threads_get_their_own(self) -> None:
        """Both loop, both are nudged once, both finish."""
        self.need("threads")
        watched = self.watched()
        self.server.reset(heeds=True)
        self._warm_up()
        self.server.reset(heeds=True)
        watched.corrections.clear()

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            ended = list(pool.map(self.run, [self.ways[0]] * 2))

        assert [DONE in one.text for one in ended] == [True, True]
        assert watched.sent == ["nudge", "nudge"]
        assert len(self.server.requests) == 2 * (THRESHOLD + 1)

    def _warm_up(self) -> None:
        self.run(self.ways[0])

    @works("retry")
    def test_a_failed_request_neither_loses_nor_repeats_it(self) -> None:
        """The request that held it is answered with 500; the client sends it again."""
        self.need("retry")
        watched = self.watched()
        self.server.reset(loops=5, fails_at=(THRESHOLD + 1,))

        self.run(self.ways[0])

        told = [len(request.told) for request in self.server.requests]
        assert told[:THRESHOLD] == [0] * THRESHOLD
        assert set(told[THRESHOLD:]) == {1}
        assert watched.sent[0] == "nudge"

    @works("sub-agents")
    def test_a_sub_agent_gets_its_own(self) -> None:
        """The one that loops is told, and its caller is not."""
        self.need("sub-agents")
        self.watched()
        self.server.reset(asks_first=True, ask=self.ask, loops=5)

        self.run_with_sub_agent()

        inner = self.server.of(sub_agent=True)
        assert [len(r.told) for r in inner] == [0] * THRESHOLD + [1, 1, 1]
        assert [r.told for r in self.server.of(sub_agent=False)] == [[], []]
        assert self.server.rejected == []

    @works("withdraw")
    def test_the_looping_tool_is_withdrawn_at_hard_stop(self) -> None:
        """It does not run any more; the model is told so, or does not see it."""
        self.need("withdraw")
        self.withdraw = True
        watched = self.watched(mode=Mode.ENFORCE, max_corrections=4)

        ended = self.run(self.ways[0])

        results = [text for role, text in self.server.requests[-1].entries if role == "result"]
        hidden = not any(tool.endswith("look") for tool in self.server.requests[-1].tools)
        assert watched.sent[-1] == "hard-stop"
        assert len(self.looked) == 4 * THRESHOLD
        assert hidden or self.refusal in results[-1]
        assert ended.halted or hidden

    @pytest.mark.timeout(330)
    def test_the_example_runs(self) -> None:
        """It takes the corrections, and ends with what it prints for a halt."""
        file = ROOT / "examples" / f"{self.example or self.framework}_agent.py"
        assert len(file.read_text("utf-8").splitlines()) < 40
        environment = os.environ | {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"{self.server.url}/v1",
            "OPENAI_API_BASE": f"{self.server.url}/v1",
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": self.server.url,
            "GOOGLE_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self.server.url,
            "OTEL_WATCHDOG_MODE": "enforce",
            "OTEL_WATCHDOG_REFRACTORY_SECONDS": "0",
        }

        program = (
            f"{self.prelude}\nimport runpy; runpy.run_path({str(file)!r}, run_name='__main__')"
        )

        done = subprocess.run(  # noqa: S603 - a file of our own
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

        assert "halted:" in done.stdout, done.stdout[-500:] + done.stderr[-3000:]
        assert any(request.told for request in self.server.requests)
        assert self.server.rejected == []
