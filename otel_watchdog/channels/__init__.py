"""The built-in channels, one a file."""

from otel_watchdog.channels.base import Channel
from otel_watchdog.channels.http_stream import HttpStream
from otel_watchdog.channels.in_process import InProcess
from otel_watchdog.channels.signal_file import SignalFile
from otel_watchdog.channels.webhook import Webhook

__all__ = ["BUILT_IN", "Channel", "HttpStream", "InProcess", "SignalFile", "Webhook"]

BUILT_IN: tuple[type[Channel], ...] = (InProcess, SignalFile, HttpStream, Webhook)
