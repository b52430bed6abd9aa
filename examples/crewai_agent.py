"""A CrewAI crew that the watchdog corrects."""

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation.crewai import CrewAIInstrumentor

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.crewai import watchdog_hooks

install()
CrewAIInstrumentor().instrument()
watchdog_hooks()


@tool("look")
def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


agent = Agent(
    role="fixer",
    goal="Mend it.",
    backstory="A careful engineer.",
    tools=[look],
    llm=LLM(model="openai/gpt-4o"),
    max_iter=100,
)
task = Task(description="Why does the build fail?", expected_output="the cause", agent=agent)
try:
    print(Crew(agents=[agent], tasks=[task]).kickoff().raw)
except AgentHalted as halt:
    print("halted:", halt.reason)
