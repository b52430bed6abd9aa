"""What a correction tells, and what it hides."""

import pytest

from otel_watchdog import (
    RepeatedToolCall,
    Severity,
)
from tests.otel_watchdog.engine_cases import KEY, Always, call, watch


@pytest.mark.parametrize("redact", [True, False])
def test_secrets_stand_nowhere_in_a_correction(redact):
    """Reason, guidance, evidence and message are cleaned, and what listeners are told."""
    told = []
    watchdog = watch(
        Always(text=KEY),
        Always("other", Severity.WARN, KEY),
        on_finding=lambda found, _: told.append(found),
        redact=redact,
    )

    correction = watchdog.observe(call(1))

    assert (KEY in repr(correction)) is not redact
    assert (KEY in repr(told)) is not redact
    assert correction.finding.evidence["count"] == 3


@pytest.mark.parametrize("filler", [0, 50, 90, 100, 150, 170, 185, 195, 250])
def test_a_cut_hides_no_secret_from_redaction(filler):
    """Long arguments are shortened for the message; what remains of a secret is still none."""
    arguments = f'{{"note":"{"x" * filler}","password":"{"Tr0ub4dor" * 12}","z":"{"y" * 150}"}}'
    watchdog = watch(RepeatedToolCall(threshold=2))
    watchdog.observe(call(1, arguments=arguments))

    correction = watchdog.observe(call(2, arguments=arguments))

    assert "Tr0ub4dor" not in repr(correction)
