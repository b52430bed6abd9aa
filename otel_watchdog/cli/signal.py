"""`otel-watchdog signal`: corrections for agents that are shell scripts, or have hooks."""

import http.client
import os
import sys
import threading
import uuid
from pathlib import Path
from typing import Annotated, Final

import orjson
import typer

from otel_watchdog.cli import hooks
from otel_watchdog.cli.hooks import Format, HookInput
from otel_watchdog.cli.safe import safe
from otel_watchdog.clock import system_clock
from otel_watchdog.errors import ConfigError, WatchdogError
from otel_watchdog.model import Correction, Mode, Tier
from otel_watchdog.transport import signal_files
from otel_watchdog.transport.feedback_api import FeedbackApi
from otel_watchdog.transport.signal_files import Signal

EXIT_NOTHING: Final = 1
"""Exit code where nothing waited, or nothing came in time."""

EXIT_BAD_INPUT: Final = 2
"""Exit code where a signal was none, or an option or folder is wrong."""

FOLDER: Final = ".otel-watchdog"
FOLDER_VARIABLE: Final = "OTEL_WATCHDOG_SIGNAL_FOLDER"
TOKEN_VARIABLE: Final = "OTEL_WATCHDOG_SERVICE_TOKEN"  # noqa: S105 - a variable's name
POLL_SECONDS: Final = 0.1
HOOK_SECONDS: Final = 2.0
"""How long a hook waits for the service: the agent waits for the hook."""

_CODES: Final = """
**Exit codes**: 0, done; 1, nothing waited, or not in time; 2, what waited was no correction and is
deleted, or an option or the folder is wrong.
"""

app = typer.Typer(
    name="signal",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Hand corrections to agents that read a file, or have hooks.",
)

Folder = Annotated[
    Path,
    typer.Option(envvar=FOLDER_VARIABLE, help="Where the watchdog's `SignalFile` channel writes."),
]
Session = Annotated[
    str | None,
    typer.Option(
        help="Whose correction, by the session's key; default: the folder's only agent.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object a correction.")]


@app.command(
    epilog=f"""
**Examples**

`text=$(otel-watchdog signal claim) && messages+=("$text")`: at the top of an agent's turn

`otel-watchdog signal claim --json --session thread-7 | jq .max_turns_override`

`otel-watchdog signal claim --format claude-code`: as a hook; the session's key comes on standard
input, nothing waiting is no failure

`otel-watchdog signal claim --service http://127.0.0.1:4318 --format codex`: from a fleet service
{_CODES}"""
)
def claim(
    *,
    folder: Folder = Path(FOLDER),
    session: Session = None,
    as_json: AsJson = False,
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="Answer as this agent's hook is to.", show_default=False),
    ] = None,
    service: Annotated[
        str | None,
        typer.Option(
            help=f"Ask the fleet service at this URL, too; its token: {TOKEN_VARIABLE}.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Take the correction that waits, and print it for the agent.

    Do this at the top of a turn, before the model is called, and add what is printed as a user
    message. It counts as given from here on.
    """
    if format_ is not None:
        _answer_hook(format_, folder, session, service)
        return
    claimed, was_bad = _claim(folder, session)
    if service is not None and session is not None:
        try:
            claimed += _ask(service, session)
        except (OSError, http.client.HTTPException, WatchdogError) as error:
            _complain(str(error))
            was_bad = True
    _show(claimed, as_json=as_json)
    if was_bad:
        raise typer.Exit(EXIT_BAD_INPUT)
    if not claimed:
        raise typer.Exit(EXIT_NOTHING)


@app.command(
    epilog=f"""
**Examples**

`otel-watchdog signal wait --timeout 30 || echo "nothing to say"`

`while text=$(otel-watchdog signal wait); do …; done`
{_CODES}"""
)
def wait(
    *,
    folder: Folder = Path(FOLDER),
    session: Session = None,
    timeout: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="Give up then.", show_default="never"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Wait until a correction is there, take it, and print it."""
    until = None if timeout is None else system_clock() + timeout
    pause = threading.Event()
    while True:
        claimed, was_bad = _claim(folder, session)
        if claimed or was_bad:
            break
        if until is not None and system_clock() >= until:
            raise typer.Exit(EXIT_NOTHING)
        pause.wait(POLL_SECONDS)
    _show(claimed, as_json=as_json)
    if was_bad:
        raise typer.Exit(EXIT_BAD_INPUT)


@app.command(
    epilog=f"""
**Examples**

`otel-watchdog signal send "Stop polling: the job has failed." --session thread-7`

`otel-watchdog signal send "Deliver what you have." --max-turns 40 --tier hard-stop`
{_CODES}"""
)
def send(
    *,
    message: Annotated[str, typer.Argument(help="What the agent is told.", show_default=False)],
    folder: Folder = Path(FOLDER),
    session: Session = None,
    tier: Annotated[
        str, typer.Option(metavar="|".join(tier.label for tier in Tier), help="How firm it is.")
    ] = Tier.NUDGE.label,
    max_turns: Annotated[
        int | None,
        typer.Option(min=1, help="Turn after which the run is to end.", show_default=False),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            min=0, metavar="SECONDS", help="How long to wait while another one is unread."
        ),
    ] = 10.0,
) -> None:
    """Tell an agent something at its next turn, as the watchdog would."""
    if tier not in {one.label for one in Tier}:
        _complain(f"--tier: {tier!r} is none of {', '.join(one.label for one in Tier)}")
        raise typer.Exit(EXIT_BAD_INPUT)
    if not message.strip():
        _complain("the message is empty")
        raise typer.Exit(EXIT_BAD_INPUT)
    signal = Signal(signal_files.clean(message), max_turns, uuid.uuid4().hex, tier)
    place = signal_files.folder_of(folder, session)
    until = system_clock() + timeout
    pause = threading.Event()
    try:
        signal_files.check(folder)
        while not signal_files.put(place, signal):
            if system_clock() >= until:
                _complain("the correction before it was not read yet")
                raise typer.Exit(EXIT_NOTHING)
            pause.wait(POLL_SECONDS)
    except (OSError, ConfigError) as error:
        _complain(str(error))
        raise typer.Exit(EXIT_BAD_INPUT) from None


def _claim(folder: Path, session: str | None) -> tuple[list[Signal], bool]:
    """Take what waits; say whether something was there that is no correction."""
    bad: list[str] = []
    try:
        signal_files.check(folder)
        place = signal_files.folder_of(folder, session)
        claimed = signal_files.claim(place, on_bad=bad.append)
    except (OSError, ConfigError) as error:
        _complain(str(error))
        raise typer.Exit(EXIT_BAD_INPUT) from None
    for what in bad:
        _complain(f"deleted: {what}")
    return claimed, bool(bad)


def _answer_hook(format_: Format, folder: Path, session: str | None, service: str | None) -> None:
    """Never fail: an agent takes a failing hook for an error of its own."""
    given = b"" if sys.stdin.isatty() else sys.stdin.buffer.read(hooks.MAX_STDIN_BYTES)
    hook = HookInput(given, format_)
    key = session or hook.session or None
    if hook.is_sub_agent:
        return
    claimed: list[Signal] = []
    try:
        claimed, _ = _claim(folder, key)
    except typer.Exit:
        key_folder = None
    else:
        key_folder = signal_files.folder_of(folder, key)
    if service is not None and key is not None:
        try:
            claimed += _ask(service, key, timeout_seconds=HOOK_SECONDS)
        except (OSError, http.client.HTTPException, WatchdogError) as error:
            _complain(str(error))
    if key_folder is not None:
        typer.echo(hooks.answer(hook, claimed, folder=key_folder, format_=format_), nl=False)


def _ask(service: str, session: str, *, timeout_seconds: float = 10.0) -> list[Signal]:
    api = FeedbackApi(service, token=os.environ.get(TOKEN_VARIABLE) or None, setting="--service")
    taken = api.take(session, timeout_seconds=timeout_seconds)
    return [_signal(correction) for correction in taken if correction.mode > Mode.OBSERVE]


def _signal(correction: Correction) -> Signal:
    return Signal(
        correction=signal_files.clean(correction.message),
        max_turns_override=correction.max_turns if correction.mode is Mode.ENFORCE else None,
        id=correction.id,
        tier=correction.tier.label,
        turn=correction.turn or None,
    )


def _show(claimed: list[Signal], *, as_json: bool) -> None:
    if as_json:
        for signal in claimed:
            typer.echo(orjson.dumps(signal._asdict()))
    elif claimed:
        typer.echo("\n\n".join(signal.correction for signal in claimed))


def _complain(what: str) -> None:
    typer.echo(safe(what, limit=1000), err=True)
