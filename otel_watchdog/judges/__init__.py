"""The models that may be asked whether an agent still progresses, one a file."""

from otel_watchdog.judges.base import Case, Judge, Ruling, Verdict
from otel_watchdog.judges.pydantic_ai import PydanticAI

__all__ = ["BUILT_IN", "Case", "Judge", "PydanticAI", "Ruling", "Verdict"]

BUILT_IN: tuple[type[Judge], ...] = (PydanticAI,)
