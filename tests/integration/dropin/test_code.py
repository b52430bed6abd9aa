"""One line in code, on the SDK's own provider: order, twice, fork of settings, threads, sampling."""

OTLP = """
import os
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from otel_watchdog import install

exporter = OTLPSpanExporter(os.environ["RECEIVER"] + "/v1/traces")
"""


def test_comes_first_or_last(run, receiver):
    """Added before an exporter or after it, a watchdog's corrections are exported once."""
    for lines in ("install(p); p.add_span_processor(s)", "p.add_span_processor(s); install(p)"):
        receiver.spans.clear()

        told = run(
            "launcher",
            OTLP
            + f"""
p, s = TracerProvider(), SimpleSpanProcessor(exporter)
{lines}
trace.set_tracer_provider(p)
agent()
tell(install())
""",
        )

        assert len(told["waiting"]) == 1
        assert len(receiver.corrections) == 1
        assert receiver.names.count("execute_tool ls") == 8


def test_an_open_span_is_read_when_it_ends(run):
    """A watchdog that comes in the middle of a run sees the rest of it."""
    told = run(
        "launcher",
        OTLP
        + """
p = TracerProvider()
trace.set_tracer_provider(p)
with trace.get_tracer("app").start_as_current_span("before"):
    watchdog = install()
    agent()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1


def test_sampling_keeps_runs_from_it_and_says_so(run):
    """A sampler that drops is named at install; `RecordAll` gives the runs back."""
    program = (
        OTLP
        + """
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased
from otel_watchdog.sampling import RecordAll
sampler = ParentBased(ALWAYS_OFF)
p = TracerProvider(sampler={})
p.add_span_processor(SimpleSpanProcessor(exporter))
watchdog = install(p)
trace.set_tracer_provider(p)
agent()
tell(watchdog)
"""
    )

    dropped = run("launcher", program.format("sampler"))
    recorded = run("launcher", program.format("RecordAll(sampler)"))

    assert dropped["waiting"] == []
    assert "samples by ParentBased{root:AlwaysOffSampler" in dropped["stderr"]
    assert len(recorded["waiting"]) == 1
    assert recorded["stderr"] == ""


def test_the_sdks_own_sampler_that_records_all_loses_attributes(run, receiver):
    """Known: `AlwaysRecordSampler` records what it drops without what a span began with."""
    told = run(
        "launcher",
        OTLP
        + """
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, AlwaysRecordSampler
p = TracerProvider(sampler=AlwaysRecordSampler(ALWAYS_OFF))
p.add_span_processor(SimpleSpanProcessor(exporter))
watchdog = install(p)
trace.set_tracer_provider(p)
agent()
tell(watchdog)
""",
    )

    assert (told["waiting"], receiver.spans) == ([], [])
    assert "samples by AlwaysRecordSampler{AlwaysOffSampler}" in told["stderr"]


def test_tool_calls_in_threads_stay_in_their_run(run):
    """`carry` and `ContextExecutor` do what a plain pool does not; so does OpenTelemetry's own."""
    program = (
        OTLP
        + """
from concurrent.futures import ThreadPoolExecutor
from opentelemetry.instrumentation.threading import ThreadingInstrumentor
from otel_watchdog import ContextExecutor, carry
trace.set_tracer_provider(TracerProvider())
tracer = trace.get_tracer("app")

def is_inside(_):
    with tracer.start_as_current_span("tool") as span:
        return span.parent is not None

told = {}
with tracer.start_as_current_span("run"):
    with ThreadPoolExecutor() as pool:
        told["plain"] = list(pool.map(is_inside, "ab"))
        told["carry"] = list(pool.map(carry(is_inside), "ab"))
    with ContextExecutor() as pool:
        told["executor"] = list(pool.map(is_inside, "ab"))
        told["submit"] = pool.submit(is_inside, "a").result()
    ThreadingInstrumentor().instrument()
    with ContextExecutor() as pool:
        told["beside"] = list(pool.map(is_inside, "ab"))
print(json.dumps(told))
"""
    )

    told = run("launcher", program)

    assert told["plain"] == [False, False]
    assert told["carry"] == told["executor"] == told["beside"] == [True, True]
    assert told["submit"] is True
