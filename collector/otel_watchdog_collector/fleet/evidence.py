"""What is known of one agent, gathered sign by sign."""

from dataclasses import dataclass
from typing import Final

from otel_watchdog_collector.health import Beat, Report, Sign, SignKind

MAX_TEXT_CHARS: Final = 300


_NOTHING: Final = Report()


@dataclass(slots=True, kw_only=True)
class Evidence:
    """What spans, heartbeats and reports said of an agent. Times are seconds since the epoch."""

    last_span_at: float | None = None
    last_beat_at: float | None = None
    last_work_at: float | None = None
    """When a model or tool call last ended well."""
    last_answer_at: float | None = None
    """When its model provider last took its credential."""
    started_at: float | None = None
    """When its process was last launched, by its heartbeats and our restarts."""
    beat: Beat | None = None
    """The last heartbeat."""
    stopped: bool = False
    """Whether it said goodbye, and was not heard of since."""
    refused: int = 0
    """Model calls in a row that were refused for the credential."""
    failed: int = 0
    """Model calls in a row that failed at the provider."""
    error: str = ""
    """What the provider said last, redacted."""
    provider: str | None = None
    report: Report = _NOTHING

    @property
    def last_seen_at(self) -> float | None:
        """When it was last heard of."""
        span_at, beat_at = self.last_span_at, self.last_beat_at
        if span_at is None or beat_at is None:
            return beat_at if span_at is None else span_at
        return max(span_at, beat_at)

    @property
    def launched_at(self) -> float | None:
        """When its process was last launched, as it says itself or as is reported."""
        own, reported = self.started_at, self.report.started_at
        if own is None or reported is None:
            return reported if own is None else own
        return max(own, reported)

    @property
    def queued(self) -> int | None:
        """Work that waits for it: what it says itself, else what is reported."""
        own = self.beat.queued if self.beat is not None else None
        return own if own is not None else self.report.queued

    @property
    def idle_reason(self) -> str | None:
        """Why it rightly does nothing, as it says itself or as is reported."""
        own = self.beat.idle_reason if self.beat is not None else None
        return own or self.report.idle_reason

    def take(self, sign: Sign, at: float) -> None:
        """Take in a sign.

        Args:
            sign: It.
            at: When it came.
        """
        self.provider = sign.provider or self.provider
        if sign.kind is SignKind.HEARTBEAT:
            self._hear(sign.beat or Beat(), at)
            return
        self.last_span_at = at
        self.stopped = False
        if sign.kind is SignKind.WORK:
            self.last_work_at = at
        elif sign.kind is SignKind.ANSWER:
            self.last_work_at = self.last_answer_at = at
            self.refused = self.failed = 0
            self.error = ""
        elif sign.kind is SignKind.REFUSED:
            self.refused += 1
            self.failed = 0
            self.error = sign.text[:MAX_TEXT_CHARS]
        elif sign.kind is SignKind.FAILED:
            # An outage neither proves nor disproves a credential: the streak stays as it is.
            self.failed += 1
            self.error = sign.text[:MAX_TEXT_CHARS]

    def idle_seconds(self, now: float) -> float | None:
        """Return for how long no span of it began or ended; `None`: nobody knows."""
        known = []
        if self.last_span_at is not None:
            known.append(now - self.last_span_at)
        if self.beat is not None and self.last_beat_at is not None:
            since = now - self.last_beat_at
            if self.beat.idle_seconds is not None:
                known.append(since + self.beat.idle_seconds)
        return min(known) if known else None

    def _hear(self, beat: Beat, at: float) -> None:
        if beat.uptime_seconds is not None:
            self.started_at = at - beat.uptime_seconds
        self.beat = beat
        self.last_beat_at = at
        self.stopped = beat.stopping
