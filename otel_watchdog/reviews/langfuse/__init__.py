"""Langfuse beyond spans: scores, correction texts, datasets and stored traces.

    pip install 'otel-watchdog[langfuse]'

Correction spans reach Langfuse without it. Nothing here is on the agent's path: what talks to
Langfuse does so on a thread of its own or in a command, and Langfuse's absence changes nothing for
the agent. Works with the `langfuse` package from version 4 on.
"""

from otel_watchdog.reviews.langfuse.client import client
from otel_watchdog.reviews.langfuse.datasets import Label, export_corrections, labels
from otel_watchdog.reviews.langfuse.prompts import LangfusePrompts, push_prompts
from otel_watchdog.reviews.langfuse.scores import LangfuseScores
from otel_watchdog.reviews.langfuse.traces import stored_trace

__all__ = [
    "Label",
    "LangfusePrompts",
    "LangfuseScores",
    "client",
    "export_corrections",
    "labels",
    "push_prompts",
    "stored_trace",
]
