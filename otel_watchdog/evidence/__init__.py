"""What tells progress from its absence: masks, effects, failures, likeness, the ledger.

`otel_watchdog.progress` puts them together, one tracker a run; a detector reads what that offers.
"""
