"""A LangChain agent that the watchdog corrects."""

from langchain.agents import create_agent
from langchain_core.tools import tool
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry import trace

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.langchain import WatchdogMiddleware

install()
LangChainInstrumentor().instrument(tracer_provider=trace.get_tracer_provider())


@tool
def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


agent = create_agent("openai:gpt-5", [look], name="fixer", middleware=[WatchdogMiddleware()])
question = {"messages": [{"role": "user", "content": "Why does the build fail?"}]}
try:
    answer = agent.invoke(question, {"recursion_limit": 200})
    print(answer["messages"][-1].text)
except AgentHalted as halt:
    print("halted:", halt.reason)
