"""Rows, CSV and map of compared kinds."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from anon_pipeline.kinds.alike_measures import Lost
from anon_pipeline.kinds.compare_kinds import Alike, Compared
from anon_pipeline.kinds.kind_rows import (
    COLUMNS,
    gate_words,
    kind_rows,
    kinds_csv,
    kinds_map,
    query_rows,
    shown_columns,
)
from anon_pipeline.synthetic.attackers import Learned
from anon_pipeline.utility.sql_workload import QueryLoss

FOUND = Alike(Lost(0.02, 0.1, None), Learned(0.01, 0.52, {"ward": 0.03}), (), 1000, 0.5)
REFUSED = Alike(Lost(0.2, None, 0.3), Learned(-0.01, 0.4, {}), ("k", "draw"), 10, 0.5)
ROWS = [
    Compared("one", "classes", FOUND),
    Compared("two", "synthetic", REFUSED),
    Compared("no", "classes", None, "k"),
]


def test_rows_have_all_columns() -> None:
    first, second, last = kind_rows(ROWS)
    assert tuple(first) == tuple(second) == tuple(last) == COLUMNS
    assert first["risk"] == "0.04" and first["gain"] == "0.03" and first["loss"] == "0.1"
    assert second["risk"] == "0" and second["gain"] == "–" and second["loss"] == "0.2"
    assert [gate_words(one) for one in ROWS] == ["passes", "refuses: k, draw", "no release: k"]
    assert list(csv.DictReader(io.StringIO(kinds_csv(ROWS))))[2]["gate"] == "no release: k"


def test_queries_have_a_column_and_rows_where_there_are_any() -> None:
    assert "queries" not in shown_columns(ROWS) and query_rows(ROWS) == []
    losses = (QueryLoss("1", 2, 0, 0, 0.25, 0.1, 0.9), QueryLoss("2", 3, 0, 0, 0.75, 0.1, 0.9))
    asked = [
        Compared(name, "classes", replace(FOUND, queries=own))
        for name, own in (("one", losses), ("two", losses[::-1]))
    ]
    assert "queries" in shown_columns(asked) and kind_rows(asked)[0]["queries"] == "0.5"
    assert query_rows([*asked, ROWS[2]])[0] == ("1", "0.25", "0.75")


def test_the_map_has_a_point_for_each_release() -> None:
    drawn = kinds_map(ROWS)
    assert drawn.count("<title>") >= 2 and "What attackers learn against loss" in drawn
    assert "3 policies, 2 with a release, 1 of which their gate passes." in drawn
    assert "1. one: risk 0.04, loss 0.1" in drawn and "no:" not in drawn
