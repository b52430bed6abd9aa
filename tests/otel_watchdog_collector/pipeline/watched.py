"""A tenant for the tests, with what came of it."""

from otel_watchdog.model import Correction, Mode, Outcome
from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.facts import Kind
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline import Tenant
from otel_watchdog_collector.wire import Limits, decode

NOW = 1_790_000_000.0


class Watched:
    """A tenant, and the corrections that it made."""

    def __init__(self, mode=Mode.FEEDBACK, **settings):
        self.facts: list[Correction | Outcome] = []
        self.meters = Meters()
        self.tenant = Tenant(
            "t",
            CollectorConfig(mode=mode, watchdog=settings).library(),
            expiry_seconds=600.0,
            meters=self.meters,
            publish=lambda _, fact, __, ___: self.facts.append(fact),
        )

    def take(self, made, at=NOW):
        """Take in a trace request."""
        body = made.SerializeToString()
        self.tenant.take(decode(Kind.TRACES_PROTOBUF, body, Limits()), at)
        return self

    @property
    def made(self):
        """What was corrected: session, turn, tier, id."""
        made = [fact for fact in self.facts if isinstance(fact, Correction)]
        return [(one.session, one.turn, one.tier.label, one.id) for one in made]

    @property
    def outcomes(self):
        """What came of them: id, turn, outcome."""
        told = [fact for fact in self.facts if isinstance(fact, Outcome)]
        return [(one.correction.id, one.turn, one.outcome.value) for one in told]
