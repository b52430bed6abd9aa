"""One watchdog for many agents: spans in over OTLP, corrections out over HTTP and OTLP."""
