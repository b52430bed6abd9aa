"""OTLP/gRPC: the second door, for exporters whose default it is."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc
import grpc.aio

from otel_watchdog_collector.facts import Kind
from otel_watchdog_collector.receivers import answers
from otel_watchdog_collector.receivers.door import Door, Refused

_SERVICES: Final = {
    "opentelemetry.proto.collector.trace.v1.TraceService": Kind.TRACES_PROTOBUF,
    "opentelemetry.proto.collector.logs.v1.LogsService": Kind.LOGS_PROTOBUF,
}
_STATUS_DETAILS: Final = "grpc-status-details-bin"
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}


class GrpcReceiver:
    """Serves `TraceService` and `LogsService`.

    Args:
        door: Lets requests in.
        max_message_bytes: Bytes of one message after decompression, which gRPC sees to.
    """

    def __init__(self, door: Door, *, max_message_bytes: int) -> None:
        self._door = door
        self._server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", max_message_bytes),
                ("grpc.so_reuseport", 0),
            ]
        )
        for service, kind in _SERVICES.items():
            handler = grpc.unary_unary_rpc_method_handler(self._export(kind))
            self._server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(service, {"Export": handler}),)
            )

    async def start(self, address: str, *, tls: tuple[bytes, bytes] | None = None) -> int:
        """Listen; return the port.

        Args:
            address: `host:port`; port 0: any free one.
            tls: The key and the certificate, as PEM.

        Raises:
            RuntimeError: The address cannot be had.
        """
        if tls is None:
            port = self._server.add_insecure_port(address)
        else:
            port = self._server.add_secure_port(address, grpc.ssl_server_credentials([tls]))
        await self._server.start()
        return int(port)

    async def stop(self, seconds: float) -> None:
        """Let calls end, and listen no more."""
        await self._server.stop(seconds)

    def _export(self, kind: Kind) -> Callable[[bytes, Any], Awaitable[bytes]]:
        async def export(body: bytes, context: Any) -> bytes:
            try:
                return await self._take(kind, body, context)
            except Refused as refusal:
                details = answers.refused(refusal, self._door.retry_after_seconds)
                context.set_trailing_metadata(((_STATUS_DETAILS, details),))
                code = _CODES[answers.CODES.get(refusal.status, 13)]
                await context.abort(code, str(refusal))
                raise

        return export

    async def _take(self, kind: Kind, body: bytes, context: Any) -> bytes:
        metadata = dict(context.invocation_metadata() or ())
        peer = context.peer().rpartition(":")[0]
        client = self._door.admit(metadata.get("authorization"), peer)
        self._door.reserve(len(body))
        try:
            taken = await self._door.take(client, kind, body, gzipped=False)
        finally:
            self._door.free(len(body))
        return answers.accepted(kind, taken, as_json=False)
