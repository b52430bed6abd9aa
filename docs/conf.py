"""The documentation site: Markdown pages, and the API from its docstrings. Builds offline."""

from importlib import metadata

from sphinx.application import Sphinx

project = "otel-watchdog"
author = "The otel-watchdog authors"
copyright = "2026, The otel-watchdog authors"
release = metadata.version("otel-watchdog")

extensions = ["myst_parser", "sphinx.ext.apidoc", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "api/modules/modules.rst"]
default_role = "code"
nitpick_ignore_regex = [
    ("py:.*", r"(?!otel_watchdog\b).*"),  # other projects' names: no look-up
    ("py:.*", r".*\._\w+"),  # private names have no page
]

myst_heading_anchors = 3

# A name is described where it is defined; a package that re-exports it does not repeat it.
autodoc_default_options = {"ignore-module-all": True}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_mock_imports = [  # frameworks that adapters import, each an extra
    "agent_framework",
    "agents",
    "agno",
    "autogen_core",
    "claude_agent_sdk",
    "crewai",
    "dspy",
    "google.adk",
    "google.genai",
    "haystack",
    "langchain",
    "langchain_core",
    "langgraph",
    "llama_index",
    "smolagents",
    "strands",
]

apidoc_modules = [
    {
        "path": "../otel_watchdog",
        "destination": "api/modules",
        "separate_modules": True,
        "module_first": True,
    }
]

html_theme = "furo"
html_title = "otel-watchdog"
html_copy_source = False
html_show_sourcelink = False


def setup(app: Sphinx) -> None:
    """Let the docstrings of attributes be: napoleon takes what stands before a colon for a type."""
    app.connect("autodoc-process-docstring", _hide_colons, priority=400)
    app.connect("autodoc-process-docstring", _show_colons, priority=600)


def _hide_colons(
    _app: Sphinx, what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    if what in {"attribute", "data", "property"}:
        lines[:] = [line.replace(":", "\0") for line in lines]


def _show_colons(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    lines[:] = [line.replace("\0", ":") for line in lines]
