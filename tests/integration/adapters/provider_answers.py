"""Answers over HTTP in four providers' wire formats, at once or streamed."""

import json
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.integration.adapters.model_server import ModelServer


class AnswerHandler(BaseHTTPRequestHandler):
    """What a model server answers with."""

    protocol_version = "HTTP/1.1"
    model: "ModelServer"

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
            "id": f"msg_{len(self.model.requests)}",
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
