"""What an exporter is told, in the type it spoke in."""

from typing import Final

import orjson
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_watchdog_collector.facts import Kind
from otel_watchdog_collector.receivers.door import Refused, Taken

CODES: Final = {
    400: 3,  # INVALID_ARGUMENT
    401: 16,  # UNAUTHENTICATED
    403: 7,  # PERMISSION_DENIED
    404: 5,  # NOT_FOUND
    405: 12,  # UNIMPLEMENTED
    413: 8,  # RESOURCE_EXHAUSTED; without RetryInfo it means: do not send again
    415: 3,
    429: 14,  # UNAVAILABLE: RESOURCE_EXHAUSTED would make some exporters drop the batch
    500: 13,  # INTERNAL
    503: 14,
}
"""gRPC's codes, by HTTP's."""


def accepted(kind: Kind, taken: Taken, *, as_json: bool) -> bytes:
    """Return the answer to a request that was taken in; partial success where it was in part."""
    what = "rejectedSpans" if kind.is_traces else "rejectedLogRecords"
    if as_json:
        if not taken.rejected:
            return b"{}"
        partial = {what: str(taken.rejected), "errorMessage": taken.reason}
        return orjson.dumps({"partialSuccess": partial})
    if kind.is_traces:
        traces = ExportTraceServiceResponse()
        if taken.rejected:
            traces.partial_success.rejected_spans = taken.rejected
            traces.partial_success.error_message = taken.reason
        return traces.SerializeToString()
    logs = ExportLogsServiceResponse()
    if taken.rejected:
        logs.partial_success.rejected_log_records = taken.rejected
        logs.partial_success.error_message = taken.reason
    return logs.SerializeToString()


def refused(refusal: Refused, retry_after_seconds: int, *, as_json: bool = False) -> bytes:
    """Return a `google.rpc.Status`; with `RetryInfo` where the request may be sent again."""
    code = CODES.get(refusal.status, 13)
    if as_json:
        return orjson.dumps({"code": code, "message": str(refusal)})
    status = Status(code=code, message=str(refusal))
    if refusal.retry:
        status.details.add().Pack(RetryInfo(retry_delay=Duration(seconds=retry_after_seconds)))
    return bytes(status.SerializeToString())
