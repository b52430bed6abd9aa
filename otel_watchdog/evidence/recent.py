"""The last few of many, in a list: an empty one takes a tenth of the memory of a deque."""

from typing import TypeVar

_T = TypeVar("_T")


def add(recent: list[_T], one: _T, limit: int) -> None:
    """Put one in as the newest; the oldest goes where there are too many.

    >>> last = [1, 2]
    >>> add(last, 3, limit=2)
    >>> last
    [2, 3]

    Args:
        recent: Where to, oldest first.
        one: What.
        limit: How many are kept, at most a few dozen: dropping the oldest moves all others.
    """
    recent.append(one)
    if len(recent) > limit:
        del recent[0]
