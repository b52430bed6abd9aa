"""A DSPy agent that the watchdog corrects."""

import dspy
from openinference.instrumentation.dspy import DSPyInstrumentor

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.dspy import WatchedReAct

install()
DSPyInstrumentor().instrument()
dspy.configure(lm=dspy.LM("openai/gpt-4o"))


def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


agent = WatchedReAct("question -> answer", tools=[look], max_iters=100)
try:
    print(agent(question="Why does the build fail?").answer)
except AgentHalted as halt:
    print("halted:", halt.reason)
