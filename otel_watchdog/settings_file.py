"""A YAML file of settings, with the line of each key, so that an error can point at it."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from otel_watchdog.errors import ConfigError

MAX_DEPTH: Final = 20
"""Levels of nesting that a file may have."""

Lines = dict[tuple[str, ...], int]
"""Lines, counted from 1, by the path of keys."""


def read(path: Path) -> tuple[dict[str, Any], Lines]:
    """Return a file's settings, and the line of each.

    Args:
        path: The file.

    Raises:
        ConfigError: It cannot be read, is no mapping, or gives a key twice.
    """
    import yaml  # noqa: PLC0415 - a MiB, and milliseconds, for those who have no file

    try:
        text = path.read_text("utf-8")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML settings: {error}") from None
    if value is None:
        return {}, {}
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: must be a mapping of settings, got {type(value).__name__}")
    lines: Lines = {}
    _walk(path, node, (), lines)
    return {str(name): item for name, item in value.items()}, lines


def _walk(path: Path, node: Any, at: tuple[str, ...], lines: Lines) -> None:
    if len(at) > MAX_DEPTH:
        raise ConfigError(f"{path}: line {node.start_mark.line + 1}: nested too deeply")
    if getattr(node, "id", None) == "mapping":
        for key, value in node.value:
            here = (*at, str(key.value))
            if here in lines:
                raise ConfigError(
                    f"{path}: line {key.start_mark.line + 1}: {'.'.join(here)} is given twice, "
                    f"first in line {lines[here]}"
                )
            lines[here] = key.start_mark.line + 1
            _walk(path, value, here, lines)
    elif getattr(node, "id", None) == "sequence":
        for index, item in enumerate(node.value):
            lines[(*at, str(index))] = item.start_mark.line + 1
            _walk(path, item, (*at, str(index)), lines)


def line_of(lines: Mapping[tuple[str, ...], int], at: Sequence[str]) -> int | None:
    """Return the line of a setting, or of what it stands in; `None` if it is not in the file."""
    for length in range(len(at), 0, -1):
        line = lines.get(tuple(at[:length]))
        if line is not None:
            return line
    return None


def allowed(name: str, names: Sequence[str]) -> str:
    """Say what would have been allowed, and what was probably meant.

    >>> allowed("treshold", ["threshold", "window"])
    'allowed: threshold, window; did you mean threshold?'
    """
    near = get_close_matches(name, names, n=1)
    said = f"allowed: {', '.join(sorted(names))}"
    return f"{said}; did you mean {near[0]}?" if near else said
