"""The LangChain middleware on the real framework."""

import uuid

import pytest

from tests.integration.adapters.scenario import Placement, Scenario
from tests.integration.adapters.watched import Ended, awaited, halted

pytest.importorskip("langchain")
pytest.importorskip("langchain_openai")

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from openinference.instrumentation.langchain import LangChainInstrumentor

from otel_watchdog.adapters.langchain import WatchdogMiddleware

LIMIT = {"recursion_limit": 200}
GO = {"messages": [{"role": "user", "content": "go"}]}


class LangChain:
    """An agent made by `create_agent`."""

    framework = "langchain"
    package = "langchain"

    def instrument(self, provider):
        LangChainInstrumentor().instrument(tracer_provider=provider)

    def model(self):
        return ChatOpenAI(model="scripted", base_url=f"{self.server.url}/v1")

    def agent(self, name="fixer", tools=None, prompt="Mend it.", **options):
        @tool
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        return create_agent(
            self.model(),
            tools or [look],
            system_prompt=prompt,
            name=name,
            middleware=[WatchdogMiddleware(withdraw_tools=self.withdraw)],
            **options,
        )

    config = LIMIT

    def run(self, way):
        agent = self.agent()

        async def streamed():
            async for state in agent.astream(GO, self.config, stream_mode="values"):
                last = state
            return last

        try:
            if way == "sync":
                state = agent.invoke(GO, self.config)
            elif way == "async":
                state = awaited(agent.ainvoke(GO, self.config))
            else:
                state = awaited(streamed())
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)
        return Ended(halted=False, text=state["messages"][-1].text)

    def run_with_sub_agent(self):
        inner = self.agent("inner", prompt="SUB-AGENT")

        @tool
        def ask(input: str) -> str:  # noqa: A002 - the model's word
            """Ask the sub-agent."""
            state = inner.invoke({"messages": [{"role": "user", "content": input}]}, LIMIT)
            return state["messages"][-1].text

        self.agent("outer", [ask]).invoke(GO, self.config)


class TestLangChain(LangChain, Scenario):
    """On OpenAI's chat completions, without a conversation's id."""


class TestLangChainAnthropic(LangChain, Placement):
    """On Anthropic's messages."""

    def model(self):
        return ChatAnthropic(model="scripted", base_url=self.server.url)


class TestLangChainResponses(LangChain, Placement):
    """On OpenAI's responses."""

    def model(self):
        return ChatOpenAI(
            model="scripted", base_url=f"{self.server.url}/v1", use_responses_api=True
        )


class TestLangChainThread(LangChain, Placement):
    """With a checkpointer: the conversation has an id, and the state is kept."""

    def run(self, way):
        self.config = LIMIT | {"configurable": {"thread_id": uuid.uuid4().hex}}
        return super().run(way)

    def agent(self, *args, **options):
        return super().agent(*args, checkpointer=InMemorySaver(), **options)
