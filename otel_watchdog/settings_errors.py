"""Says what is wrong with a setting: where it stands, what was given and what is allowed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from otel_watchdog import settings_file
from otel_watchdog.errors import ConfigError
from otel_watchdog.judge_settings import JudgeSettings
from otel_watchdog.rules import AgentRule, Category, ToolRule

Lines = Mapping[tuple[str, ...], int]

_SECTIONS: Final[Mapping[str, type[BaseModel]]] = {
    "tools": ToolRule,
    "agents": AgentRule,
    "categories": Category,
    "judge": JudgeSettings,
}


def place(path: Path | str | None, lines: Lines, at: Sequence[str]) -> str:
    """Return the file and line of a setting, to open a message with; "" without a file."""
    if path is None:
        return ""
    line = settings_file.line_of(lines, at)
    return f"{path}: line {line}: " if line is not None else f"{path}: "


def check_written(name: str, value: object, known: Mapping[str, FieldInfo], where: str) -> None:
    """Refuse a number, or a flag, that was written as a text: in a file, types are known.

    Raises:
        ConfigError: It was.
    """
    field = known.get(name)
    if field is not None and isinstance(value, str) and field.annotation in {int, float, bool}:
        what = "true or false" if field.annotation is bool else "a number"
        raise ConfigError(f"{where}{name}: must be {what}, got {value!r}")


def explain(
    error: ValidationError,
    known: Mapping[str, Any],
    path: Path | str | None,
    lines: Lines,
    in_file: set[str],
) -> str:
    """Return one line about the first thing that is wrong.

    Args:
        error: What was raised.
        known: All settings.
        path: The file that was read.
        lines: Of its settings.
        in_file: Settings whose value came from there.
    """
    first = error.errors(include_url=False)[0]
    at = [str(part) for part in first["loc"]]
    name = ".".join(at)
    where = place(path, lines, at) if not at or at[0] in in_file else ""
    if first["type"] == "extra_forbidden":
        names = [*known] if len(at) == 1 else [*_SECTIONS[at[0]].model_fields]
        return f"{where}{name} is no setting; {settings_file.allowed(at[-1], names)}"
    said = first["msg"].removeprefix("Value error, ")
    if not at:
        return f"{where}{said}"
    return f"{where}{name}: {said[0].lower()}{said[1:]}, got {first['input']!r}"
