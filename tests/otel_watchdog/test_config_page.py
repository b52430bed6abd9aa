"""The page about settings says what the settings are."""

import re
import types
import typing
from enum import Enum
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from otel_watchdog import Watchdog, WatchdogConfig
from otel_watchdog.judge_settings import JudgeSettings
from otel_watchdog.rules import AgentRule, Category, ToolRule

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
TABLES = {
    "## Every setting": WatchdogConfig,
    "### Under `categories`": Category,
    "### Under `judge`": JudgeSettings,
    "### Under `tools`": ToolRule,
    "### Under `agents`": AgentRule,
}
WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def allowed(field):  # noqa: PLR0911 - one for each kind
    """Say what a setting may be."""
    kind = field.annotation
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return "a mapping"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(f"`{one.name.lower()}`" for one in kind)
    if typing.get_origin(kind) is typing.Literal:
        return ", ".join(f"`{word}`" for word in typing.get_args(kind))
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        kinds = [one for one in typing.get_args(kind) if one is not type(None)]
        if len(kinds) > 1:
            return "a name, or a name and a mapping of options"
        if typing.get_origin(kinds[0]) is typing.Annotated:
            return f"{WORDS[int]}, 0 to 10,000"
        kind = kinds[0]
    if typing.get_origin(kind) is dict:
        return "a mapping"
    if typing.get_origin(kind) is tuple:
        return "a list of texts"
    said = WORDS[kind]
    if field.metadata:
        bounds = {type(one).__name__: one for one in field.metadata}
        low = bounds["Ge"].ge if "Ge" in bounds else bounds["Gt"].gt if "Gt" in bounds else 0
        above = "above " if "Gt" in bounds else ""
        high = bounds["Le"].le if "Le" in bounds else 10_000
        said = f"{said}, {above}{low:,} to {high:,}"
    return said


def default(field):
    """Say what holds where nothing is set."""
    if field.default is PydanticUndefined or field.default in ((), None):
        return "none"
    value = field.default
    if isinstance(value, Enum):
        return f"`{value.name.lower()}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def rows(model):
    """Return the rows of the table of settings."""
    return [
        f"| `{name}` | {default(field)} | {allowed(field)} | {' '.join(field.description.split())} |"
        for name, field in model.model_fields.items()
    ]


@pytest.mark.parametrize("title", TABLES)
def test_each_setting_has_its_row(title):
    """With default, bounds and meaning, as the code has them."""
    section = PAGE.read_text("utf-8").split(title, 1)[1].split("\n## ")[0].split("\n### ")[0]

    found = [line for line in section.splitlines() if line.startswith("| `")]

    assert found == rows(TABLES[title])


def test_the_worked_example_loads(tmp_path):
    """And makes a watchdog: each detector, policy, option and pattern in it exists."""
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    file = tmp_path / "watchdog.yaml"
    file.write_text(text)

    config = WatchdogConfig.load(file)
    names = {detector.name for detector in Watchdog(config=config).outfit.detectors}

    assert set(yaml.safe_load(text)) <= set(WatchdogConfig.model_fields)
    assert "repeated_command" in names
    assert "known_lines" not in names
    assert config.rules().floor("api-authz-1", "authorization") == 25


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    for title, model in TABLES.items():
        before, after = page.split(title, 1)
        head = "| setting | default | allowed | means |\n|---|---|---|---|\n"
        start, rest = after.split(head, 1)
        rest = re.sub(r"\A(?:\| `.*\n)*", "", rest)
        page = before + title + start + head + "\n".join(rows(model)) + "\n" + rest
    PAGE.write_text(page, "utf-8")
