"""The public names are exactly those listed, and each says what it is."""

import inspect
from types import ModuleType

import pytest

import otel_watchdog


def test_all_is_sorted_and_complete():
    """Nothing leaks out of `__init__` unlisted."""
    names = {
        name
        for name, value in vars(otel_watchdog).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }

    assert otel_watchdog.__all__ == sorted(names)


@pytest.mark.parametrize("name", otel_watchdog.__all__)
def test_each_public_class_and_function_says_what_it_does(name):
    """A public name has a docstring of its own."""
    value = getattr(otel_watchdog, name)

    assert not callable(value) or inspect.cleandoc(value.__doc__ or "")
