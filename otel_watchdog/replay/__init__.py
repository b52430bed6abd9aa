"""Recorded traces in, findings and corrections out: the watchdog's rules on what has happened.

    for run in replay.read("trace.json"):
        print(run.id, [found.finding.reason for found in run.findings])

A recording in observation lines holds one run an object; each is yielded as it is read. A
recording in OTLP is one `ReplayedRun`, whatever sessions are in it, named after its file.

`ReplayedRun.as_json` gives the shape that `otel-watchdog replay --json` prints, one object a run.
It is public: keys are added, never changed or taken away.

- `id`: the run's own; for OTLP, the file's name without folders and suffixes.
- `sessions`: a list of `{id, agent, runs, turns, calls}`, the last three as counts.
- `observations`, only if asked for: in order, `{kind, turn, agent, session, call_id, name,
  arguments, result, outcome}`; `kind` is `run_started`, `model_turn`, `tool_call`, `tool_result`,
  `user_message` or `run_ended`; `arguments` is JSON text; `result` also holds the text of a model
  turn and of a user message.
- `findings`: `{event, turn, session, detector, kind, severity, reason, held}`; `held` says why it
  led to no correction of its own.
- `corrections`: `{event, turn, n, tier, detector, kind, message, max_turns}`.
- `outcomes`: `{event, turn, n, outcome, turns_to_heed, response}`, `n` being the correction's.
- `drift_checks`, only if a judge was asked: `{event, turn, session, verdict, confidence, reason,
  cost_usd}`.
- `blind`: `{session: {detector: reason}}`, what detectors lacked; a session in which none lacked
  anything is left out.

`event` is the index from 0 of the input event, or of the span in the file, that completed a
pattern. What does not apply or is not known is `null`. A session's id is its conversation's where
the trace gives one; agents that share a conversation have their name after it.

No agent takes corrections in a replay, so each counts as given at the next turn of its session:
the ladder climbs as it would have done live.
"""

from otel_watchdog.replay.judge import read
from otel_watchdog.replay.report import (
    Checked,
    Concluded,
    Corrected,
    Found,
    Observed,
    ReplayedRun,
    SessionSummary,
)

__all__ = [
    "Checked",
    "Concluded",
    "Corrected",
    "Found",
    "Observed",
    "ReplayedRun",
    "SessionSummary",
    "read",
]
