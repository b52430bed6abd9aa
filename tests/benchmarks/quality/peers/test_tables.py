"""The tables and the chart, with a detector that is missing and one that crashed."""

import xml.etree.ElementTree as ET

import pytest

from benchmarks.quality.peers import chart, tables
from benchmarks.quality.peers.measuring import OURS, Row
from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.scores import Verdict

QUIET = LabelledRun(id="q", group="g", events=[{"turn": 1}], expect="quiet")
FIRE = LabelledRun(id="f", group="g", events=[{"turn": 1}], expect="fire")


@pytest.fixture
def report():
    """Return a report on one set of two runs."""
    rows = [
        Row(
            "noisy <&>",
            "1.2",
            [Verdict(QUIET, (0,), (), ()), Verdict(FIRE, (0,), (), ())],
            ["q: E"],
        ),
        Row("gone", "-", failure="not installed"),
        Row(OURS, "0.1", [Verdict(QUIET, (), (), ()), Verdict(FIRE, (0,), (0,), ())]),
    ]
    return {"date": "2026-11-30", "sets": {"suite": [row.as_json() for row in rows]}}


def test_the_best_stands_first_and_what_failed_last(report):
    """By F1 over the sets."""
    assert tables.order(report) == [OURS, "noisy <&>", "gone"]


def test_failures_and_crashes_stand_in_both_tables(report):
    """Never a zero that was not measured."""
    told = tables.lines(report)

    gone = [line for line in told if line.startswith("| gone")]
    assert len(gone) == 2
    assert all("not installed" in line and "0.00" not in line for line in gone)
    assert "| noisy <&> | 1.2 | 1.00 / 1.00* | 0.00 / 0.00* |" in told
    assert "\\* crashed" in told[-1]


def test_rows_of_a_table_are_as_wide_as_its_head(report):
    """Also where a detector has no figures."""
    tables_only = [line for line in tables.lines(report) if line.startswith("|")]

    assert {line.count("|") for line in tables_only[:5]} == {12}
    assert {line.count("|") for line in tables_only[5:]} == {5}


def test_the_chart_is_xml_and_says_who_is_missing(report):
    """Names are escaped, and it can be read on a dark page."""
    drawn = chart.draw(report)

    texts = [one.text for one in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314 - our own
    assert {"noisy <&>", "not installed", OURS} <= set(texts)
    assert "prefers-color-scheme: dark" in drawn
