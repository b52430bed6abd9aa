"""Calls back in forked children, without keeping anybody alive for it."""

import os
import weakref
from collections.abc import Callable


def renew_in_child(method: Callable[[], None]) -> None:
    """Have a bound method called in each forked child, as long as its object lives.

    Where processes are not forked, nothing happens.

    Args:
        method: Takes no argument.
    """
    if not hasattr(os, "register_at_fork"):
        return
    renew = weakref.WeakMethod(method)

    def after_in_child() -> None:
        found = renew()
        if found is not None:
            found()

    os.register_at_fork(after_in_child=after_in_child)
