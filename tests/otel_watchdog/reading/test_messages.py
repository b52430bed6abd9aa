"""Messages in the shapes of GenAI parts, OpenAI chat, Anthropic blocks; flattened; their tails."""

import pytest

from otel_watchdog.reading.histories import (
    FlatHistory,
    JsonHistory,
    answer_in,
    flat_messages,
    history_in,
)
from otel_watchdog.reading.messages import Layout, read_messages

LAYOUT = Layout(message=".message", call=".tool_call", function=".tool_call", block="")


@pytest.mark.parametrize(
    "text",
    [
        '[{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"f","arguments":{}}]}]',
        '{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}',
        '[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}]',
        '[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]',
        '{"messages":[[{"role":"ai","tool_calls":[{"id":"c","name":"f","args":{}}]}]]}',
    ],
)
def test_a_call_is_read_in_each_shape(text):
    """Name, arguments and id are the same."""
    (call,) = [call for message in read_messages(text) for call in message.calls]

    assert (call.name, call.arguments, call.call_id) == ("f", "{}", "c")


@pytest.mark.parametrize(
    "text",
    [
        '[{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":"done"}]}]',
        '[{"role":"tool","tool_call_id":"c","content":"done"}]',
        '[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done"}]}]',
        '[{"type":"function_call_output","call_id":"c","output":"done"}]',
        '[{"parts":[{"type":"tool_call_response","id":"c","response":{"result":"done"}}]}]',
        '[{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"done"}]}]',
    ],
)
def test_a_result_is_read_in_each_shape(text):
    """Content and id are the same."""
    (result,) = [result for message in read_messages(text) for result in message.results]

    assert (result.content, result.call_id) == ("done", "c")


@pytest.mark.parametrize("text", ["", "plain", "3", "[3, null]", '[{"role":3,"tool_calls":3}]'])
def test_what_is_no_message_is_survived(text):
    """Nothing is made up, nothing raises."""
    assert all(not message.calls and not message.results for message in read_messages(text))


def test_only_what_was_added_is_read():
    """A history that goes on is read from where it ended; another one from its last answer."""
    first = '[{"role":"user","content":"one"}'
    longer = first + ', {"role":"assistant","content":"two"}, {"role":"user","content":"three"}]'

    _, mark = JsonHistory(first + "]").since(None)
    added, _ = JsonHistory(longer).since(mark)
    again, _ = JsonHistory(longer).since(None)

    assert [message.text for message in added] == ["two", "three"]
    assert [message.text for message in again] == ["three"]


def test_a_history_in_an_object_goes_on():
    """Langfuse's clients record the whole request."""
    first = '{"tools":[],"messages":[{"role":"user","content":"one"}'

    _, mark = JsonHistory(first + "]}").since(None)
    added, _ = JsonHistory(first + ',{"role":"user","content":"two"}]}').since(mark)

    assert [message.text for message in added] == ["two"]


def flat(*messages, start=0):
    attributes = {}
    for index, message in enumerate(messages, start):
        for key, value in message.items():
            attributes[f"in.{index}.message.{key}"] = value
    return FlatHistory(attributes, "in", LAYOUT)


USER = {"role": "user", "content": "go"}


def test_a_flattened_history_goes_on():
    """It is read from the next index."""
    _, mark = flat(USER).since(None)

    added, _ = flat(USER, {"role": "tool", "tool_call_id": "c", "content": "done"}).since(mark)

    assert [part.content for message in added for part in message.results] == ["done"]


def test_a_chained_history_is_read_anew():
    """With `previous_response_id` each input holds only what is new, in the same places."""
    first, second = ({"role": "tool", "tool_call_id": c, "content": "done"} for c in "ab")
    _, mark = flat(USER, first).since(None)

    added, _ = flat(USER, second).since(mark)

    assert [part.call_id for message in added for part in message.results] == ["b"]


def test_what_an_attribute_limit_left_is_read():
    """The oldest messages are the first to be dropped."""
    answer, result = {"role": "assistant", "content": "x"}, {"role": "tool", "content": "done"}

    messages, _ = flat(answer, result, start=40).since(None)

    assert [part.content for message in messages for part in message.results] == ["done"]


def test_no_content_is_unknown_and_not_empty():
    """A model's answer that was not captured is `None`."""
    assert answer_in(None) is None
    assert answer_in("") is None
    assert history_in(None) is None
    assert flat_messages({}, "out", LAYOUT) is None
    assert answer_in([]) == []
