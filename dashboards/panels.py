"""What a panel of a dashboard is; `panels_<store>.py` hold those of each store.

Names come from `otel_watchdog/semconv.py`, so a panel cannot ask for what is not written.
"""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def _constants(path: str) -> ModuleType:
    """Load a file of constants without the package around it, which needs more than is here."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


semconv = _constants("otel_watchdog/semconv.py")
meters = _constants("collector/otel_watchdog_collector/meters.py")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One panel."""

    title: str
    kind: str
    """`stat`, `bars` (over time), `lines`, `ranking` (bars by name) or `table`."""
    query: str
    legend: str = ""
    unit: str = "short"
    about: str = ""
