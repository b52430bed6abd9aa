"""What a correction tells and hides, and which detectors a trace leaves blind."""

import pytest

from otel_watchdog import (
    ModelTurn,
    RepeatedToolCall,
    Severity,
    ToolOutcome,
    ToolResult,
)
from otel_watchdog.detectors import BUILT_IN
from tests.otel_watchdog.engine_cases import Always, call, watch

KEY = "sk-abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize("redact", [True, False])
def test_secrets_stand_nowhere_in_a_correction(redact):
    """Reason, guidance, evidence and message are cleaned, and what listeners are told."""
    told = []
    watchdog = watch(
        Always(text=KEY),
        Always("other", Severity.WARN, KEY),
        on_finding=lambda found, _: told.append(found),
        redact=redact,
    )

    correction = watchdog.observe(call(1))

    assert (KEY in repr(correction)) is not redact
    assert (KEY in repr(told)) is not redact
    assert correction.finding.evidence["count"] == 3


@pytest.mark.parametrize("filler", [0, 50, 90, 100, 150, 170, 185, 195, 250])
def test_a_cut_hides_no_secret_from_redaction(filler):
    """Long arguments are shortened for the message; what remains of a secret is still none."""
    arguments = f'{{"note":"{"x" * filler}","password":"{"Tr0ub4dor" * 12}","z":"{"y" * 150}"}}'
    watchdog = watch(RepeatedToolCall(threshold=2))
    watchdog.observe(call(1, arguments=arguments))

    correction = watchdog.observe(call(2, arguments=arguments))

    assert "Tr0ub4dor" not in repr(correction)


def test_nothing_is_blind_in_a_whole_trace():
    """A session whose trace carries everything lacks nothing."""
    watchdog = watch(*(d() for d in BUILT_IN))
    watchdog.observe(ModelTurn("s", 1, text="I look."))
    watchdog.observe(call(1))
    watchdog.observe(ToolResult("s", 1, "ls", ToolOutcome.OK, "a.go"))

    assert watchdog.blind("s") == {}
    assert watchdog.blind("never seen") == {}


def test_blind_says_which_detector_lacks_what():
    """A trace without content blinds those that need it, and names what is missing."""
    watchdog = watch(*(d() for d in BUILT_IN))
    watchdog.observe(ModelTurn("s", 1))
    watchdog.observe(call(1, arguments=None))
    watchdog.observe(ToolResult("s", 1, "ls"))

    blind = watchdog.blind("s")

    assert "arguments of tool calls are not captured" in blind["repeated_tool_call"]
    assert "how tool calls ended" in blind["tool_failure_streak"]
    assert "what the model says is not captured" in blind["tools_without_text"]
    assert "results of tool calls are not captured" in blind["no_new_state"]
    assert set(blind) == {d.name for d in BUILT_IN if d.needs}


def test_a_trace_without_any_results_blinds_what_needs_them():
    """Results that never come are as missing as results without content."""
    watchdog = watch(*(d() for d in BUILT_IN))

    for turn in range(1, 9):
        watchdog.observe(call(turn, arguments=f'{{"n":{turn}}}'))

    assert "no_new_state" in watchdog.blind("s")
    assert "no_op_streak" in watchdog.blind("s")
