"""Writes the dashboards and alert rules: `make dashboards`.

Needs `grafana-foundation-sdk`, which stands in `requirements/backends/dashboards.txt`.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.builders import (
    bargauge,
    dashboard,
    prometheus,
    stat,
    table,
    tempo,
    timeseries,
)
from grafana_foundation_sdk.cog import builder as cog, encoder, variants
from grafana_foundation_sdk.models import (
    common as common_models,
    dashboard as models,
)

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import langfuse_widgets  # noqa: E402 - beside this script
from panels import Panel  # noqa: E402
from panels_clickhouse import CLICKHOUSE  # noqa: E402
from panels_prometheus import PROMETHEUS  # noqa: E402
from panels_tempo import TEMPO  # noqa: E402

WIDTHS = {"stat": 6, "bars": 12, "lines": 12, "ranking": 12, "table": 12}
HEIGHTS = {"stat": 4}
HEIGHT = 8


class _Clickhouse(variants.Dataquery):
    """A query of Grafana's ClickHouse plug-in, which the SDK does not have."""

    def __init__(self, sql: str) -> None:
        self._sql = sql

    def to_json(self) -> dict[str, Any]:
        return {
            "datasource": {"type": "grafana-clickhouse-datasource", "uid": "${datasource}"},
            "editorType": "sql",
            "format": 1,
            "queryType": "table",
            "rawSql": self._sql,
            "refId": "A",
        }


class _ClickhouseBuilder(cog.Builder[variants.Dataquery]):
    def __init__(self, sql: str) -> None:
        self._sql = sql

    def build(self) -> variants.Dataquery:
        return _Clickhouse(self._sql)


def _prometheus(panel: Panel) -> Any:
    query = prometheus.Dataquery().expr(panel.query).legend_format(panel.legend).ref_id("A")
    if panel.kind in ("stat", "ranking", "table"):
        query = query.instant()
    return query.format("table") if panel.kind == "table" else query


def _tempo(panel: Panel) -> Any:
    return tempo.TempoQuery().query(panel.query).query_type("traceql").ref_id("A")


STORES: dict[str, tuple[str, str, dict[str, list[Panel]], Any]] = {
    "prometheus": ("prometheus", "", PROMETHEUS, _prometheus),
    "clickhouse": (
        "grafana-clickhouse-datasource",
        " (ClickHouse)",
        CLICKHOUSE,
        lambda panel: _ClickhouseBuilder(panel.query),
    ),
    "tempo": ("tempo", " (Tempo)", TEMPO, _tempo),
}


def _panel(panel: Panel, datasource: str, target: Any) -> Any:
    kinds = {
        "stat": stat.Panel,
        "bars": timeseries.Panel,
        "lines": timeseries.Panel,
        "ranking": bargauge.Panel,
        "table": table.Panel,
    }
    built = kinds[panel.kind]().title(panel.title).description(panel.about).unit(panel.unit)
    if panel.kind == "bars":
        stacked = common_models.StackingMode.NORMAL
        built = built.draw_style(common_models.GraphDrawStyle.BARS).fill_opacity(80)
        built = built.stacking(_Fixed(common_models.StackingConfig(mode=stacked)))
    if panel.kind == "ranking":
        built = built.orientation(common_models.VizOrientation.HORIZONTAL).min(0)
    where = models.DataSourceRef(type_val=datasource, uid="${datasource}")
    return (
        built.datasource(where)
        .with_target(target)
        .span(WIDTHS[panel.kind])
        .height(HEIGHTS.get(panel.kind, HEIGHT))
    )


class _Fixed(cog.Builder[Any]):
    def __init__(self, value: Any) -> None:
        self._value = value

    def build(self) -> Any:
        return self._value


def grafana(store: str) -> str:
    """Return the dashboard for a store, as Grafana imports it."""
    datasource, suffix, rows, query = STORES[store]
    board = (
        dashboard.Dashboard(f"otel-watchdog{suffix}")
        .uid(f"otel-watchdog-{store}")
        .description("What the watchdog found, what it said to agents, and whether it helped.")
        .tags(["otel-watchdog", "agents"])
        .time("now-6h", "now")
        .refresh("1m")
        .with_variable(
            dashboard.DatasourceVariable("datasource").label("Data source").type(datasource)
        )
    )
    for title, row in rows.items():
        board = board.with_row(dashboard.Row(title))
        for panel in row:
            board = board.with_panel(_panel(panel, datasource, query(panel)))
    written = json.loads(encoder.JSONEncoder(sort_keys=True).encode(board.build()))
    for number, panel in enumerate(written["panels"], start=1):
        panel["id"] = number
    return _json(written)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def files() -> dict[Path, str]:
    """Return each file's text."""
    made = {HERE / f"grafana/otel-watchdog-{store}.json": grafana(store) for store in STORES}
    made[HERE / "langfuse/otel-watchdog.json"] = _json(langfuse_widgets.board())
    return made


def main() -> int:
    """Write the files, or say which differ from what is written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="Change nothing; fail if any differs.")
    check = parser.parse_args().check
    differ = 0
    for path, text in files().items():
        if check and (not path.exists() or path.read_text("utf-8") != text):
            print(f"{path.relative_to(HERE)} is not what build.py makes: run `make dashboards`")
            differ += 1
        elif not check:
            path.write_text(text, "utf-8")
    return min(differ, 1)


if __name__ == "__main__":
    sys.exit(main())
