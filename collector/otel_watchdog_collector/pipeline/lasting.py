"""What must be the same after a restart: ids, modes, and where a correction was made."""

import dataclasses
import hashlib
from typing import NamedTuple

from otel_watchdog import semconv
from otel_watchdog.engine import Watchdog
from otel_watchdog.model import Correction, Mode
from otel_watchdog.otlp import Recorded
from otel_watchdog.spans import LogRecord
from otel_watchdog_collector.wire import Resource


class FleetWatchdog(Watchdog):
    """A watchdog whose mode is what the journal says, not what the environment says now."""

    current: Mode = Mode.OBSERVE

    @property
    def mode(self) -> Mode:
        """What may be done, as of the entry that is judged."""
        return self.current


class Place(NamedTuple):
    """Where a correction was made, until it is known what came of it."""

    id: str
    """What the agent knows the correction by."""
    session: str
    judged: Recorded
    """The span or log record that completed the pattern, with no more than is needed beside it."""
    resource: Resource


def lasting_id(tenant: str, correction: Correction, judged: Recorded) -> str:
    """Return an id for a correction that the same spans give again."""
    place = repr(judged.start) if isinstance(judged, LogRecord) else f"{judged.span_id:x}"
    facts = (tenant, correction.session, correction.run, str(correction.n), place)
    return hashlib.blake2b("\0".join(facts).encode(), digest_size=16).hexdigest()


def renamed(correction: Correction, id_: str) -> Correction:
    """Return a correction under another id."""
    return dataclasses.replace(correction, id=id_)


def light(span: Recorded) -> Recorded:
    """Return a span or log record with no more than what is needed to write beside it."""
    kept = {key: span.attributes[key] for key in semconv.COPIED if key in span.attributes}
    if isinstance(span, LogRecord):
        return dataclasses.replace(span, attributes=kept, body=None)
    return dataclasses.replace(span, attributes=kept, events=(), status_text="")
