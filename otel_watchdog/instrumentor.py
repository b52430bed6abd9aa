"""Watches a program that was not changed: `opentelemetry-instrument python app.py`."""

import dataclasses
import logging
import os
from typing import Any, ClassVar, Final

from otel_watchdog.config import WatchdogConfig
from otel_watchdog.installation import install
from otel_watchdog.model import Mode
from otel_watchdog.processor import WatchdogSpanProcessor

CONFIG_FILE_VARIABLE: Final = "OTEL_CONFIG_FILE"
"""Names OpenTelemetry's own declarative configuration."""

LAUNCHER_OPTION: Final = "skip_dep_check"
"""What the launcher passes on, and a declarative configuration does not."""

Settings = dataclasses.make_dataclass(
    "Settings",
    [(name, Any, dataclasses.field(default=None)) for name in WatchdogConfig.model_fields],
    frozen=True,
)
"""The settings of `WatchdogConfig`, as a declarative configuration names them."""

_logger = logging.getLogger(__name__)


class WatchdogInstrumentor:
    """The entry point `otel_watchdog` of `opentelemetry_instrumentor`.

    Settings come from `OTEL_WATCHDOG_*` variables, or from the entry
    `instrumentation/development: python: otel_watchdog:` of a declarative configuration. The mode
    is `observe` unless one of them says more: that a package is installed is nobody's consent.
    `OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=otel_watchdog` turns it off.

    Where `OTEL_CONFIG_FILE` is set, only what stands there counts: an entry that is missing,
    misspelt, or `enabled: false` watches nothing. It never raises, as that would end the loading
    of everybody else's instrumentation.
    """

    configuration: ClassVar[type[Any]] = Settings

    _watchdog: ClassVar[WatchdogSpanProcessor | None] = None

    @property
    def is_instrumented_by_opentelemetry(self) -> bool:
        """Whether it was done already."""
        return self._watchdog is not None and not self._watchdog.is_closed

    def instrument(self, **options: Any) -> None:
        """Add a watchdog to the global tracer provider, once.

        Args:
            **options: Settings by name; what launchers pass to every instrumentor is left aside.
        """
        from_launcher = options.pop(LAUNCHER_OPTION, None) is not None
        if self.is_instrumented_by_opentelemetry:
            return
        if from_launcher and os.environ.get(CONFIG_FILE_VARIABLE):
            return
        try:
            config = WatchdogConfig.load(**options)
            if "mode" not in config.model_fields_set:
                config = config.model_copy(update={"mode": Mode.OBSERVE})
            type(self)._watchdog = install(config=config)  # noqa: SLF001 - its own class
        except Exception as error:  # noqa: BLE001 - see the class
            _logger.error("not watching: %s", error)  # noqa: TRY400 - the message says it all

    def uninstrument(self, **_: Any) -> None:
        """Stop watching."""
        watchdog, type(self)._watchdog = self._watchdog, None  # noqa: SLF001 - its own class
        if watchdog is not None:
            watchdog.shutdown()
