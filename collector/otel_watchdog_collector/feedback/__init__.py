"""Corrections on their way to the agents: one-shot, by long poll, or as a stream of events."""

from otel_watchdog_collector.feedback.app import PREFIX, FeedbackApp
from otel_watchdog_collector.feedback.hub import Hub, TooManyWaiting

__all__ = ["PREFIX", "FeedbackApp", "Hub", "TooManyWaiting"]
