"""The watched ReAct on the real DSPy."""

import copy
import os
import tempfile

import pytest

from tests.integration.adapters.scenario import Scenario
from tests.integration.adapters.watched import THRESHOLD, Ended, awaited, halted

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
_home = tempfile.TemporaryDirectory()
os.environ["DSPY_CACHEDIR"] = _home.name  # DSPy makes it when it is imported
dspy = pytest.importorskip("dspy")

from openinference.instrumentation.dspy import DSPyInstrumentor  # noqa: E402

from otel_watchdog.adapters.dspy import WatchedReAct  # noqa: E402


class TestDSPy(Scenario):
    """A ReAct; all it was told stands in one user message."""

    framework = "dspy"
    package = "dspy"
    batches = False

    @pytest.fixture(autouse=True)
    def _cache(self, tmp_path, monkeypatch):
        monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path))

    def instrument(self, provider):
        DSPyInstrumentor().instrument(tracer_provider=provider)

    def agent(self, name="fixer", prompt="Mend it.", tools=None):
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        signature = dspy.Signature("question -> answer", prompt)
        agent = WatchedReAct(signature, tools=tools or [look], max_iters=100)
        return agent.watch(agent=name, withdraw_tools=self.withdraw)

    def run(self, way):
        async def streamed():
            async for part in dspy.streamify(agent)(question="go"):
                last = part
            return last

        agent = self.agent()
        try:
            with self.model():
                if way == "sync":
                    prediction = agent(question="go")
                elif way == "async":
                    prediction = awaited(agent.acall(question="go"))
                else:
                    prediction = awaited(streamed())
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)
        return Ended(halted=False, text=prediction.answer)

    def model(self):
        base = f"{self.server.url}/v1"
        return dspy.context(lm=dspy.LM("openai/gpt-4o", api_base=base, api_key="none", cache=False))

    def run_with_sub_agent(self):
        inner = self.agent("inner", "SUB-AGENT")

        def ask(input: str) -> str:  # noqa: A002 - the model's word
            """Ask the sub-agent."""
            return inner(question=input).answer

        with self.model():
            self.agent("outer", tools=[ask])(question="go")

    def test_a_copy_is_watched(self) -> None:
        """As an optimizer makes it."""
        self.watched()
        self.server.reset(loops=5)
        agent = copy.deepcopy(self.agent())

        with self.model():
            agent(question="go")

        assert self.told_at() == [THRESHOLD + 1]

    def test_a_shortened_trajectory_keeps_what_was_told(self) -> None:
        """The oldest step goes, and the note stays in its place."""
        trajectory = {}
        for step in range(2):
            for name in ("thought", "tool_name", "tool_args", "observation"):
                trajectory[f"{name}_{step}"] = "x"
            trajectory[f"watchdog_note_{step + 2}_0"] = "[watchdog] stop"

        left = self.agent().truncate_trajectory(trajectory)

        assert left is trajectory
        assert list(left) == [
            "watchdog_note_2_0",
            "thought_1",
            "tool_name_1",
            "tool_args_1",
            "observation_1",
            "watchdog_note_3_0",
        ]
