"""From spans in any order to runs, turns and calls; `otel_watchdog.sessions` puts them together."""
