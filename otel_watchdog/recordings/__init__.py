"""Recorded traces as spans and runs, whatever form their file has: told by content, read in parts.

Layers: `source` (bytes, packed or not) → `documents` (which form) → `json_stream`,
`otlp_protobuf`, `observation_lines`; `window` puts spans in the order of time.
"""

from otel_watchdog.recordings.documents import read
from otel_watchdog.recordings.observation_lines import RecordedRun, observations_of
from otel_watchdog.recordings.source import Source, open_source
from otel_watchdog.recordings.window import Window

__all__ = ["RecordedRun", "Source", "Window", "observations_of", "open_source", "read"]
