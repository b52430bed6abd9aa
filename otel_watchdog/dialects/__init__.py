"""The built-in dialects, one a file."""

from otel_watchdog.dialects.base import Dialect, ReadsLogs, Switch, switches_of
from otel_watchdog.dialects.claude_code import ClaudeCode
from otel_watchdog.dialects.codex import Codex
from otel_watchdog.dialects.gemini_cli import GeminiCLI
from otel_watchdog.dialects.gen_ai import GenAI
from otel_watchdog.dialects.google_adk import GoogleADK
from otel_watchdog.dialects.haystack import Haystack
from otel_watchdog.dialects.langfuse_sdk import LangfuseSDK
from otel_watchdog.dialects.langsmith import LangSmith
from otel_watchdog.dialects.litellm import LiteLLM
from otel_watchdog.dialects.logfire import Logfire
from otel_watchdog.dialects.mlflow import Mlflow
from otel_watchdog.dialects.model_span import ModelSpan
from otel_watchdog.dialects.openinference import OpenInference
from otel_watchdog.dialects.openllmetry import OpenLLMetry
from otel_watchdog.dialects.strands import Strands
from otel_watchdog.dialects.vercel_ai import VercelAI

__all__ = [
    "BUILT_IN",
    "ClaudeCode",
    "Codex",
    "Dialect",
    "GeminiCLI",
    "GenAI",
    "GoogleADK",
    "Haystack",
    "LangSmith",
    "LangfuseSDK",
    "LiteLLM",
    "Logfire",
    "Mlflow",
    "ModelSpan",
    "OpenInference",
    "OpenLLMetry",
    "ReadsLogs",
    "Strands",
    "Switch",
    "VercelAI",
    "switches_of",
]

BUILT_IN: tuple[type[Dialect], ...] = (
    OpenInference,
    Mlflow,
    LangfuseSDK,
    LangSmith,
    LiteLLM,
    OpenLLMetry,
    VercelAI,
    Strands,
    Haystack,
    Logfire,
    GoogleADK,
    GeminiCLI,
    ClaudeCode,
    Codex,
    GenAI,
    ModelSpan,
)
"""In the order they are asked: where a span speaks several, the first that reads it wins."""
