"""The state of a watchdog and its sessions as bytes, so that it goes on after a restart.

Written and read piece by piece: the sessions of one team, then those of the next. Read back is only
what these bytes may hold: plain values and the watchdog's own classes. Whoever can write them can
still make the watchdog believe anything, so keep them where the settings are.
"""

import io
import pickle
from collections.abc import Collection, Mapping
from enum import Enum
from typing import Any, Final

from otel_watchdog.engine import Watchdog
from otel_watchdog.errors import InputError
from otel_watchdog.memory import Memory
from otel_watchdog.sessions import Sessions
from otel_watchdog.version import VERSION

_FORMAT: Final = 3
_PLAIN: Final = frozenset({("collections", "OrderedDict"), ("collections", "deque")})


def freeze(watchdog: Watchdog, sessions: Sessions, beside: object = None) -> bytes:
    """Return all that is known of the sessions; spans that are open now are left out.

    Args:
        watchdog: Whose evidence, ladders and pending corrections.
        sessions: Whose turns and runs.
        beside: Kept along, in a piece of its own.
    """
    file = io.BytesIO()
    write(file, watchdog, sessions, beside)
    return file.getvalue()


def write(
    file: io.BufferedIOBase, watchdog: Watchdog, sessions: Sessions, beside: object = None
) -> None:
    """Write what `freeze` returns; beside it, this takes no more memory than a team's sessions.

    Args:
        file: Where to.
        watchdog: As above.
        sessions: As above.
        beside: As above.
    """
    residence = sessions._residence  # noqa: SLF001 - written and read back in this place alone
    known = watchdog._sessions  # noqa: SLF001
    teams = _teams(known)
    head = {"format": (_FORMAT, VERSION), "order": list(known), "teams": len(teams)}
    rest = {
        "runs": residence._runs,  # noqa: SLF001
        "sessions": residence._sessions,  # noqa: SLF001
        "beside": beside,
    }
    for piece in (head, *teams, rest):
        pickle.dump(piece, file, protocol=5)


def _teams(known: Mapping[str, Memory]) -> Collection[Mapping[str, Memory]]:
    """Return the sessions of each team, which see each other; one of no team is alone."""
    teams: dict[int, dict[str, Memory]] = {}
    for key, memory in known.items():
        teams.setdefault(id(memory.progress.team or memory), {})[key] = memory
    return teams.values()


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
    return read(io.BytesIO(body), watchdog, sessions, modules=modules)


def read(
    file: io.BufferedIOBase,
    watchdog: Watchdog,
    sessions: Sessions,
    *,
    modules: Collection[str] = (),
) -> Any:
    """Put back what `write` wrote; see `thaw`.

    Args:
        file: Where from; all of it is read before anything is put back.
        watchdog: As above.
        sessions: As above.
        modules: As above.

    Raises:
        InputError: As above.
    """
    own = [watchdog.outfit.policy, *watchdog.outfit.detectors]
    plugins = {type(plugin).__module__ for plugin in own}
    allowed = plugins.union(modules)
    known: dict[str, Memory] = {}
    try:
        head = _Reader(file, allowed).load()
        _check(head["format"])
        for _ in range(head["teams"]):
            known.update(_Reader(file, allowed).load())
        engine = {key: known[key] for key in head["order"]}
        rest = _Reader(file, allowed).load()
        runs, residents, beside = rest["runs"], rest["sessions"], rest["beside"]
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - damaged bytes may raise anything
        raise InputError(
            f"a snapshot that cannot be read, damaged or of an earlier version: {error!r}"
        ) from None
    watchdog._sessions.update(engine)  # noqa: SLF001
    watchdog._teams.add(memory.progress.team for memory in engine.values())  # noqa: SLF001
    sessions._residence.restore(runs, residents)  # noqa: SLF001
    return beside


def _check(found: object) -> None:
    """Raise what a snapshot of another version is refused with."""
    if found != (_FORMAT, VERSION):
        raise InputError(f"a snapshot of {found!r}, this is {(_FORMAT, VERSION)!r}")


class _Reader(pickle.Unpickler):
    """Makes nothing but plain values and instances of known classes."""

    def __init__(self, file: io.BufferedIOBase, modules: Collection[str]) -> None:
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
