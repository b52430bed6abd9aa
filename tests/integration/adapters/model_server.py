"""A model that loops, on the loopback interface; it speaks four providers' wire formats.

It makes the same tool call in every turn and answers with text once it heeds, or has looped
enough. It rejects with HTTP 400 what the providers reject: anything between tool calls and their
results, unknown roles, unanswered calls.
"""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MARKER = "[watchdog]"
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
    fails_at: tuple[int, ...] = ()
    """Requests that are answered with HTTP 500."""
    asks_first: bool = False
    """Begin with a call of the sub-agent, which loops; the caller does not."""


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
        handler = type("Handler", (_Handler,), {"model": self})
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
        """Note a request; return the status, the calls and the text of the answer."""
        entries, wrong = _read(body)
        request = Request(body, path, SUB_AGENT in json.dumps(body), entries, _tools(body))
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
                    "name": _named(ASK, request.tools),
                    "args": {"input": "look"},
                }
            ]
        name = _named(script.tool, request.tools)
        return [
            {"id": f"call_{number}_{n}", "name": name, "args": script.arguments}
            for n in range(script.batch)
        ]


def _named(name: str, tools: list[str]) -> str:
    """Return the tool as the framework calls it: some put a server before its name."""
    return next((tool for tool in tools if tool.endswith(name)), name)


def _tools(body: dict[str, Any]) -> list[str]:
    found = []
    for tool in body.get("tools") or []:
        if "function" in tool:
            found.append(tool["function"]["name"])
        elif "name" in tool:
            found.append(tool["name"])
        declared = tool.get("functionDeclarations") or tool.get("function_declarations") or []
        found += [function["name"] for function in declared]
    return found


def _text(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(part.get("text", "") for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def _read(body: dict[str, Any]) -> tuple[list[tuple[str, str]], str]:
    """Return who said what, and what the provider would reject; "" if nothing."""
    if "contents" in body:
        return _read_gemini(body["contents"])
    if "input" in body:
        return _read_responses(body["input"])
    if "system" in body or any(
        isinstance(m.get("content"), list)
        and any(p.get("type") in {"tool_use", "tool_result"} for p in m["content"])
        for m in body.get("messages", [])
    ):
        return _read_anthropic(body["messages"])
    return _read_chat(body.get("messages", []))


def _read_chat(messages: list[dict[str, Any]]) -> tuple[list[tuple[str, str]], str]:
    entries: list[tuple[str, str]] = []
    waiting: set[str] = set()
    for message in messages:
        role = message["role"]
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                return entries, "messages with role 'tool' must follow a message with 'tool_calls'"
            waiting.discard(message["tool_call_id"])
            entries.append(("result", _text(message.get("content"))))
            continue
        if waiting:
            return entries, (
                "An assistant message with 'tool_calls' must be followed by tool messages "
                f"responding to each 'tool_call_id': {sorted(waiting)}"
            )
        if role not in {"system", "developer", "user", "assistant"}:
            return entries, f"invalid role {role!r}"
        entries.append((role, _text(message.get("content"))))
        for call in message.get("tool_calls") or []:
            waiting.add(call["id"])
            entries.append(("call", call["function"]["name"]))
    return entries, f"unanswered tool calls: {sorted(waiting)}" if waiting else ""


def _read_responses(items: Any) -> tuple[list[tuple[str, str]], str]:
    if isinstance(items, str):
        return [("user", items)], ""
    entries: list[tuple[str, str]] = []
    waiting: set[str] = set()
    for item in items:
        kind = item.get("type") or "message"
        if kind == "function_call":
            waiting.add(item["call_id"])
            entries.append(("call", item["name"]))
        elif kind == "function_call_output":
            waiting.discard(item["call_id"])
            entries.append(("result", _text(item["output"])))
        elif kind == "message":
            if waiting:
                return entries, f"No tool output found for function calls {sorted(waiting)}"
            entries.append((item["role"], _text(item.get("content"))))
    return entries, f"No tool output found for {sorted(waiting)}" if waiting else ""


def _read_anthropic(messages: list[dict[str, Any]]) -> tuple[list[tuple[str, str]], str]:  # noqa: C901 - one provider's rules
    entries: list[tuple[str, str]] = []
    waiting: set[str] = set()
    for message in messages:
        role, content = message["role"], message["content"]
        if role not in {"user", "assistant", "system"}:
            return entries, f"messages: unexpected role {role!r}"
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [b for b in blocks if b.get("type") == "tool_result"]
        if waiting:
            answered = {b["tool_use_id"] for b in results}
            if role != "user" or not waiting <= answered:
                return (
                    entries,
                    "`tool_use` ids were found without `tool_result` blocks immediately after",
                )
            if any(b.get("type") != "tool_result" for b in blocks[: len(results)]):
                return entries, "`tool_result` blocks must come first in the message"
            waiting = set()
        for block in blocks:
            if block.get("type") == "tool_result":
                entries.append(("result", _text(block.get("content"))))
                if MARKER in _text(block.get("content")):
                    entries.append(("user", _text(block.get("content"))))
            elif block.get("type") == "tool_use":
                waiting.add(block["id"])
                entries.append(("call", block["name"]))
            elif block.get("type") == "text":
                entries.append((role, block["text"]))
    return entries, f"unanswered tool_use: {sorted(waiting)}" if waiting else ""


def _read_gemini(contents: list[dict[str, Any]]) -> tuple[list[tuple[str, str]], str]:
    entries: list[tuple[str, str]] = []
    waiting = 0
    for content in contents:
        parts = content.get("parts") or []
        answers = [p for p in parts if "functionResponse" in p or "function_response" in p]
        if waiting != len(answers):
            return entries, (
                "the number of function response parts must be equal to the number of function "
                "call parts of the function call turn"
            )
        waiting = 0
        for part in parts:
            if "functionCall" in part or "function_call" in part:
                waiting += 1
                entries.append(
                    ("call", (part.get("functionCall") or part["function_call"])["name"])
                )
            elif part in answers:
                entries.append(("result", json.dumps(part)))
            else:
                role = "assistant" if content.get("role") == "model" else "user"
                entries.append((role, part.get("text", "")))
    return entries, ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ModelServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._json(200, {})

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        if "count_tokens" in path:
            self._json(200, {"input_tokens": 100})
            return
        if not body.get("messages") and not body.get("input") and not body.get("contents"):
            self._json(200, {})
            return
        status, calls, text = self.model.take(path, body)
        if status != 200:
            self._json(
                status,
                {
                    "type": "error",
                    "error": {"type": "invalid_request_error", "message": text, "code": status},
                },
            )
        elif path.endswith("/responses"):
            self._responses(body, calls, text)
        elif path.endswith("/messages"):
            self._anthropic(body, calls, text)
        elif "enerateContent" in path:
            self._gemini(calls, text, stream="stream" in path)
        else:
            self._chat(body, calls, text)

    def _json(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _events(self, events: list[Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            if isinstance(event, dict) and "type" in event:
                self.wfile.write(f"event: {event['type']}\n".encode())
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"data: {data}\n\n".encode())
        self.close_connection = True

    def _chat(self, body: dict[str, Any], calls: list[dict[str, Any]], text: str) -> None:
        asked = [
            {
                "id": c["id"],
                "type": "function",
                "function": {"name": c["name"], "arguments": json.dumps(c["args"])},
            }
            for c in calls
        ]
        message = {"role": "assistant", "content": None if calls else text}
        if calls:
            message["tool_calls"] = asked  # type: ignore[assignment] # a JSON object
        finish = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        base = {"id": "chatcmpl-1", "created": 1, "model": body.get("model", "scripted")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            self._json(
                200, {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
            )
            return

        def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            return {**base, "object": "chat.completion.chunk", "choices": [choice]}

        events: list[Any] = [chunk({"role": "assistant", "content": ""})]
        if not calls:
            events.append(chunk({"content": text}))
        events += [chunk({"tool_calls": [{"index": n, **call}]}) for n, call in enumerate(asked)]
        events.append(chunk({}, finish))
        events.append({**base, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        self._events([*events, "[DONE]"])

    def _responses(self, body: dict[str, Any], calls: list[dict[str, Any]], text: str) -> None:
        output: list[dict[str, Any]] = [
            {
                "id": f"fc_{c['id']}",
                "type": "function_call",
                "status": "completed",
                "call_id": c["id"],
                "name": c["name"],
                "arguments": json.dumps(c["args"]),
            }
            for c in calls
        ]
        if not calls:
            part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
            output = [
                {
                    "id": "msg_1",
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [part],
                }
            ]
        usage = {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 15,
        }
        response = {
            "id": f"resp_{len(self.model.requests)}",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": body.get("model", "scripted"),
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "temperature": 1.0,
            "top_p": 1.0,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "usage": usage,
            "previous_response_id": None,
            "text": {"format": {"type": "text"}},
            "truncation": "disabled",
        }
        if not body.get("stream"):
            self._json(200, response)
            return
        events: list[dict[str, Any]] = [
            {
                "type": "response.created",
                "response": {**response, "status": "in_progress", "output": [], "usage": None},
            }
        ]
        for n, item in enumerate(output):
            empty = {"content": []} if item["type"] == "message" else {"arguments": ""}
            place = {"item_id": item["id"], "output_index": n}
            events.append(
                {"type": "response.output_item.added", "output_index": n, "item": {**item, **empty}}
            )
            if item["type"] == "message":
                part = item["content"][0]
                events += [
                    {
                        "type": "response.content_part.added",
                        **place,
                        "content_index": 0,
                        "part": {**part, "text": ""},
                    },
                    {
                        "type": "response.output_text.delta",
                        **place,
                        "content_index": 0,
                        "delta": text,
                        "logprobs": [],
                    },
                    {
                        "type": "response.output_text.done",
                        **place,
                        "content_index": 0,
                        "text": text,
                        "logprobs": [],
                    },
                    {
                        "type": "response.content_part.done",
                        **place,
                        "content_index": 0,
                        "part": part,
                    },
                ]
            else:
                events += [
                    {
                        "type": "response.function_call_arguments.delta",
                        **place,
                        "delta": item["arguments"],
                    },
                    {
                        "type": "response.function_call_arguments.done",
                        **place,
                        "arguments": item["arguments"],
                        "name": item["name"],
                    },
                ]
            events.append({"type": "response.output_item.done", "output_index": n, "item": item})
        events.append({"type": "response.completed", "response": response})
        self._events([{**event, "sequence_number": n} for n, event in enumerate(events)])

    def _anthropic(self, body: dict[str, Any], calls: list[dict[str, Any]], text: str) -> None:
        content: list[dict[str, Any]] = [
            {"type": "tool_use", "id": c["id"], "name": c["name"], "input": c["args"]}
            for c in calls
        ] or [{"type": "text", "text": text}]
        usage = {
            "input_tokens": 10,
            "output_tokens": 5,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
        reason = "tool_use" if calls else "end_turn"
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }
        if not body.get("stream"):
            self._json(200, message)
            return
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
        ]
        for n, block in enumerate(content):
            if block["type"] == "text":
                empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": text}
            else:
                empty = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [
                {"type": "content_block_start", "index": n, "content_block": empty},
                {"type": "content_block_delta", "index": n, "delta": delta},
                {"type": "content_block_stop", "index": n},
            ]
        events.append(
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": {"output_tokens": 5},
            }
        )
        self._events([*events, {"type": "message_stop"}])

    def _gemini(self, calls: list[dict[str, Any]], text: str, *, stream: bool) -> None:
        parts: list[dict[str, Any]] = [
            {"functionCall": {"id": c["id"], "name": c["name"], "args": c["args"]}} for c in calls
        ] or [{"text": text}]
        answer = {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": 10,
                "candidatesTokenCount": 5,
                "totalTokenCount": 15,
            },
            "modelVersion": "scripted",
            "responseId": "1",
        }
        if stream:
            self._events([answer])
        else:
            self._json(200, answer)
