"""The LangGraph node in a hand-made graph."""

from typing import ClassVar

import pytest

from tests.integration.adapters.scenario import Scenario
from tests.integration.adapters.watched import Ended, awaited, halted

pytest.importorskip("langgraph")
pytest.importorskip("langchain_openai")

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openinference.instrumentation.langchain import LangChainInstrumentor

from otel_watchdog.adapters.langgraph import WatchdogNode

LIMIT = {"recursion_limit": 200}
GO = {"messages": [{"role": "user", "content": "go"}]}


class TestLangGraph(Scenario):
    """Agent, tools, watchdog, agent …"""

    framework = "langgraph"
    package = "langgraph"
    lacks: ClassVar = {
        "withdraw": "the graph's tools are the program's own nodes",
        "sub-agents": "a hand-made graph has no agent's name of its own",
    }

    def instrument(self, provider):
        LangChainInstrumentor().instrument(tracer_provider=provider)

    def graph(self):
        @tool
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        model = ChatOpenAI(model="scripted", base_url=f"{self.server.url}/v1").bind_tools([look])
        graph = StateGraph(MessagesState)
        graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", ToolNode([look]))
        graph.add_node("watchdog", WatchdogNode(goto="agent"), destinations=("agent", END))
        graph.add_edge(START, "agent")
        graph.add_conditional_edges("agent", tools_condition)
        graph.add_edge("tools", "watchdog")
        return graph.compile()

    def run(self, way):
        graph = self.graph()

        async def streamed():
            async for state in graph.astream(GO, LIMIT, stream_mode="values"):
                last = state
            return last

        try:
            if way == "sync":
                state = graph.invoke(GO, LIMIT)
            elif way == "async":
                state = awaited(graph.ainvoke(GO, LIMIT))
            else:
                state = awaited(streamed())
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)
        return Ended(halted=False, text=state["messages"][-1].text)
