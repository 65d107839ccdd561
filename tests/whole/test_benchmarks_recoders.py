"""The table of recoders: its cases, its targets, growth and the picture."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import numpy as np
import pytest

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.policy.recoding import Anonymize
from benchmarks import growth, recoder_rows, recoders
from benchmarks.growth import BY_NODES, BY_RECORDS, Growth, Point, grow, growth_table
from benchmarks.plot import Panel, decades, drawn, place
from benchmarks.recoder_cases import CASES, LATTICES, generated, grown, nodes_of
from benchmarks.recoder_rows import measure, once
from benchmarks.recoders import MARKDOWN, ROWS, Row, kept, line, main, markdown

SVG = "{http://www.w3.org/2000/svg}"
FOUND: dict[str, Any] = {
    "seconds": [0.05, 0.07, 0.06],
    "search": [0.04, 0.01, 0.02],
    "processor": [0.03, 0.03, 0.05],
    "before": 120.4,
    "peak": 300.2,
    "records": 30_162,
    "visited": 1_521,
    "loss": 0.25,
    "suppressed": 1_231,
    "classes": 365,
    "cells": 0,
    "sse": None,
}
NOTHING = FOUND | dict.fromkeys(("records", "visited", "loss", "suppressed", "classes", "cells", "sse"))


def test_each_case_is_a_row_and_each_row_a_case() -> None:
    names = [row.name for row in ROWS]
    assert sorted(names) == sorted(CASES)
    assert len({row.title for row in ROWS}) == len(names)


def test_the_targets_are_the_promised_ones() -> None:
    promised = {row.name: row.target for row in ROWS if row.target is not None}
    assert promised == {
        "b_precision": 0.06,
        "b_granularity": 0.06,
        "b_discernibility": 0.12,
        "b_average_class_size": 0.12,
        **{f"{limit}_{loss}": 2 for limit in ("t", "entropy_l", "recursive_l") for loss in
           ("granularity", "average_class_size")},
        "eight": 0.02,
        "million_mondrian": 1.5,
        "mdav": 0.5,
        **{f"{size}_{loss}": 0.5 for size in ("23k", "41k") for loss in
           ("precision", "granularity", "discernibility", "average_class_size")},
        "million_precision": 4,
        "million_granularity": 4,
    }  # fmt: skip
    assert {row.name for row in ROWS if row.memory == 1.5 * 1024} == {
        "million_precision",
        "million_granularity",
    }
    assert {row.name for row in ROWS if row.alone} == {"eight"}


def test_every_recoder_and_every_loss_is_measured(shared_data: Path) -> None:
    adult = [row.name for row in ROWS if row.adult]
    wanted = [CASES[name]().policy.anonymize for name in adult]
    assert {w.recoder for w in wanted} == set(get_args(Anonymize.model_fields["recoder"].annotation))
    assert {w.loss for w in wanted} == set(get_args(Anonymize.model_fields["loss"].annotation))


def test_lattices_have_the_sizes_they_are_called_by() -> None:
    assert all(nodes_of(shape) == nodes for nodes, shape in LATTICES.items())
    points = [point(size) for g in (BY_RECORDS, BY_NODES) for point in g.series.values() for size in g.sizes]
    assert {point.nodes for point in points} <= set(LATTICES)


@pytest.mark.parametrize("nodes", [256, 1_296, 23_040, 25_920])
def test_generated_tables_have_the_lattice_that_is_asked_for(nodes: int) -> None:
    case = grown("optimal", 3_000, nodes)
    task = recoder_rows.recoding_task(
        case.policy,
        case.frame,
        recoder_rows.code_quasi_identifiers(case.frame, case.policy),
        gone=np.zeros(3_000, np.bool_),
    )
    assert [h.height for h in task.hierarchies] == [2 + len(widths) for _, widths in LATTICES[nodes]]


def test_generated_tables_are_a_function_of_their_size() -> None:
    columns, one = generated(500, LATTICES[256])
    _, other = generated(500, LATTICES[150_000])
    assert one.equals(other)  # growth in nodes: other hierarchies of the same table
    assert list(columns) == list(one.columns)
    assert one["words 1"].nunique() > 20


def test_a_run_keeps_k_and_says_what_it_found() -> None:
    case = grown("optimal", 2_000, 256)
    run, found = once(case), measure(case, few=grown("optimal", 500, 256))
    assert run.recoding is not None
    assert equivalence_classes(run.recoding.codes).k >= 5
    assert len(found["seconds"]) == len(found["search"]) == len(found["processor"]) == 1
    assert found["seconds"][0] > found["search"][0] > 0
    assert found["classes"] == len(equivalence_classes(run.recoding.codes).sizes)
    assert (found["loss"], found["suppressed"], found["visited"]) == (
        run.recoding.loss,
        run.recoding.suppressed,
        run.recoding.checked,
    )
    assert 0 < found["before"] <= found["peak"]


def test_what_keeps_no_limit_is_a_row_without_numbers() -> None:
    case = grown("mingen", 100, 20_736)  # mingen refuses lattices of more than 10,000 nodes
    found = measure(case, few=case)
    assert found["visited"] is found["loss"] is None
    assert not kept(Row("x", "x"), found)


def test_a_row_is_judged_by_medians() -> None:
    assert kept(Row("x", "x", 0.06), FOUND)
    assert not kept(Row("x", "x", 0.0599), FOUND)
    assert kept(Row("x", "x", 0.02, alone=True), FOUND)
    assert not kept(Row("x", "x", 0.0199, alone=True), FOUND)
    assert kept(Row("x", "x", memory=300.2), FOUND)
    assert not kept(Row("x", "x", 1.0, memory=300.1), FOUND)


def test_a_row_says_it_all() -> None:
    text = line(Row("x", "title", 0.06, elsewhere="ARX 340 ms"), FOUND)
    assert text.split() == [
        *("title", "60.0", "ms", "50.0", "ms", "20.0", "ms", "30.0", "ms", "60.0", "ms", "✓"),
        *("300", "(120)", "1,521", "0.250000", "1,231", "365", "ARX", "340", "ms"),
    ]
    assert "0.05 s, 0.5 GiB ✗" not in text
    assert line(Row("x", "title", 0.01), FOUND).split()[11] == "✗"
    assert "1.50 s, 0.25 GiB ✗" in line(Row("x", "title", 1.5, memory=256), FOUND)
    assert line(Row("x", "title"), FOUND | {"cells": 1_930, "sse": 0.5}).endswith("1,930 cells, sse 0.500000")
    assert line(Row("x", "title"), NOTHING).endswith("no recoding keeps the limits")


def test_a_row_of_the_documents_has_the_same_numbers() -> None:
    text = markdown(Row("x", "title", 0.06, elsewhere="ARX 340 ms"), FOUND | {"cells": 1_930})
    assert text == (
        "| title | 30.0 ms | 50.0 ms | 60.0 ms | 1,521 | 0.25 | 1,231 | 365 | 300 | "
        "1,930 cells blanked, ARX 340 ms |"
    )
    columns = MARKDOWN.splitlines()[1].count("|")
    assert text.count("|") == markdown(Row("x", "title"), NOTHING).count("|") == columns
    assert "| 10.0 ms, the recoder alone |" in markdown(Row("x", "title", 0.01, alone=True), FOUND)


@pytest.mark.parametrize(("slow", "code"), [(False, 0), (True, 1)])
def test_main_returns_1_where_a_target_is_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], slow: bool, code: int
) -> None:
    asked: list[list[str]] = []

    def process(command: list[str]) -> tuple[str, float, float]:
        asked.append(command[1:])
        return json.dumps(FOUND | {"seconds": [9.0 if slow else 0.05]}), 0, 0

    monkeypatch.setattr(recoders, "process", process)
    assert main(["--only", "million_precision", "23k_granularity"]) == code
    assert asked == [
        ["-m", "benchmarks.recoder_rows", "23k_granularity"],
        ["-m", "benchmarks.recoder_rows", "million_precision"],
    ]
    out = capsys.readouterr().out
    assert "measured elsewhere, same kind of machine" in out
    assert ("✗" in out) == slow


def test_without_adult_its_rows_are_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recoders, "has_adult", lambda: False)
    assert main(["--only", "b_precision"]) == 0
    assert "skipped: needs the real data" in capsys.readouterr().out


SMALL = Growth("small", "records", (10, 100, 1_000), {"a": lambda n: Point("a", n, 256),
                                                       "b": lambda n: Point("b", n, 256)})  # fmt: skip


def test_a_series_ends_at_the_limit() -> None:
    asked: list[Point] = []

    def timed(point: Point, *, limit: float) -> float | None:
        asked.append(point)
        return None if point.recoder == "b" and point.records > 10 else point.records * limit / 1_000

    curves = grow(SMALL, limit=2, timed=timed)
    assert curves == {"a": {10: 0.02, 100: 0.2, 1_000: 2.0}, "b": {10: 0.02}}
    assert Point("b", 1_000, 256) not in asked
    assert growth_table(SMALL, curves, limit=2).splitlines()[2:] == [
        "| records | a | b |",
        "| ---: | ---: | ---: |",
        "| 10 | 0.020 | 0.020 |",
        "| 100 | 0.200 | – |",
        "| 1,000 | 2.0 |  |",
    ]


def test_a_point_beyond_the_limit_has_no_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    def answering(found: dict[str, Any]) -> None:
        program = f"print({json.dumps(json.dumps(found))})"
        monkeypatch.setattr(growth, "_command", lambda point: [sys.executable, "-c", program])

    answering({"processor": [0.5], "visited": 3})
    assert growth.seconds_of(Point("ola", 10, 256), limit=1) == 0.5
    assert growth.seconds_of(Point("ola", 10, 256), limit=0.4) is None
    answering({"processor": [0.5], "visited": None})
    assert growth.seconds_of(Point("ola", 10, 256), limit=1) is None
    monkeypatch.setattr(
        growth, "_command", lambda point: [sys.executable, "-c", "import time; time.sleep(60)"]
    )
    monkeypatch.setattr(growth, "_START", 0.1)
    assert growth.seconds_of(Point("ola", 10, 256), limit=0.1) is None
    monkeypatch.setattr(growth, "_command", lambda point: [sys.executable, "-c", "raise SystemExit(3)"])
    monkeypatch.setattr(growth, "_START", 60.0)
    with pytest.raises(SystemExit, match="got 3"):
        growth.seconds_of(Point("ola", 10, 256), limit=1)


def test_axes_span_decades() -> None:
    assert decades([0.02, 30]) == (-2, 2)
    assert decades([1, 1]) == (0, 1)
    assert [place(10.0**power, (-1, 3), 400) for power in (-1, 0, 3)] == [0, 100, 400]


def test_the_picture_has_every_point_and_title() -> None:
    curves = {"a < b": {10: 0.01, 1_000: 10.0}, "c": {10: 0.1}}
    picture = ElementTree.fromstring(
        drawn([Panel("first", "records", curves), Panel("none", "nodes", {"a": {}})])
    )
    assert len(picture.findall(f"{SVG}circle")) == 3
    texts = [text.text for text in picture.findall(f"{SVG}text")]
    assert {"first", "records", "a < b", "c", "10", "1,000", "0.01 s", "10 s"} <= set(texts)
    assert "none" not in texts
    one, _ = picture.findall(f"{SVG}polyline")
    (x1, y1), (x2, y2) = (map(float, pair.split(",")) for pair in one.attrib["points"].split())
    assert x1 < x2
    assert y1 > y2  # longer is higher
    assert y1 - y2 == pytest.approx(300)  # the whole of three decades


def test_plot_writes_the_picture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(recoders, "grow", lambda growth, *, limit: {"a": {growth.sizes[0]: limit}})
    assert main(["--only", "--plot", str(tmp_path / "growth.svg"), "--limit", "7"]) == 0
    picture = ElementTree.fromstring((tmp_path / "growth.svg").read_text(encoding="utf-8"))
    assert len(picture.findall(f"{SVG}polyline")) == 2
