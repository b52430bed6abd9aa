"""The Google ADK plugin on the real framework."""

import uuid

import pytest

from tests.integration.adapters.scenario import Scenario
from tests.integration.adapters.watched import Ended, awaited, halted

pytest.importorskip("google.adk")

from google.adk.agents import Agent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.models import Gemini
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from otel_watchdog.adapters.google_adk import WatchdogPlugin, halt_of


class TestGoogleADK(Scenario):
    """A runner with one agent; the ADK writes spans by itself."""

    framework = "google-adk"
    package = "google-adk"
    example = "google_adk"
    ways = ("async", "stream")

    @pytest.fixture(autouse=True)
    def _gemini(self, monkeypatch, model_server):
        monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
        monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_AND_EVENT")
        monkeypatch.setenv("GOOGLE_API_KEY", "none")
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "0")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", model_server.url)

    def agent(self, name="fixer", instruction="Mend it.", tools=None):
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        return Agent(
            model=Gemini(
                model="gemini-2.5-flash",
                retry_options=types.HttpRetryOptions(attempts=3, initial_delay=0.01),
            ),
            name=name,
            description="Looks.",
            instruction=instruction,
            tools=tools or [look],
        )

    async def talk(self, agent, mode=StreamingMode.NONE):
        sessions, name = InMemorySessionService(), uuid.uuid4().hex
        await sessions.create_session(app_name="app", user_id="u", session_id=name)
        plugin = WatchdogPlugin(withdraw_tools=self.withdraw)
        runner = Runner(agent=agent, app_name="app", session_service=sessions, plugins=[plugin])
        message = types.Content(role="user", parts=[types.Part(text="go")])
        text = ""
        async for event in runner.run_async(
            user_id="u",
            session_id=name,
            new_message=message,
            run_config=RunConfig(max_llm_calls=100, streaming_mode=mode),
        ):
            if event.is_final_response() and event.content:
                text = event.content.parts[0].text or ""
        return text

    def run(self, way):
        mode = StreamingMode.SSE if way == "stream" else StreamingMode.NONE
        try:
            text = awaited(self.talk(self.agent(), mode))
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(halt_of(error) or error)
        return Ended(halted=False, text=text)

    def run_with_sub_agent(self):
        inner = self.agent("ask", "SUB-AGENT")
        awaited(self.talk(self.agent("outer", tools=[AgentTool(inner)])))
