"""The Langfuse client of a command: made from the environment, its failures in one sentence."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from otel_watchdog.errors import ConfigError, InputError

_KEYS: Final = ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")


def client() -> Any:
    """Return a Langfuse client that reads and writes through the API and traces nothing.

    Raises:
        ConfigError: The package is not installed, or the environment has no keys.
    """
    try:
        from langfuse import Langfuse  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigError(
            "langfuse is not installed: pip install 'otel-watchdog[langfuse]'"
        ) from None
    missing = [name for name in _KEYS if not os.environ.get(name)]
    if missing:
        raise ConfigError(f"{' and '.join(missing)} must be set, as for Langfuse's own SDK")
    return Langfuse(tracing_enabled=False)


@contextmanager
def told(what: str) -> Iterator[None]:
    """Say in one sentence what Langfuse answered, where it is not what was asked for.

    Args:
        what: What was asked for.

    Raises:
        InputError: Langfuse refused, or could not be reached.
    """
    import httpx  # noqa: PLC0415 - comes with the extra
    from langfuse.api.core import ApiError  # noqa: PLC0415 - an extra

    try:
        yield
    except ApiError as error:
        raise InputError(f"{what}: Langfuse answered {error.status_code}") from None
    except httpx.HTTPError as error:
        why = str(error) or type(error).__name__
        raise InputError(f"{what}: Langfuse cannot be reached: {why}") from None
