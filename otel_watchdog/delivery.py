"""What all adapters do alike, so that each is only what is peculiar to its framework.

At each turn's start: find the session, count the turn, lease what waits, put it before the model;
then acknowledge it once the model call has gone out, or give it back. Past its cap a run halts::

    delivery = Delivery()
    turn = delivery.begin("run 1", agent="fixer")  # None of this raises but `check`
    turn.check()
    with turn:
        model(messages + [user(text) for text in turn.texts()])
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from opentelemetry import trace

from otel_watchdog.errors import AgentHalted
from otel_watchdog.model import MARKER, REFUSAL, Correction
from otel_watchdog.processor import WatchdogSpanProcessor, current

MAX_RUNS: Final = 1024
"""Runs whose turns are counted; the one that was silent longest is dropped first."""

_Message = TypeVar("_Message")
_Halt = TypeVar("_Halt", bound=AgentHalted)


class Standing(Protocol):
    """Says whether a text already stands where the model will read it next."""

    def __call__(self, text: str, /) -> bool:
        """Return whether `text` needs not be put there."""
        ...


class _Kept:
    """A correction that the framework forgets after each request, and where it belongs."""

    __slots__ = ("before", "correction", "index")

    def __init__(self, index: int, before: Any, correction: Correction) -> None:
        self.index = index
        self.before = before
        """The message that it follows: elsewhere it must not stand."""
        self.correction = correction


class _Run:
    """What is known of one run of an agent."""

    __slots__ = ("kept", "open", "put", "turn", "withdrawn")

    def __init__(self) -> None:
        self.turn = 0
        self.put: set[str] = set()
        """Ids of corrections that its history holds."""
        self.kept: list[_Kept] = []
        self.open: Turn | None = None
        """The turn whose model call has not ended yet."""
        self.withdrawn: frozenset[str] = frozenset()


class Turn:
    """One model call that is about to go out: what to put before it, and whether it may.

    As a context it surrounds the call: what was leased is acknowledged if the call succeeds and
    given back if it raises. Where the framework has no such place, call `acknowledge` or `release`.
    """

    def __init__(
        self,
        number: int,
        run: _Run,
        watchdog: WatchdogSpanProcessor | None = None,
        *,
        cap: Correction | None = None,
        leased: tuple[Correction, ...] = (),
    ) -> None:
        self.number = number
        """Counts from 1 in the run."""
        self._run = run
        self._watchdog = watchdog
        self._cap = cap
        self._leased = leased

    @property
    def withdrawn(self) -> frozenset[str]:
        """Tools to hide or refuse: none, but where `withdraw_tools` is set and a cap binds."""
        return self._run.withdrawn

    @property
    def halt(self) -> AgentHalted | None:
        """Why this call may not go out; `None`: it may."""
        return self._halt(AgentHalted)

    def check(self, kind: type[AgentHalted] = AgentHalted) -> None:
        """End the run where its turn cap is passed.

        Args:
            kind: What to raise: the framework's own kind of error, if it has one.

        Raises:
            AgentHalted: This turn is past the cap.
        """
        halt = self._halt(kind)
        if halt is not None:
            raise halt

    def texts(self, standing: Standing | None = None) -> list[str]:
        """Return what to add at the end of a history that the framework keeps.

        Args:
            standing: Says what already stands there, left by a call that failed.
        """
        found = []
        for correction in self._leased:
            known = correction.id in self._run.put
            self._run.put.add(correction.id)
            if not known and not (standing is not None and standing(correction.message)):
                found.append(correction.message)
        return found

    def places(self, messages: Sequence[Any]) -> list[tuple[int, str]]:
        """Return what to put into a history that the framework does not keep, and where.

        Args:
            messages: The history as the framework has it, without anything of ours.

        Returns:
            Texts and how many of `messages` come before each; the same at each turn of the run. A
            text whose place is gone, because the history was rewritten, is left out.
        """
        run, end = self._run, len(messages)
        run.kept += [_Kept(end, messages[-1] if end else None, c) for c in self._leased]
        run.kept = [
            kept
            for kept in run.kept
            if kept.index <= end
            and (kept.index == 0 or _same(messages[kept.index - 1], kept.before))
        ]
        return [(kept.index, kept.correction.message) for kept in run.kept]

    def woven(self, messages: Sequence[_Message], make: Callable[[str], _Message]) -> list[Any]:
        """Return `messages` with what `places` says put in as messages of their own.

        Args:
            messages: The history as the framework has it.
            make: Makes a user message of a text.
        """
        found: list[Any] = list(messages)
        for shift, (index, text) in enumerate(self.places(messages)):
            found.insert(index + shift, make(text))
        return found

    def acknowledge(self) -> None:
        """Say that the call has gone out with what was leased; the second time, nothing."""
        leased, self._leased = self._leased, ()
        self._settled()
        if self._watchdog is not None and leased:
            self._watchdog.mailbox.acknowledge(leased)

    def release(self) -> None:
        """Give back what was leased: the call did not go out, or nobody knows."""
        leased, self._leased = self._leased, ()
        self._settled()
        if self._watchdog is not None and leased:
            run = self._run
            run.kept = [kept for kept in run.kept if kept.correction not in leased]
            self._watchdog.mailbox.release(leased)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.acknowledge()
        else:
            self.release()

    def _settled(self) -> None:
        if self._run.open is self:
            self._run.open = None

    def _halt(self, kind: type[_Halt]) -> _Halt | None:
        cap = self._cap
        if cap is None:
            return None
        return kind(cap.finding.reason, correction_id=cap.id, turn=self.number)


class Delivery:
    """Hands an adapter what waits for its agents; safe in threads.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process, when it is asked.
        withdraw_tools: Whether the tool that an agent loops on is taken away from it once a turn
            cap binds (hard-stop, in mode `enforce`).
    """

    def __init__(
        self, watchdog: WatchdogSpanProcessor | None = None, *, withdraw_tools: bool = False
    ) -> None:
        self._watchdog = watchdog
        self._withdraw_tools = withdraw_tools
        self._runs: OrderedDict[Hashable, _Run] = OrderedDict()
        self._lock = Lock()

    def begin(
        self,
        run: Hashable,
        *,
        number: int | None = None,
        conversation: str | None = None,
        agent: str | None = None,
        span: trace.Span | None = None,
    ) -> Turn:
        """Begin a turn; raises nothing.

        The session is found by `conversation` where it was seen, else by the span. Where it is
        not certain, nothing is delivered: a correction in the wrong conversation is worse than
        none.

        Args:
            run: What tells this run from all others; must not be used again by a later one.
            number: Which turn of the run it is, from 1; default: counted here.
            conversation: Its id, where the framework has one.
            agent: The agent's name.
            span: An open span that the agent works in; default: the current one.
        """
        state = self._state(run)
        state.turn = number if number is not None else state.turn + 1
        if state.open is not None:
            state.open.acknowledge()  # the model has answered: there is another turn
        watchdog = self._watchdog or current()
        if watchdog is None:
            return Turn(state.turn, state)
        try:
            return self._begin(watchdog, state, conversation, agent, span)
        except Exception as error:  # noqa: BLE001 - an adapter calls this from the program
            watchdog.fail("delivery", error)
            return Turn(state.turn, state)

    def settle(self, run: Hashable, *, sent: bool = True) -> None:
        """End the model call of a run's turn, where no context can surround it.

        Args:
            run: As given to `begin`.
            sent: Whether the call went out.
        """
        with self._lock:
            state = self._runs.get(run)
        if state is None or state.open is None:
            return
        if sent:
            state.open.acknowledge()
        else:
            state.open.release()

    def refusal(self, run: Hashable, tool: str) -> str | None:
        """Return the result of a call to a tool that was withdrawn; `None`: let it run."""
        with self._lock:
            state = self._runs.get(run)
        return refusal_of(tool) if state is not None and tool in state.withdrawn else None

    def _begin(
        self,
        watchdog: WatchdogSpanProcessor,
        state: _Run,
        conversation: str | None,
        agent: str | None,
        span: trace.Span | None,
    ) -> Turn:
        session = watchdog.find_session(conversation, agent) if conversation else None
        if session is None:
            session = watchdog.find_session_around(span or trace.get_current_span(), agent)
        if session is None:
            return Turn(state.turn, state)
        mailbox = watchdog.mailbox
        mailbox.catch_up(session)  # a cap may be among what comes
        cap = mailbox.cap(session)
        state.withdrawn = frozenset()
        if cap is not None and cap.max_turns is not None and state.turn > 1:
            if state.turn > cap.max_turns:
                return Turn(state.turn, state, watchdog, cap=cap)
            if self._withdraw_tools:
                state.withdrawn = _tools(cap)
        turn = Turn(state.turn, state, watchdog, leased=mailbox.lease(session))
        state.open = turn
        return turn

    def _state(self, run: Hashable) -> _Run:
        with self._lock:
            state = self._runs.get(run)
            if state is None:
                state = self._runs[run] = _Run()
                if len(self._runs) > MAX_RUNS:
                    self._runs.popitem(last=False)
            self._runs.move_to_end(run)
            return state


def refusal_of(tool: str) -> str:
    """Return what a withdrawn tool answers.

    >>> refusal_of("ls")
    'Refused by the watchdog: ls is not available for the rest of this run.'
    """
    return f"{REFUSAL} {tool} is not available for the rest of this run."


def is_ours(text: object) -> bool:
    """Say whether a message's text is one that was put there by an adapter.

    >>> is_ours("[watchdog] stop"), is_ours("go on"), is_ours(None)
    (True, False, False)
    """
    return isinstance(text, str) and text.startswith(MARKER)


def _tools(cap: Correction) -> frozenset[str]:
    tools = (finding.evidence.get("tool") for finding in cap.findings)
    return frozenset(tool for tool in tools if isinstance(tool, str))


def _same(one: Any, other: Any) -> bool:
    try:
        return one is other or bool(one == other)
    except Exception:  # noqa: BLE001 - a framework's message may compare as it likes
        return False
