"""Does to an agent's process what healing asks for: by a command, or by a signed webhook."""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import logging
import os
import signal
import uuid
from typing import TYPE_CHECKING, Final

import orjson

from otel_watchdog_collector.clock import WallClock
from otel_watchdog_collector.fleet.healer import Action
from otel_watchdog_collector.fleet_config import ActionConfig

if TYPE_CHECKING:
    import httpx

KILL_SECONDS: Final = 2.0
"""Seconds that a command has to end after SIGTERM, before SIGKILL."""

KEY_PREFIX: Final = "whsec_"
"""Opens a key that is given in base64."""

_logger = logging.getLogger(__name__)


class Actor:
    """Runs actions, each within its time limit; what they print or answer is not read.

    Args:
        clock: Time of day, for signatures.
        transport: For tests; default: the network.
    """

    def __init__(
        self, clock: WallClock, transport: "httpx.AsyncBaseTransport | None" = None
    ) -> None:
        self._clock = clock
        self._transport = transport

    async def run(self, action: Action, service: str, agent: str, how: ActionConfig) -> bool:
        """Do it; return whether it was done.

        Args:
            action: What.
            service: The agent's service.
            agent: Its name.
            how: The command or webhook.
        """
        try:
            async with asyncio.timeout(how.timeout_seconds + KILL_SECONDS * 2):
                if how.webhook is not None:
                    return await self._post(action, service, agent, how)
                return await _execute(action, service, agent, how)
        except (OSError, TimeoutError, ValueError) as error:
            return _failed(action, error)

    async def _post(self, action: Action, service: str, agent: str, how: ActionConfig) -> bool:
        import httpx  # noqa: PLC0415 - MiB that a service without webhooks does not need

        body = orjson.dumps(
            {
                "type": f"agent.{action.kind}",
                "timestamp": self._clock(),
                "data": {
                    "action": action.kind,
                    "id": action.agent,
                    "service": service,
                    "agent": agent,
                    "reason": action.reason,
                },
            }
        )
        headers = signed(body, how.secret or "", f"msg_{uuid.uuid4().hex}", int(self._clock()))
        try:
            async with (
                asyncio.timeout(how.timeout_seconds),
                httpx.AsyncClient(
                    timeout=how.timeout_seconds, follow_redirects=False, transport=self._transport
                ) as client,
            ):
                answer = await client.post(str(how.webhook), content=body, headers=headers)
        except httpx.HTTPError as error:
            return _failed(action, error)
        if not answer.is_success:
            _logger.warning(
                "%s of %r was answered with HTTP %d",
                action.kind,
                action.agent,
                answer.status_code,
            )
        return answer.is_success


def _failed(action: Action, error: Exception) -> bool:
    _logger.warning("%s of %r failed: %s", action.kind, action.agent, type(error).__name__)
    return False


def signed(body: bytes, secret: str, id_: str, at: int) -> dict[str, str]:
    """Return the headers of a webhook as Standard Webhooks signs them.

    Args:
        body: What is sent.
        secret: The key; after `whsec_`, in base64.
        id_: Of the message; whoever sees it twice should act once.
        at: When, in seconds since the epoch; whoever gets an old one should refuse it.
    """
    content = f"{id_}.{at}.".encode() + body
    digest = hmac.new(_key(secret), content, hashlib.sha256).digest()
    return {
        "content-type": "application/json",
        "webhook-id": id_,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def _key(secret: str) -> bytes:
    if secret.startswith(KEY_PREFIX):
        return base64.b64decode(secret.removeprefix(KEY_PREFIX))
    return secret.encode()


async def _execute(action: Action, service: str, agent: str, how: ActionConfig) -> bool:
    """Run the command in a group of its own, so that all of it can be ended."""
    process = await asyncio.create_subprocess_exec(
        *how.command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        env={
            **os.environ,
            "OTEL_WATCHDOG_ACTION": action.kind,
            "OTEL_WATCHDOG_AGENT": _plain(agent),
            "OTEL_WATCHDOG_SERVICE": _plain(service),
            "OTEL_WATCHDOG_REASON": _plain(action.reason),
        },
    )
    try:
        async with asyncio.timeout(how.timeout_seconds):
            code = await process.wait()
    except (TimeoutError, asyncio.CancelledError):
        await _end(process)
        raise
    if code != 0:
        _logger.warning("%s of %r ended with code %d", action.kind, action.agent, code)
    return code == 0


async def _end(process: asyncio.subprocess.Process) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KILL_SECONDS):
                await process.wait()
                return


def _plain(text: str) -> str:
    """Return text that can stand in a variable."""
    return text.replace("\0", "\ufffd")[:1024]
