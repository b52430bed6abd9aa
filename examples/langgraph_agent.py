"""A hand-made LangGraph agent that the watchdog corrects."""

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openinference.instrumentation.langchain import LangChainInstrumentor

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.langgraph import WatchdogNode

install()
LangChainInstrumentor().instrument()


@tool
def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


model = ChatOpenAI(model="gpt-5").bind_tools([look])
graph = StateGraph(MessagesState)
graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode([look]))
graph.add_node("watchdog", WatchdogNode(goto="agent"), destinations=("agent", END))
graph.add_edge(START, "agent")
graph.add_conditional_edges("agent", tools_condition)
graph.add_edge("tools", "watchdog")
question = {"messages": [{"role": "user", "content": "Why does the build fail?"}]}
try:
    print(graph.compile().invoke(question, {"recursion_limit": 200})["messages"][-1].text)
except AgentHalted as halt:
    print("halted:", halt.reason)
