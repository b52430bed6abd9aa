"""`repeated_tool_call` against its cases in testdata/, and its rule of what is the same call."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from otel_watchdog import ConfigError, Kind, Severity
from otel_watchdog.detectors import RepeatedToolCall
from otel_watchdog.detectors.repeated_tool_call import same_call
from otel_watchdog.model import ToolCall
from otel_watchdog.progress import Progress

CASES = json.loads(
    (Path(__file__).parent / "testdata" / "repeated_tool_call.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_fires_where_the_case_says(watch, case):
    """It fires on the observation that completes the pattern, and on no other."""
    watched = watch(RepeatedToolCall(**case.get("options", {})))

    fired_at = watched.play(case["events"])

    assert fired_at == case["fires_at"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1}, "repeated_tool_call.threshold must be at least 2, got 1"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    """The message names the setting, what is allowed and the value given."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        RepeatedToolCall(**options)


def test_finding_says_what_was_seen(watch):
    """Kind, severity, evidence and the operator's reason."""
    watched = watch(RepeatedToolCall(threshold=2))

    watched.play([{"call": "ls", "arguments": {"path": "./a"}, "times": 2}])

    assert watched.finding.kind is Kind.LOOP
    assert watched.finding.severity is Severity.CRITICAL
    assert watched.finding.evidence == {"tool": "ls", "arguments": '{"path":"a"}', "count": 2}
    assert watched.finding.reason == 'ls was called 2 times in a row with {"path":"a"}'


def call(arguments, name="read"):
    """Return a call as the progress ledger has it."""
    progress = Progress()
    text = None if arguments is None else json.dumps(arguments)
    progress.observe(ToolCall("s", 1, name, text))
    return progress.call


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"path": "main.go"}, {"path": "src/main.go"}, True),
        ({"path": "main.go"}, {"path": "/main.go"}, True),
        ({"path": "src/main.go"}, {"path": "lib/main.go"}, False),
        ({"path": "main.go"}, {"path": "domain.go"}, False),
        ({"path": "main.go"}, {"path": "main.go/x"}, False),
        ({"path": ""}, {"path": "src"}, False),
        ({"path": "."}, {"path": "src/."}, False),
        ({"path": ""}, {"path": "./"}, True),
        ({"text": "main.go"}, {"text": "src/main.go"}, False),
        ({"path": "main.go", "line": 1}, {"path": "a/main.go", "line": 1}, True),
        ({"path": "main.go", "line": 1}, {"path": "a/main.go", "line": 2}, False),
        ({"path": "main.go"}, {"path": "a/main.go", "line": 1}, False),
        ({"path": ["main.go"]}, {"path": ["a/main.go"]}, False),
        ({"path": 1}, {"path": "1"}, False),
        ({"edits": {"path": "a"}}, {"edits": {"path": "x/a"}}, False),
        ({"target": "prod"}, {"target": "cluster/prod"}, True),
        ([1], [1], True),
        ([1], [2], False),
        ({}, {}, True),
        ({}, None, False),
    ],
)
def test_same_call(one, other, same):
    """A path may be the other's end; everything else must be equal, unknown never is."""
    assert same_call(call(one), call(other)) is same
    assert same_call(call(other), call(one)) is same


def test_same_call_is_never_another_tool():
    """Equal arguments of two tools are two questions."""
    assert not same_call(call({"path": "a"}), call({"path": "a"}, name="write"))


def test_same_call_is_not_transitive():
    """`main.go` is either file, but they are not each other: hence no key can stand for it."""
    short, one, other = (call({"path": path}) for path in ("main.go", "a/main.go", "b/main.go"))

    assert same_call(short, one)
    assert same_call(short, other)
    assert not same_call(one, other)


PATHS = st.lists(st.sampled_from(["a", "b", ".", "..", ""]), max_size=4).map("/".join)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "src", "query", "n"]),
    PATHS | st.integers(0, 1) | st.none() | st.lists(st.integers(0, 1), max_size=2),
    max_size=3,
)


@pytest.mark.slow
@given(ARGUMENTS, ARGUMENTS)
def test_same_call_is_reflexive_and_symmetric(one, other):
    """Who is compared with whom does not matter, and each call is the same as itself."""
    assert same_call(call(one), call(one))
    assert same_call(call(one), call(other)) == same_call(call(other), call(one))


@pytest.mark.slow
@given(ARGUMENTS, ARGUMENTS)
def test_equal_keys_are_the_same_call(one, other):
    """What a key calls equal, this does too: the detectors that use keys are the stricter."""
    first, second = call(one), call(other)

    assert same_call(first, second) or first.key != second.key
