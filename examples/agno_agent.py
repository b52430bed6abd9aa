"""An Agno agent that the watchdog corrects."""

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from openinference.instrumentation.agno import AgnoInstrumentor

from otel_watchdog import install
from otel_watchdog.adapters.agno import halt_of, watch

install()
AgnoInstrumentor().instrument()


def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


agent = watch(Agent(name="fixer", model=OpenAIChat(id="gpt-5"), tools=[look]))
output = agent.run("Why does the build fail?")
halt = halt_of(output)
if halt is not None:
    print("halted:", halt.reason)
else:
    print(output.content)
