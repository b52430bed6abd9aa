"""Asks model providers whether they take the fleet's credential."""

import asyncio
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from otel_watchdog_collector.fleet_config import ProbeConfig
from otel_watchdog_collector.health import Probe

if TYPE_CHECKING:
    import httpx

_REFUSALS: Final = frozenset({401, 403})


class Prober:
    """Asks each provider once, all at the same time; no answer's body is read.

    Args:
        probes: How, by provider.
        transport: For tests; default: the network.
    """

    def __init__(
        self,
        probes: Mapping[str, ProbeConfig],
        transport: "httpx.AsyncBaseTransport | None" = None,
    ) -> None:
        self._probes = probes
        self._transport = transport

    async def ask(self, providers: Collection[str]) -> dict[str, Probe]:
        """Return what those of these providers say that can be asked."""
        asked = [name for name in self._probes if name in providers]
        answers = await asyncio.gather(*(self._ask(self._probes[name]) for name in asked))
        return dict(zip(asked, answers, strict=True))

    async def _ask(self, how: ProbeConfig) -> Probe:
        import httpx  # noqa: PLC0415 - MiB that a service without probes does not need

        try:
            async with (
                asyncio.timeout(how.timeout_seconds),
                httpx.AsyncClient(
                    timeout=how.timeout_seconds, follow_redirects=False, transport=self._transport
                ) as client,
                client.stream("GET", how.url, headers=how.headers) as answer,
            ):
                status = answer.status_code
        except (OSError, TimeoutError, ValueError, httpx.HTTPError) as error:
            return Probe(None, f"the provider could not be asked: {type(error).__name__}")
        if status in _REFUSALS:
            return Probe(ok=False, message=f"the provider refused the credential: HTTP {status}")
        is_good = 200 <= status < 300  # noqa: PLR2004 - HTTP
        return Probe(ok=True if is_good else None, message=f"the provider answered HTTP {status}")
