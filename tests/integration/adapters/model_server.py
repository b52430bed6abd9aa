"""A model that loops, on the loopback interface; it speaks four providers' wire formats.

It makes the same tool call in every turn and answers with text once it heeds, or has looped
enough. It rejects with HTTP 400 what `provider_requests` says the provider would. Asked in text
fields, it answers in them.
"""

import json
import threading
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from tests.integration.adapters.field_messages import NEXT_TOOL, as_fields, asked_fields
from tests.integration.adapters.provider_answers import AnswerHandler
from tests.integration.adapters.provider_requests import MARKER, read_request, tools_of

SUB_AGENT = "SUB-AGENT"
"""In the instructions of an agent that another one calls."""


ASK = "ask"
"""The tool by which an agent calls its sub-agent."""


DONE = "All is mended."


@dataclass
class Script:
    """What the model does."""

    tool: str = "look"
    arguments: dict[str, Any] = field(default_factory=lambda: {"at": "main.py"})
    batch: int = 1
    """Equal calls in each turn."""
    heeds: bool = False
    loops: int = 1000
    """Turns after which it stops by itself."""
    beside: str = ""
    """Another tool, which it calls as well in the last of them."""
    fails_at: tuple[int, ...] = ()
    """Requests that are answered with HTTP 500."""
    asks_first: bool = False
    """Begin with a call of the sub-agent, which loops; the caller does not."""
    ask: tuple[str, dict[str, Any]] = (ASK, {"input": "look"})
    """That call's tool and arguments."""


@dataclass
class Request:
    """One request: who spoke, in order, and what the last message after the results was."""

    body: dict[str, Any]
    path: str
    sub_agent: bool
    entries: list[tuple[str, str]]
    """Role (`system user assistant call result`) and text; results and text of one user message
    are two entries."""
    tools: list[str]

    @property
    def told(self) -> list[str]:
        """Texts of ours, in order."""
        return [text for role, text in self.entries if role == "user" and MARKER in text]

    @property
    def told_last(self) -> bool:
        """Whether ours is the last thing said."""
        role, text = self.entries[-1]
        return role == "user" and MARKER in text


class ModelServer:
    """Answers on `url` by a script; keeps the requests and what was wrong with them."""

    def __init__(self) -> None:
        self.script = Script()
        self.requests: list[Request] = []
        self.rejected: list[str] = []
        self._lock = threading.Lock()
        handler = type("Handler", (AnswerHandler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def reset(self, **script: Any) -> None:
        """Begin anew with another script."""
        self.script = Script(**script)
        self.requests = []
        self.rejected = []

    def of(self, *, sub_agent: bool) -> list[Request]:
        """Return the requests of the sub-agent, or of the others."""
        return [request for request in self.requests if request.sub_agent is sub_agent]

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()

    def take(self, path: str, body: dict[str, Any]) -> tuple[int, list[dict[str, Any]], str]:
        """Note a request; return the status, the calls and the text of the answer.

        One that only has the answer put into fields, after the last turn, is not noted.
        """
        fields = asked_fields(body)
        if fields and NEXT_TOOL not in fields:
            return 200, [], as_fields(fields, DONE, [])
        entries, wrong = read_request(body)
        request = Request(body, path, SUB_AGENT in json.dumps(body), entries, tools_of(body))
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            mine = len(self.of(sub_agent=request.sub_agent))
        if wrong:
            self.rejected.append(f"request {number}: {wrong}")
            return 400, [], wrong
        if number in self.script.fails_at:
            return 500, [], "the provider is down"
        calls = self._calls(request, mine, number)
        if not calls and "final_answer" in request.tools:  # smolagents has a tool for it
            calls = [{"id": f"call_{number}", "name": "final_answer", "args": {"answer": DONE}}]
        if fields:
            return 200, [], as_fields(fields, DONE, calls)
        return 200, calls, DONE

    def _calls(self, request: Request, turn: int, number: int) -> list[dict[str, Any]]:
        script = self.script
        if not request.tools or (script.heeds and request.told) or turn > script.loops:
            return []
        if script.asks_first and not request.sub_agent:
            if turn > 1:
                return []
            return [
                {
                    "id": f"call_{number}_0",
                    "name": _named(script.ask[0], request.tools),
                    "args": script.ask[1],
                }
            ]
        names = [script.tool] * script.batch
        if script.beside and turn == script.loops:
            names.append(script.beside)
        return [
            {
                "id": f"call_{number}_{n}",
                "name": _named(name, request.tools),
                "args": script.arguments,
            }
            for n, name in enumerate(names)
        ]


def _named(name: str, tools: list[str]) -> str:
    """Return the tool as the framework calls it: some put a server before its name."""
    return next((tool for tool in tools if tool.endswith(name)), name)
