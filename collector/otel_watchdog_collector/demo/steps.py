"""What a scripted agent may do in a turn."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """It calls a tool."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """It says something, and calls nothing."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Its model's provider refuses it."""

    error: str


Step: TypeAlias = Call | Say | Refused

Script: TypeAlias = Generator[Step, str | None, None]
"""Yields steps; is sent what the watchdog said since the last, or `None`."""

NewScript: TypeAlias = Callable[[], Script]
