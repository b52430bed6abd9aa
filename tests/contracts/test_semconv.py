"""Names of attributes, spans, events and metrics are spelled in one place.

What one instrumentation alone writes stands in `instrumentations`, all else in `semconv`.
"""

import ast
import re
from pathlib import Path

import pytest

from otel_watchdog import semconv

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in ("otel_watchdog", "collector/otel_watchdog_collector")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.name not in {"semconv.py", "instrumentations.py"}
]
SPELLED = [
    value
    for name, value in vars(semconv).items()
    if name.isupper() and isinstance(value, str) and "." in value
]
NAME = re.compile(r"(gen_ai|watchdog|llm|openinference|traceloop|langfuse)\.[a-z_.]+")
SCOPE = re.compile(r"\w+\.instrumentation\b.*")


def strings(path):
    """Return every string literal of a module."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_stand_only_in_semconv(path):
    """A second spelling is a bug waiting; import the constant."""
    second_spellings = [
        text
        for text in strings(path)
        if text in SPELLED or (NAME.fullmatch(text) and not SCOPE.fullmatch(text))
    ]

    assert second_spellings == []


def test_each_name_stands_once_in_semconv():
    """Two constants of one value would drift apart."""
    assert sorted(SPELLED) == sorted(set(SPELLED))
