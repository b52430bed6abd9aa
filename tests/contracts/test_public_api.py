"""The public names are exactly those listed, and each says what it is."""

import inspect
import subprocess
import sys

import pytest

import otel_watchdog


def test_all_is_sorted_and_complete():
    """Each public name is listed once, and is there when it is asked for."""
    names = otel_watchdog.__all__

    assert names == sorted(set(names))
    assert set(names) <= set(dir(otel_watchdog))
    assert all(getattr(otel_watchdog, name) is not None for name in names)
    with pytest.raises(AttributeError, match="no attribute 'detect'"):
        _ = otel_watchdog.detect


@pytest.mark.parametrize("statement", ["import otel_watchdog", "import otel_watchdog.cli.signal"])
def test_what_a_hook_needs_is_imported_alone(statement):
    """A coding agent calls its hook for every call of a tool, and waits for it."""
    heavy = {"opentelemetry", "pydantic", "otel_watchdog.engine", "otel_watchdog.detectors"}
    program = f"import sys; {statement}; print(*sys.modules)"

    shown = subprocess.run(  # noqa: S603 - a program of ours
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert heavy.isdisjoint(shown.stdout.split())


@pytest.mark.parametrize("name", otel_watchdog.__all__)
def test_each_public_class_and_function_says_what_it_does(name):
    """A public name has a docstring of its own."""
    value = getattr(otel_watchdog, name)

    assert not callable(value) or inspect.cleandoc(value.__doc__ or "")
