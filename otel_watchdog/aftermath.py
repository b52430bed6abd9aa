"""What is to be told of the engine's decisions once no lock is held."""

from collections import deque
from collections.abc import Callable
from typing import Final

from otel_watchdog.model import Finding, Observation, Outcome, Suppressed
from otel_watchdog.policies import Audited
from otel_watchdog.questions import Approval
from otel_watchdog.telemetry import Telemetry

MAX_WAITING: Final = 1024
"""Facts that wait to be told; the oldest is dropped first."""


class Aftermath:
    """Keeps findings, outcomes and suppressed findings, and tells of them in order.

    Args:
        on_outcome: Called with each outcome, after its span was written.
        on_suppressed: Called with each suppressed finding, after it was counted.
    """

    def __init__(
        self,
        on_outcome: Callable[[Outcome], None] | None = None,
        on_suppressed: Callable[[Suppressed], None] | None = None,
    ) -> None:
        self.waiting: deque[Finding | Outcome | Suppressed | Approval] = deque(maxlen=MAX_WAITING)
        self._on_outcome = on_outcome
        self._on_suppressed = on_suppressed

    def find(self, finding: Finding, _: Observation) -> None:
        """Keep a finding."""
        self.waiting.append(finding)

    def conclude(self, outcome: Outcome) -> None:
        """Keep an outcome."""
        self.waiting.append(outcome)

    def suppress(self, suppressed: Suppressed) -> None:
        """Keep a suppressed finding."""
        self.waiting.append(suppressed)

    def listen(self, policy: object) -> None:
        """Have a policy that puts questions to a person tell of them."""
        if isinstance(policy, Audited):
            policy.audit(self.approve)

    def approve(self, approval: Approval) -> None:
        """Keep a step of a question to a person."""
        self.waiting.append(approval)

    def tell(self, telemetry: Telemetry | None) -> None:
        """Tell of all that waits; hold no lock, for exporters and listeners take their time.

        Args:
            telemetry: Where to; `None`: to the listeners alone.
        """
        while self.waiting:
            try:
                fact = self.waiting.popleft()
            except IndexError:  # another thread was faster
                return
            if telemetry is not None:
                telemetry.record(fact)
            if isinstance(fact, Outcome) and self._on_outcome is not None:
                self._on_outcome(fact)
            elif isinstance(fact, Suppressed) and self._on_suppressed is not None:
                self._on_suppressed(fact)
