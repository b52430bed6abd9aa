"""A message written as Python shows it is read, and nothing of it is run."""

import pytest

from otel_watchdog.reading.messages import messages_of
from otel_watchdog.reading.reprs import MAX_CHARS, message_in

RESULT = (
    "ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[ToolCallResult(result=\"it's <A.B: 'c'>\", "
    "origin=ToolCall(tool_name='ls', arguments={'path': '.'}, id='c1', extra=None), error=True)], "
    "_name=None, _meta={})"
)
CALLS = (
    "ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[TextContent(text='Both.'), "
    "ToolCall(tool_name='ls', arguments={'path': '.'}, id='c1', extra=None), "
    "ToolCall(tool_name='pwd', arguments={}, id='c2', extra=None)], _name=None, _meta={})"
)


def test_results_and_calls_are_read():
    """Result, error flag, id and tool; text and every call of an answer."""
    answer, result = messages_of([CALLS, RESULT])

    assert (answer.role, answer.text) == ("assistant", "Both.")
    assert [(c.name, c.arguments, c.call_id) for c in answer.calls] == [
        ("ls", '{"path":"."}', "c1"),
        ("pwd", "{}", "c2"),
    ]
    (told,) = result.results
    assert (told.content, told.call_id, told.name, told.is_error) == (
        "it's <A.B: 'c'>",
        "c1",
        "ls",
        True,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "ChatMessage(",
        "ChatMessage(_role=<ChatRole.USER: 'user'>)",
        "ChatMessage(_role=__import__('os').getcwd(), _content=[])",
        "ChatMessage(_role='user', _content=[open('/etc/passwd')])",
        "ChatMessage(_role='user', _content=[TextContent(text=open('x').read())])",
        f"ChatMessage(_role='user', _content=[TextContent(text='{'x' * MAX_CHARS}')])",
        "ChatMessage(_role='user', _content=" + "[" * 5000,
        RESULT[:-40],
    ],
)
def test_what_is_no_message_is_none(text):
    """What is cut, long, or more than literals is no message."""
    assert message_in(text) is None
