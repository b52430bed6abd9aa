"""What the watchdog costs a traced program, beside what tracing itself costs, in one run.

    python benchmarks/overhead.py [--json]

Every figure is a median over rounds that alternate between the set-ups, and what a set-up adds is
the median of its differences from the no-op processor in the same round, so that a slow moment of
the machine strikes all of them. A round ends with a flush in its own time: a worker thread must not
work while another set-up is measured. Absolute times depend on the machine; compare the ratios.
"""

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from otel_watchdog import Mode, Profile, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.testing import reraise

BASE = "no-op processor"
ROUNDS = 60
SPANS_PER_ROUND = 300
RESULT = "a line of a file that a tool has read, long enough to be worth a look\n" * 14
"""1 KB, with a number in front that makes each one new."""


class NoOp(SpanProcessor):
    """Does nothing: what any processor costs."""


class DeadSink(SpanExporter):
    """Serializes spans as the OTLP exporters do, and sends them nowhere."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """See `SpanExporter.export`."""
        encode_spans(spans).SerializeToString()
        return SpanExportResult.SUCCESS


def provider_with(*processors: SpanProcessor) -> TracerProvider:
    """Return a provider of its own with these processors."""
    provider = TracerProvider(shutdown_on_exit=False)
    for processor in processors:
        provider.add_span_processor(processor)
    return provider


def plain_spans(provider: TracerProvider) -> Callable[[], int]:
    """Return what writes spans that are not an agent's, as a web framework does."""
    tracer = provider.get_tracer("opentelemetry.instrumentation.asgi")
    attributes = {"http.request.method": "GET", "url.path": "/orders", "server.port": 443}

    def write() -> int:
        for _ in range(SPANS_PER_ROUND):
            with tracer.start_as_current_span("GET /orders", attributes=attributes):
                pass
        return SPANS_PER_ROUND

    return write


def tool_spans(provider: TracerProvider) -> Callable[[], int]:
    """Return what writes an agent's run of tool spans with 1 KB of content each."""
    tracer = provider.get_tracer("pydantic-ai")
    count = 0

    def write() -> int:
        nonlocal count
        run = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "bench",
            "gen_ai.conversation.id": f"c{count}",
        }
        with tracer.start_as_current_span("invoke_agent bench", attributes=run):
            for _ in range(SPANS_PER_ROUND):
                count += 1
                with tracer.start_as_current_span(
                    "execute_tool read_file",
                    attributes={
                        "gen_ai.operation.name": "execute_tool",
                        "gen_ai.tool.name": "read_file",
                        "gen_ai.tool.call.id": f"call_{count}",
                        "gen_ai.agent.name": "bench",
                        "gen_ai.conversation.id": run["gen_ai.conversation.id"],
                        "gen_ai.tool.call.arguments": f'{{"path":"src/{count}.py","limit":40}}',
                    },
                ) as span:
                    span.set_attribute("gen_ai.tool.call.result", f"{count} {RESULT}")
        return SPANS_PER_ROUND

    return write


def measure(setups: dict[str, tuple[TracerProvider, Callable[[], int]]]) -> dict[str, list[float]]:
    """Return the times a span of each set-up, in microseconds, one a round, rounds alternating."""
    times: dict[str, list[float]] = {name: [] for name in setups}
    for provider, write in setups.values():
        write()
        provider.force_flush()
    gc.collect()
    gc.freeze()
    for _ in range(ROUNDS):
        for name, (provider, write) in setups.items():
            begin = time.perf_counter_ns()
            spans = write()
            provider.force_flush()
            times[name].append((time.perf_counter_ns() - begin) / spans / 1000)
    return times


def watched(profile: Profile) -> TracerProvider:
    """Return a provider with a watchdog of this profile."""
    config = WatchdogConfig(profile=profile, mode=Mode.OBSERVE)
    return provider_with(WatchdogSpanProcessor(config=config, on_error=reraise))


def compare(spans: Callable[[TracerProvider], Callable[[], int]]) -> dict[str, float]:
    """Return what a span costs in each set-up, and what each adds, in microseconds and ratios."""
    batch = BatchSpanProcessor(DeadSink(), max_queue_size=100_000)
    providers = {
        "SDK alone": provider_with(),
        BASE: provider_with(NoOp()),
        "watchdog, the eight of classic": watched(Profile.CLASSIC),
        "watchdog, standard": watched(Profile.STANDARD),
        "batch + OTLP": provider_with(batch),
    }
    times = measure({name: (made, spans(made)) for name, made in providers.items()})
    for provider in providers.values():
        provider.shutdown()
    figures = {name: statistics.median(values) for name, values in times.items()}
    own = figures["SDK alone"]
    for name in list(providers)[2:]:
        pairs = zip(times[name], times[BASE], strict=True)
        added = statistics.median(value - base for value, base in pairs)
        figures[f"{name}: adds"] = added
        figures[f"{name}: adds, of the SDK's own"] = added / own
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    as_json = parser.parse_args().json
    kinds = {"span of no agent": plain_spans, "tool span, 1 KB": tool_spans}
    report = {kind: compare(spans) for kind, spans in kinds.items()}
    if as_json:
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
        return
    for kind, figures in report.items():
        sys.stdout.write(f"\n{kind}\n")
        for name, value in figures.items():
            unit = "x" if name.endswith("own") else "µs"
            sys.stdout.write(f"  {name:60} {value:8.2f} {unit}\n")


if __name__ == "__main__":
    main()
