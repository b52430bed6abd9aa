"""What is visible in recordings, and what to set for the rest."""

from pathlib import Path

import pytest

from otel_watchdog import InputError, doctor

RECORDINGS = Path(__file__).parents[2] / "recordings"
NOBODY = b'{"resourceSpans": [{"scopeSpans": [{"scope": {"name": "http"}, "spans": [{"spanId": "01"}]}]}]}'


def examine(*names):
    """Examine recordings that belong together."""
    return doctor.examine_recording([RECORDINGS / f"{name}.json.gz" for name in names])


def test_a_trace_that_shows_all_is_well():
    """Nothing need be set."""
    report = examine("langchain__langfuse")

    assert report.is_well
    assert not report.remedies
    assert [(one.scope, one.dialect) for one in report.recognised] == [
        ("langfuse-sdk", "langfuse_sdk")
    ]
    assert (report.calls.total, report.calls.failed) == (8, 3)
    assert report.calls.share("arguments") == report.calls.share("results") == 1
    (session,) = report.sessions
    assert (session.agent, session.turns, session.calls) == ("build_fixer", 8, 8)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        (
            "google_adk__native",
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
        ),
        (
            "langchain__genai_nocontent",
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
        ),
        ("client_openai_chat__v2", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"),
        ("pydantic_ai__native_nocontent", "InstrumentationSettings(include_content=True)"),
        ("agent_framework__native_nocontent", "ENABLE_SENSITIVE_DATA=true"),
        ("openai_agents__traceloop_nosensitive", "TRACELOOP_TRACE_CONTENT=true"),
        (
            "vercel_ai5__native_generate_nocontent",
            "experimental_telemetry: { recordInputs: true, recordOutputs: true }",
        ),
        ("claude_code__native_default", "OTEL_LOG_TOOL_DETAILS=1"),
        ("autogen__native", "pip install openinference-instrumentation-autogen-agentchat"),
    ],
)
def test_what_is_off_is_named_with_the_switch(name, setting):
    """Exactly as it is written in that framework."""
    report = examine(name)

    assert not report.is_well
    assert report.blind
    assert setting in [remedy.setting for remedy in report.remedies]


def test_log_records_show_what_spans_hide():
    """Spans and log records are one recording."""
    spans = examine("codex__native")
    both = examine("codex__native", "codex__native.logs")

    assert (spans.calls.share("arguments"), both.calls.share("arguments")) == (0, 1)
    assert "codex_otel.log_only" in [one.scope for one in both.recognised]


@pytest.mark.parametrize(
    ("name", "problem"), [("crewai__traceloop", "no tool call"), ("smolagents__genai", "no tool")]
)
def test_a_trace_without_a_call_is_a_problem(name, problem):
    """Whatever else it has."""
    report = examine(name)

    assert [told[: len(problem)] for told in report.problems] == [problem]
    assert report.calls.share("arguments") is None


def test_spans_of_nobody_are_a_problem(tmp_path):
    """They are counted by scope."""
    file = tmp_path / "trace.json"
    file.write_bytes(NOBODY)

    report = doctor.examine_recording([file])

    assert [(one.scope, one.dialect, one.spans) for one in report.recognised] == [("http", None, 1)]
    assert report.problems == ["no span is in a dialect: is the framework instrumented?"]


def test_the_json_shape_has_shares():
    """It is for programs."""
    shape = examine("dspy__genai").as_json()

    assert shape["calls"]["shares"] == {"arguments": 1, "results": 1, "ids": 0, "outcomes": 1}
    assert shape["sessions"][0]["calls"] == 8
    assert shape["well"] == (not shape["blind"])


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    """It is named."""
    with pytest.raises(InputError, match=r"missing\.json"):
        doctor.examine_recording([tmp_path / "missing.json"])
