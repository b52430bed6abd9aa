"""Message histories: the part of a model's input that is new since the turn before.

Model spans repeat the whole conversation. Work here is proportional to what was added: a history
in JSON text is cut where the one before ended, a flattened one is read from the next index on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from otel_watchdog.reading.content import text_of
from otel_watchdog.reading.messages import (
    ANSWERERS,
    Layout,
    Message,
    flat_message,
    messages_of,
    read_messages,
)

_SEAM_CHARS: Final = 64
"""How much before the seam must be unchanged for a history to count as the same one, longer."""


@dataclass(slots=True, kw_only=True)
class Mark:
    """How far a history was read."""

    size: int
    """Characters of JSON text, or messages of a flattened history."""
    seam: str
    """What stood just before the mark."""


class History(Protocol):
    """A model span's input messages, unread."""

    def since(self, mark: Mark | None) -> tuple[list[Message], Mark]:
        """Return the messages after `mark`, oldest first, and the mark to read on from.

        Without a mark, or where the history is not the one that was marked, only the tail after
        the model's last answer is returned: what stands before it was judged in its own turn.
        """
        ...


class JsonHistory:
    """A history in one JSON text: a list of messages, an object around one, or plain text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def since(self, mark: Mark | None) -> tuple[list[Message], Mark]:
        """See `History.since`."""
        text = self._text.rstrip()
        size = len(text) - 1
        if text.endswith("]}"):
            size -= 1
        new_mark = Mark(size=size, seam=text[max(0, size - _SEAM_CHARS) : size])
        if mark and self._grew(text, mark):
            if size == mark.size:
                return [], new_mark
            added = text[mark.size : size + 1].lstrip(" ,")
            return read_messages("[" + added), new_mark
        return after_last_answer(read_messages(text)), new_mark

    @staticmethod
    def _grew(text: str, mark: Mark) -> bool:
        return (
            len(text) > mark.size
            and text[mark.size] in ",]"
            and text.startswith(mark.seam, max(0, mark.size - _SEAM_CHARS))
        )


class FlatHistory:
    """A history flattened into attributes: `<prefix>.<index>.…`.

    Args:
        attributes: The span's attributes.
        prefix: What stands before the index, without the dot.
        layout: Where the parts of a message stand.
    """

    __slots__ = ("_attributes", "_layout", "_prefix")

    def __init__(self, attributes: Mapping[str, Any], prefix: str, layout: Layout) -> None:
        self._attributes = attributes
        self._prefix = prefix
        self._layout = layout

    def since(self, mark: Mark | None) -> tuple[list[Message], Mark]:
        """See `History.since`."""
        first = mark.size if mark else 0
        if mark and self._seam(first - 1) != mark.seam:
            first = 0
        added: list[Message] = []
        index = first
        while (message := self._message(index)) is not None:
            added.append(message)
            index += 1
        if first == 0:
            if not added:
                added, index = self._scattered()
            added = after_last_answer(added)
        return added, Mark(size=index, seam=self._seam(index - 1))

    def _seam(self, index: int) -> str:
        """Return what tells a message from another one in its place."""
        at = f"{self._prefix}.{index}{self._layout.message}"
        get = self._attributes.get
        call = f"{at}.tool_calls.0{self._layout.call}.id"
        signs = (get(f"{at}.role"), get(f"{at}.tool_call_id"), get(call))
        return f"{signs}{str(get(f'{at}.content'))[:_SEAM_CHARS]}"

    def _message(self, index: int) -> Message | None:
        return flat_message(self._attributes, f"{self._prefix}.{index}", self._layout)

    def _scattered(self) -> tuple[list[Message], int]:
        """Read what is left where the first messages were dropped at an attribute limit."""
        start = len(self._prefix) + 1
        present = {
            int(index)
            for key in self._attributes
            if key.startswith(self._prefix)
            and (index := key[start:].split(".", 1)[0]).isdecimal()
            and len(index) <= _MAX_INDEX_DIGITS
        }
        found = [m for index in sorted(present) if (m := self._message(index)) is not None]
        return found, max(present, default=-1) + 1


def history_in(value: object) -> JsonHistory | None:
    """Return the history that an attribute holds; `None` if it was not captured."""
    text = value if isinstance(value, str) else text_of(value)
    return JsonHistory(_list_in(text) if text[0] == "{" else text) if text else None


def _list_in(text: str) -> str:
    """Return the messages' list out of a request that has the tools after it.

    So that a history's end stands at the end of its text, and only what is new need be parsed.
    """
    named = text.find('"messages"', 0, _HEAD_CHARS)
    start = text.find("[", named) if named >= 0 else -1
    end = max(text.rfind('], "tools":'), text.rfind('],"tools":'))
    return text[start : end + 1] if 0 <= start < end else text


_HEAD_CHARS: Final = 200


def answer_in(value: object) -> list[Message] | None:
    """Return the model's answer that an attribute holds; `None` if it was not captured."""
    if isinstance(value, str):
        return read_messages(value) if value else None
    return messages_of(value) if value is not None else None


_MAX_INDEX_DIGITS: Final = 9


def flat_messages(
    attributes: Mapping[str, Any], prefix: str, layout: Layout
) -> list[Message] | None:
    """Read a model's flattened answer; `None` where there is none."""
    found: list[Message] = []
    for index in range(_MAX_ANSWERS):
        message = flat_message(attributes, f"{prefix}.{index}", layout)
        if message is None and index > 0:
            break
        if message is not None:
            found.append(message)
    return found or None


_MAX_ANSWERS: Final = 64


def after_last_answer(messages: Sequence[Message]) -> list[Message]:
    """Return what follows the model's last answer; all of it where the model has not answered.

    >>> [m.role for m in after_last_answer([Message(role="assistant"), Message(role="tool")])]
    ['tool']
    """
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role in ANSWERERS:
            return list(messages[index + 1 :])
    return list(messages)


class MessageHistory:
    """A history that comes as one message after the other; the last of them are read.

    Args:
        messages: The conversation, oldest first.
    """

    __slots__ = ("messages",)

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        """The conversation, oldest first."""

    def since(self, mark: Mark | None) -> tuple[list[Message], Mark]:
        """See `History.since`."""
        size = len(self.messages)
        grew = mark is not None and mark.seam == _COUNTED and mark.size <= size
        first = mark.size if mark is not None and grew else 0
        return after_last_answer(self.messages[first:]), Mark(size=size, seam=_COUNTED)


_COUNTED: Final = "counted"


class EventHistory:
    """A history in events of one message each, read from the end to the model's last answer.

    Args:
        events: Names and attributes, oldest first.
        read: Makes a message of one; `None` for an event that is none.
    """

    __slots__ = ("_events", "_read")

    def __init__(
        self,
        events: Sequence[tuple[str, Mapping[str, Any]]],
        read: Callable[[str, Mapping[str, Any]], Message | None],
    ) -> None:
        self._events = events
        self._read = read

    def since(self, mark: Mark | None) -> tuple[list[Message], Mark]:  # noqa: ARG002 - the tail is all
        """See `History.since`."""
        added: list[Message] = []
        for name, attributes in reversed(self._events):
            message = self._read(name, attributes)
            if message is not None and message.role in ANSWERERS:
                break
            if message is not None:
                added.append(message)
        added.reverse()
        return added, Mark(size=0, seam="")
