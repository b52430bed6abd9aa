"""How long a correction takes to reach its agent, and what an agent costs that waits for one.

    python benchmarks/feedback.py [--agents 10000] [--corrections 300] [--json]

The service is another process. So many agents listen to their streams of server-sent events, and
stay; then some of them, one after the other, export a turn that calls for a correction. Measured is
the time from the POST of that turn to its answer, by when it is journaled and judged and the
correction is in the agent's mailbox; and to the event on the agent's stream.
Needs as many open files as there are agents, in both processes (`ulimit -n`).
"""

import argparse
import asyncio
import contextlib
import gc
import json
import statistics
import sys
import tempfile
import time

from ingest import resident_mib, say, start
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

HOST = "127.0.0.1"
AT_ONCE = 200
"""Agents that connect at a time."""
MAX_TURNS = 12
"""Equal turns of which one calls for a correction."""
SILENCE = 0.1
"""Seconds without a correction after an answer: the turn called for none."""
SECOND = 1_000_000_000
SHARES = (50, 95, 99)


def export_of(agent: int, turn: int) -> bytes:
    """Return an export of a turn in which an agent makes the same call as in all others."""
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    scope.scope.name = "pydantic-ai"
    call = {
        "gen_ai.tool.name": "read_file",
        "gen_ai.tool.call.id": f"call-{turn}",
        "gen_ai.tool.call.arguments": '{"path": "a.py"}',
        "gen_ai.tool.call.result": "the same as before",
    }
    for number, (operation, said) in enumerate({"chat": {}, "execute_tool": call}.items()):
        span = scope.spans.add()
        span.trace_id = (agent + 1).to_bytes(16)
        span.span_id = ((agent + 1) * 1000 + turn * 2 + number).to_bytes(8)
        span.parent_span_id = ((agent + 1) * 1000).to_bytes(8)
        span.name = operation
        span.start_time_unix_nano = (turn * 2 + number) * SECOND
        span.end_time_unix_nano = span.start_time_unix_nano + SECOND // 2
        always = {
            "gen_ai.operation.name": operation,
            "gen_ai.conversation.id": conversation_of(agent),
        }
        for key, value in {**always, **said}.items():
            made = span.attributes.add()
            made.key, made.value.string_value = key, value
    return request.SerializeToString()


def conversation_of(agent: int) -> str:
    """Return the name by which an agent asks."""
    return f"agent-{agent}"


class Agent:
    """An agent that listens."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def listen(self, port: int) -> None:
        """Open the stream, and read until it stands."""
        self._reader, self._writer = await asyncio.open_connection(HOST, port)
        name = conversation_of(self.number)
        head = f"GET /v1/feedback/{name} HTTP/1.1\r\nHost: {HOST}\r\nAccept: text/event-stream\r\n"
        self._writer.write(f"{head}\r\n".encode())
        await self._reader.readuntil(b"retry: ")

    async def correction(self) -> None:
        """Return as soon as a correction has come."""
        await self._reader.readuntil(b"event: correction")

    def leave(self) -> None:
        """Close the stream."""
        self._writer.close()


async def post(port: int, body: bytes) -> float:
    """Export spans; return when the answer came."""
    reader, writer = await asyncio.open_connection(HOST, port)
    head = (
        f"POST /v1/traces HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/x-protobuf\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode() + body)
    answer = await reader.readline()
    answered = time.perf_counter()
    await reader.read()
    writer.close()
    if not answer.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"the service answered {answer[:200]!r}")
    return answered


async def correct(agent: Agent, port: int) -> tuple[float, float]:
    """Let an agent go in circles until it is corrected.

    Return the last turn's milliseconds to the answer, and to the event.
    """
    came = asyncio.ensure_future(agent.correction())
    for turn in range(MAX_TURNS):
        body = export_of(agent.number, turn)
        began = time.perf_counter()
        answered = asyncio.ensure_future(post(port, body))
        await asyncio.wait({came, answered}, return_when=asyncio.FIRST_COMPLETED)
        took = (time.perf_counter() - began) * 1e3
        to_answer = (await answered - began) * 1e3
        if not came.done():
            await asyncio.wait({came}, timeout=SILENCE)
            took = (time.perf_counter() - began) * 1e3
        if came.done():
            return to_answer, took
    raise SystemExit(f"no correction after {MAX_TURNS} equal turns")


async def measure(pid: int, port: int, count: int, corrections: int) -> dict[str, float]:
    """Have agents wait, and correct some; return the figures."""
    before = resident_mib(pid)
    agents = [Agent(number) for number in range(count)]
    for first in range(0, count, AT_ONCE):
        await asyncio.gather(*(agent.listen(port) for agent in agents[first : first + AT_ONCE]))
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{min(first + AT_ONCE, count)} of {count} agents listen\n")
    waiting = resident_mib(pid)
    gc.collect()
    gc.freeze()  # it is the service that is measured, not the many readers here
    chosen = agents[:: max(1, count // corrections)][:corrections]
    times = [await correct(agent, port) for agent in chosen]
    for agent in agents:
        agent.leave()
    figures: dict[str, float] = {}
    for name, one in zip(("mailbox", "stream"), zip(*times, strict=True), strict=True):
        cuts = statistics.quantiles(one, n=100)
        figures |= {f"{name}_p{share}_ms": cuts[share - 1] for share in SHARES}
    return {
        "agents": count,
        "kib_a_waiting_agent": (waiting - before) * 1024 / count,
        "corrections": len(times),
        **figures,
    }


def main() -> None:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--agents", type=int, default=10_000, help="that wait at once")
    parser.add_argument("--corrections", type=int, default=300, help="that are sent and timed")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        service, port = start(folder, mode="feedback")
        try:
            figures = asyncio.run(measure(service.pid, port, given.agents, given.corrections))
        finally:
            service.terminate()
            with contextlib.suppress(TimeoutError):
                service.wait(20)
    if given.json:
        say(json.dumps(figures))
        return
    say(f"{figures['agents']} agents wait, {figures['kib_a_waiting_agent']:.1f} KiB each")
    say(f"{figures['corrections']} corrections, from the POST of a turn")
    for name in ("mailbox", "stream"):
        shares = (f"p{share} {figures[f'{name}_p{share}_ms']:.1f} ms" for share in SHARES)
        say(f"to the agent's {name:<8} {'  '.join(shares)}")


if __name__ == "__main__":
    main()
