"""One line to watch all agents of a process."""

import inspect
import logging
from threading import Lock
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from otel_watchdog import sampling
from otel_watchdog.errors import ConfigError
from otel_watchdog.processor import WatchdogSpanProcessor

_MARK: Final = "_otel_watchdog"
"""Attribute of a provider that has a watchdog. Not every provider can be a dictionary's key."""

_KEEPS_OTHERS: Final = "replace_default_processor"
"""Phoenix: without it, the first processor that is added replaces the exporter."""

_logger = logging.getLogger(__name__)
_lock = Lock()


def install(provider: trace.TracerProvider | None = None, **options: Any) -> WatchdogSpanProcessor:
    """Add a watchdog to a tracer provider, once; a second call returns the first one's.

    Call it after the set-up call of your tracing. Where that is called again and makes a new
    provider, or the provider was shut down, call it again, too.

    >>> from opentelemetry.sdk.trace import TracerProvider
    >>> provider = TracerProvider()
    >>> install(provider) is install(provider)
    True

    Args:
        provider: Default: the global one; where there is none yet, one is made and set.
        **options: As for `WatchdogSpanProcessor`.

    Raises:
        ConfigError: The tracer provider takes no span processors, or a setting is wrong.
    """
    with _lock:
        provider = provider if provider is not None else _global_provider()
        add = getattr(provider, "add_span_processor", None)
        if add is None:
            raise ConfigError(
                f"the tracer provider is a {type(provider).__name__}, which takes no span "
                "processors; pass an opentelemetry.sdk.trace.TracerProvider to install()"
            )
        there = getattr(provider, _MARK, None)
        if isinstance(there, WatchdogSpanProcessor) and not there.is_closed:
            return there
        processor = WatchdogSpanProcessor(**options)
        if _KEEPS_OTHERS in inspect.signature(add).parameters:
            add(processor, **{_KEEPS_OTHERS: False})
        else:
            add(processor)
        setattr(provider, _MARK, processor)
    lossy = sampling.lost_by(provider)
    if lossy is not None:
        _logger.warning(
            "the tracer provider samples by %s: what is not sampled is not watched; give it "
            "otel_watchdog.sampling.RecordAll(…) around its sampler",
            lossy,
        )
    return processor


def _global_provider() -> trace.TracerProvider:
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
        _logger.info("there was no tracer provider, so one was made; it exports nothing")
    return provider
