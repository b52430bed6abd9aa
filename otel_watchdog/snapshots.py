"""The state of a watchdog and its sessions as bytes, so that it goes on after a restart.

Read back is only what these bytes may hold: plain values and the watchdog's own classes. Whoever
can write them can still make the watchdog believe anything, so keep them where the settings are.
"""

import io
import pickle
from collections.abc import Collection
from enum import Enum
from typing import Any, Final

from otel_watchdog.engine import Watchdog
from otel_watchdog.errors import InputError
from otel_watchdog.sessions import Sessions
from otel_watchdog.version import VERSION

_FORMAT: Final = 2
_PLAIN: Final = frozenset({("collections", "OrderedDict"), ("collections", "deque")})


def freeze(watchdog: Watchdog, sessions: Sessions, beside: object = None) -> bytes:
    """Return all that is known of the sessions; spans that are open now are left out.

    Args:
        watchdog: Whose evidence, ladders and pending corrections.
        sessions: Whose turns and runs.
        beside: Kept along; what it shares with the others stays shared.
    """
    residence = sessions._residence  # noqa: SLF001 - written and read back in this place alone
    state = {
        "format": (_FORMAT, VERSION),
        "engine": watchdog._sessions,  # noqa: SLF001
        "runs": residence._runs,  # noqa: SLF001
        "sessions": residence._sessions,  # noqa: SLF001
        "beside": beside,
    }
    return pickle.dumps(state, protocol=5)


def thaw(
    body: bytes, watchdog: Watchdog, sessions: Sessions, *, modules: Collection[str] = ()
) -> Any:
    """Put back what `freeze` returned; return what was kept along.

    Args:
        body: The bytes.
        watchdog: A new one, with the settings of the old.
        sessions: New ones.
        modules: Where other classes than this package's may come from.

    Raises:
        InputError: The bytes are damaged, of another version, or hold what they may not.
    """
    own = [watchdog.outfit.policy, *watchdog.outfit.detectors]
    plugins = {type(plugin).__module__ for plugin in own}
    try:
        state = _Reader(io.BytesIO(body), plugins.union(modules)).load()
        found = state["format"]
        engine, runs, known = state["engine"], state["runs"], state["sessions"]
        beside = state["beside"]
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - damaged bytes may raise anything
        raise InputError(
            f"a snapshot that cannot be read, damaged or of an earlier version: {error!r}"
        ) from None
    if found != (_FORMAT, VERSION):
        raise InputError(f"a snapshot of {found!r}, this is {(_FORMAT, VERSION)!r}")
    watchdog._sessions.update(engine)  # noqa: SLF001
    watchdog._teams.add(memory.progress.team for memory in engine.values())  # noqa: SLF001
    sessions._residence.restore(runs, known)  # noqa: SLF001
    return beside


class _Reader(pickle.Unpickler):
    """Makes nothing but plain values and instances of known classes."""

    def __init__(self, file: io.BytesIO, modules: Collection[str]) -> None:
        super().__init__(file)
        self._modules = modules

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Return a class that is allowed.

        Early releases of Python 3.11 write a member of an enum as a `getattr` of its class; that
        is read as what it is for, and as nothing else.

        Raises:
            InputError: It is another, or no class.
        """
        if (module_name, global_name) == ("builtins", "getattr"):
            return _member
        own = module_name.startswith("otel_watchdog.") or module_name in self._modules
        if (own and "." not in global_name) or (module_name, global_name) in _PLAIN:
            found = super().find_class(module_name, global_name)
            if isinstance(found, type):
                return found
        raise InputError(f"a snapshot that asks for {module_name}.{global_name}")


def _member(enum: object, name: object) -> Any:
    """Return an enum's member.

    Raises:
        InputError: It is no enum, or has no such member.
    """
    if isinstance(enum, type) and issubclass(enum, Enum) and name in enum.__members__:
        return enum.__members__[str(name)]
    raise InputError(f"a snapshot that asks for {name!r} of {enum!r}")
