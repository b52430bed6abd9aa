"""Keeps a plug-in's failures from the engine's caller, and says when one has failed too often."""

from collections.abc import Callable
from typing import Final

MAX_PLUGIN_ERRORS: Final = 3
"""Errors of one detector after which it is switched off."""

ErrorListener = Callable[[str, Exception], None]
"""Called with the name of a plug-in that raised, and what it raised."""


class Guard:
    """Counts what plug-ins raise.

    Args:
        on_error: Told of each failure; `None`: what was raised comes through.
    """

    def __init__(self, on_error: ErrorListener | None) -> None:
        self._on_error = on_error
        self._errors: dict[str, int] = {}

    def catch(self, name: str, error: Exception, switch_off: Callable[[str], None]) -> None:
        """Count a failure of `name` and tell of it.

        Args:
            name: The plug-in's name.
            error: What it raised.
            switch_off: Called with the name where it has failed too often.

        Raises:
            Exception: `error`, where nobody listens.
        """
        if self._on_error is None:
            raise error
        count = self._errors[name] = self._errors.get(name, 0) + 1
        if count >= MAX_PLUGIN_ERRORS:
            switch_off(name)
        self._on_error(name, error)
