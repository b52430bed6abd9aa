"""Keeps the current span, and so the run, where a program hands work to threads."""

import contextvars
import functools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def carry(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return `function` as it would run here and now, for another thread to call.

    Without it, spans begun in `Thread`, `ThreadPoolExecutor` or `run_in_executor` are traces of
    their own, and their tool calls nobody's. `asyncio.to_thread` and tasks carry by themselves.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> run = contextvars.ContextVar("run", default="none")
    >>> token = run.set("r1")
    >>> with ThreadPoolExecutor() as pool:
    ...     (
    ...         list(pool.map(lambda _: run.get(), [1])),
    ...         list(pool.map(carry(lambda _: run.get()), [1])),
    ...     )
    (['none'], ['r1'])

    Args:
        function: May be called by several threads at once.
    """
    here = contextvars.copy_context()

    @functools.wraps(function)
    def carried(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        # A context can be entered by one thread at a time.
        return here.copy().run(function, *args, **kwargs)

    return carried


class ContextExecutor(ThreadPoolExecutor):
    """A thread pool whose work runs in the context of who handed it in, also by `map`.

    >>> run = contextvars.ContextVar("run")
    >>> token = run.set("r1")
    >>> with ContextExecutor(max_workers=1) as pool:
    ...     pool.submit(run.get).result()
    'r1'
    """

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """See `ThreadPoolExecutor.submit`."""
        return super().submit(carry(fn), *args, **kwargs)
