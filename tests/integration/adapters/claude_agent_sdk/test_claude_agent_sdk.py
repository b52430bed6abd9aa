"""The Claude Agent SDK's hooks, on the program that comes with the SDK and its real protocol.

The program talks to the tests' model server in place of Anthropic's.
"""

import os
from typing import ClassVar

import pytest

from tests.integration.adapters.model_server import DONE
from tests.integration.adapters.provider_requests import MARKER
from tests.integration.adapters.scenario import Scenario
from tests.integration.adapters.watched import THRESHOLD, Ended, awaited, halted

claude = pytest.importorskip("claude_agent_sdk")

from openinference.instrumentation.claude_agent_sdk import (  # noqa: E402
    ClaudeAgentSDKInstrumentor,
)

from otel_watchdog import Mode  # noqa: E402
from otel_watchdog.adapters.claude_agent_sdk import WatchdogHooks  # noqa: E402

REMINDED = "claude-sonnet-4-5"
"""A model that is told in a reminder within the last result."""
TOLD = "claude-scripted"
"""A model that is told in a message of its own; so are those that the program does not know."""
LOOK = "mcp__files__look"


@pytest.mark.timeout(240)  # each run starts the program
class TestClaudeAgentSDK(Scenario):
    """A query with a tool."""

    framework = "claude-agent-sdk"
    package = "claude-agent-sdk"
    example = "claude_agent_sdk"
    ways = ("async", "stream")
    ask: ClassVar = (
        "Agent",
        {
            "description": "ask",
            "prompt": "look",
            "subagent_type": "inner",
            "run_in_background": False,
        },
    )
    model = REMINDED

    def instrument(self, provider):
        ClaudeAgentSDKInstrumentor().instrument(tracer_provider=provider)

    @pytest.fixture(autouse=True)
    def _home(self, _set_up, tmp_path, monkeypatch):
        for name in list(os.environ):
            if name.startswith(("ANTHROPIC", "CLAUDE")):
                monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
        monkeypatch.setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        monkeypatch.setenv("DISABLE_AUTOUPDATER", "1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", self.server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        monkeypatch.setenv("ANTHROPIC_MODEL", REMINDED)  # of the example
        self.home = tmp_path

    def options(self, watch, **more):
        @claude.tool("look", "Look at a file.", {"at": str})
        async def look(arguments):
            return {"content": [{"type": "text", "text": self.look(arguments["at"])}]}

        options = {
            "system_prompt": "Mend it.",
            "mcp_servers": {"files": claude.create_sdk_mcp_server("files", tools=[look])},
            "tools": [],
            "allowed_tools": [LOOK],
            "model": self.model,
            "cwd": self.home,
            "setting_sources": [],
            "hooks": watch.hooks(),
        }
        return claude.ClaudeAgentOptions(**(options | more))

    def run(self, way):
        watch = WatchdogHooks(withdraw_tools=self.withdraw)

        async def queried():
            prompt = claude.query(prompt="go", options=self.options(watch))
            return [message async for message in watch.checked(prompt)][-1]

        async def talked():
            async with claude.ClaudeSDKClient(options=self.options(watch)) as client:
                await client.query("go")
                return [m async for m in watch.checked(client.receive_response())][-1]

        try:
            result = awaited(talked() if way == "stream" else queried())
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)
        assert result.terminal_reason != "hook_stopped"
        return Ended(halted=False, text=result.result)

    def run_with_sub_agent(self):
        inner = claude.AgentDefinition(description="Looks.", prompt="SUB-AGENT", tools=[LOOK])
        watch = WatchdogHooks()
        options = self.options(
            watch, tools=["Agent"], allowed_tools=["Agent", LOOK], agents={"inner": inner}
        )

        async def ran():
            query = claude.query(prompt="go", options=options)
            return [message async for message in watch.checked(query)][-1]

        return Ended(halted=False, text=awaited(ran()).result)

    def test_newer_models_are_told_in_a_message_after_the_results(self) -> None:
        """Of role `system`, once, and it stays there."""
        self.model = TOLD
        self.watched()
        self.server.reset(loops=5)

        self.run("async")

        entries = [r.entries for r in self.server.requests]
        told = [[text for role, text in e if role == "system" and MARKER in text] for e in entries]
        assert [len(texts) for texts in told] == [0] * THRESHOLD + [1, 1, 1]
        assert [role for role, _ in entries[THRESHOLD][-2:]] == ["result", "system"]
        assert self.server.rejected == []

    def test_a_sub_agent_is_ended_alone(self) -> None:
        """Its caller is handed what it has, and is not halted."""
        watched = self.watched(mode=Mode.ENFORCE)
        self.server.reset(asks_first=True, ask=self.ask)

        ended = self.run_with_sub_agent()

        assert watched.sent[-1] == "terminate"
        assert len(self.server.of(sub_agent=True)) == 5 * THRESHOLD + 3
        assert DONE in ended.text
