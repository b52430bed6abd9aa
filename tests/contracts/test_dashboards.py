"""Dashboards and alert rules ask only for what is written, and can be imported anywhere."""

import json
import re
from pathlib import Path

import pytest
import yaml

from otel_watchdog import semconv
from otel_watchdog_collector.config import load
from otel_watchdog_collector.service import Service

ROOT = Path(__file__).parents[2] / "dashboards"
GRAFANA = sorted((ROOT / "grafana").glob("*.json"))
WORDS = {"sum", "by", "increase", "rate", "topk", "count", "histogram_quantile", "and", "or"}
WORDS |= {"unless", "offset", "le", "m", "min_over_time"}


def names(prefix):
    """Return our constants whose names start so, as Prometheus has them."""
    return {
        value.replace(".", "_")
        for name, value in vars(semconv).items()
        if name.startswith(prefix) and isinstance(value, str)
    }


def of_service():
    """Return the metrics of the fleet service, as it writes them."""
    service = Service(load(None, {"store": "memory:"}))
    return set(re.findall(r"^# TYPE (\w+)", service.meters.render(), re.MULTILINE))


ENDS = ("", "_total", "_bucket", "_seconds_bucket")
METRICS = {f"{name}{end}" for name in names("METRIC_") for end in ENDS} | of_service()
LABELS = names("WATCHDOG_") | names("GEN_AI_AGENT_") | names("CODE_")


def panels(path):
    """Return a dashboard's panels, rows left out."""
    board = json.loads(path.read_text("utf-8"))
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def expressions():
    """Return every PromQL expression: of panels and of alert rules."""
    board = panels(ROOT / "grafana" / "otel-watchdog-prometheus.json")
    found = [target["expr"] for panel in board for target in panel["targets"]]
    rules = yaml.safe_load((ROOT / "prometheus" / "alerts.yml").read_text("utf-8"))
    return found + [rule["expr"] for group in rules["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("expression", expressions())
def test_each_metric_and_label_is_one_of_ours(expression):
    """What is not written can never be shown."""
    bare = re.sub(r'"[^"]*"|\$__\w+|\[\w+\]', "", expression)

    asked = set(re.findall(r"[a-z]\w+", bare)) - WORDS

    assert asked <= METRICS | LABELS
    assert asked & METRICS


@pytest.mark.parametrize("path", GRAFANA, ids=lambda path: path.stem)
def test_a_dashboard_can_be_imported_anywhere(path):
    """Its data source is a variable, and its panels have ids of their own."""
    board = json.loads(path.read_text("utf-8"))

    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    assert [one["type"] for one in board["templating"]["list"]] == ["datasource"]
    assert "__inputs" not in board
    assert {panel["datasource"]["uid"] for panel in panels(path)} == {"${datasource}"}
    assert board["uid"] == path.stem


@pytest.mark.parametrize("store", ["clickhouse", "tempo"])
def test_spans_are_asked_for_by_names_that_are_written(store):
    """Attributes in SQL and TraceQL are ours, and the scope is."""
    text = (ROOT / "grafana" / f"otel-watchdog-{store}.json").read_text("utf-8")

    asked = set(re.findall(r"SpanAttributes\['([\w.]+)'\]|span\.([\w.]+)", text))
    known = {value for value in vars(semconv).values() if isinstance(value, str)}
    assert {one or other for one, other in asked} <= known
    assert semconv.SCOPE in text


def test_langfuse_widgets_ask_for_scores_that_are_written():
    """The names stand in the documentation of `LangfuseScores`."""
    source = (ROOT.parent / "otel_watchdog" / "reviews" / "langfuse" / "scores.py").read_text(
        "utf-8"
    )
    board = json.loads((ROOT / "langfuse" / "otel-watchdog.json").read_text("utf-8"))

    asked: dict[bool, set[str]] = {True: set(), False: set()}
    for widget in board["widgets"]:
        is_of_spans = widget["body"]["view"] == "observations"
        asked[is_of_spans] |= {
            given["value"] for given in widget["body"]["filters"] if given["operator"] == "="
        }

    assert asked[True] == {semconv.DRIFT_CHECK}
    assert {name.removesuffix("-observed") for name in asked[False]} - {
        "watchdog.false_alarm"
    } <= set(re.findall(r"`(watchdog\.\w+)`", source))
    keys = [widget["key"] for widget in board["widgets"]]
    assert len(keys) == len(set(keys))
