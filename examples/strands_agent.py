"""A Strands agent that the watchdog corrects."""

from strands import Agent, tool
from strands.models.openai import OpenAIModel

from otel_watchdog import install
from otel_watchdog.adapters.strands import WatchdogHooks, halt_of

install()


@tool
def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


agent = Agent(
    model=OpenAIModel(model_id="gpt-5"),
    tools=[look],
    name="fixer",
    callback_handler=None,
    hooks=[WatchdogHooks()],
)
try:
    print(agent("Why does the build fail?"))
except Exception as error:
    halt = halt_of(error)
    if halt is None:
        raise
    print("halted:", halt.reason)
