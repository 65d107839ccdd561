"""A batch's columns become arrays, and everything that does not fit is named without a value."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.gate.great_expectations.batch_columns import batch_columns, released_rows, sensitive_values
from anon_pipeline.gate.great_expectations.cases import BatchCase, Layout, case_from
from anon_pipeline.policy.columns import Sensitive

GROUP = {"role": "generalize", "hierarchy": {"suppress": True}}


def _case(frame: pd.DataFrame, **layout: Any) -> BatchCase:
    """Return the case of a batch of the columns by hand."""
    columns = {"zip": GROUP, "height": {"role": "perturb", "resolution": 0.1}}
    policy = {"name": "hand", "source": {"path": "x"}, "columns": columns, "anonymize": {"k": 2}}
    known = {"originals": {"height": "was"}, "classes": "class", "released": "out"} | layout
    return case_from(frame, Layout(policy | {"perturb": {"epsilon": 1}}, **known))


def _sensitive(**how: Any) -> Sensitive:
    return Sensitive(role="sensitive", **how)


def test_columns_come_with_a_fresh_index(by_hand: pd.DataFrame) -> None:
    assert batch_columns(by_hand, ["pay"]).index.tolist() == list(range(7))


def test_columns_that_are_not_there_or_twice_are_all_listed(by_hand: pd.DataFrame) -> None:
    by_hand.insert(0, "pay", 0, allow_duplicates=True)
    with pytest.raises(InputError) as caught:
        batch_columns(by_hand, ["zip", "b", "a", "pay"])
    assert caught.value.problems == (
        "columns must be in the batch, not there: a, b",
        "columns must be in the batch once, got twice: pay",
    )


def test_all_rows_are_released_where_no_column_says_otherwise(by_hand: pd.DataFrame) -> None:
    assert released_rows(by_hand, None).tolist() == [True] * 7
    assert released_rows(by_hand, "out").tolist() == [True] * 5 + [False] * 2


def test_nullable_booleans_mark_released_rows(by_hand: pd.DataFrame) -> None:
    by_hand["out"] = by_hand["out"].astype("boolean")
    assert released_rows(by_hand, "out").sum() == 5


@pytest.mark.parametrize(
    "marks",
    [[1] * 7, ["yes"] * 7, pd.array([True] * 6 + [None], dtype="boolean"), [True] * 6 + [None]],
    ids=["numbers", "texts", "gap", "objects"],
)
def test_marks_that_are_not_boolean_are_refused(by_hand: pd.DataFrame, marks: Any) -> None:
    by_hand["out"] = marks
    with pytest.raises(InputError, match="out: must be true or false in every record"):
        released_rows(by_hand, "out")


def test_a_batch_with_nothing_released_is_refused(by_hand: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="at least one released record"):
        released_rows(by_hand.assign(out=False), "out")
    with pytest.raises(InputError, match="at least one released record"):
        released_rows(by_hand.iloc[:0], None)


def test_classes_are_those_of_released_records_and_missing_equals_missing(by_hand: pd.DataFrame) -> None:
    assert sorted(_case(by_hand).evidence.classes.sizes) == [2, 3]
    every = by_hand.assign(height=150.0, was=150.0, **{"class": [1, 1, 1, 2, 2, 2, 3]})
    twice = pd.concat([every, every])
    assert sorted(_case(twice, released=None).evidence.classes.sizes) == [2, 6, 6]


def test_class_ids_that_are_not_those_of_the_values_are_refused(by_hand: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="class ids must be those of the generalized values"):
        _case(by_hand.assign(**{"class": [10, 10, 10, 4, 4, 10, -1]}))


@pytest.mark.parametrize(
    ("values", "how", "problem"),
    [
        (["1"] * 6 + ["CANARY"], {"distance": "ordered"}, "pay: must be a number, got 1 record"),
        (
            ["low"] * 5 + ["CANARY"] * 2,
            {"distance": "ordered", "order": ("low", "high")},
            "pay: every value must be in the declared order, got 2 others",
        ),
        ([None] * 2 + ["x"] * 5, {}, "pay: must have a value in every released record, got 2 missing"),
        (
            ["CANARY"] + ["x"] * 6,
            {"distance": "hierarchical", "hierarchy": {"tree": {"top": ["x", "y"]}}},
            "pay: every value must be a leaf of its hierarchy, got 1 record with others. Add them to it, "
            "or map them to leaves in clean.columns (pay: {values: ...}).",
        ),
    ],
    ids=["number", "order", "missing", "hierarchy"],
)
def test_sensitive_values_that_do_not_fit_are_counted(
    by_hand: pd.DataFrame, values: list[Any], how: dict[str, Any], problem: str
) -> None:
    by_hand["pay"] = values
    with pytest.raises(InputError, match=re.escape(problem)) as caught:
        sensitive_values(by_hand["pay"], _sensitive(**how), released_rows(by_hand, "out"), folder=Path())
    assert "CANARY" not in str(caught.value)


def test_a_suppressed_record_may_lack_a_sensitive_value(by_hand: pd.DataFrame) -> None:
    ill, rows = pd.Series(["x"] * 6 + [None], name="ill"), released_rows(by_hand, "out")
    assert sensitive_values(ill, _sensitive(), rows, folder=Path()) is ill


def test_perturb_columns_are_on_their_grid_and_classes_numbered_without_gaps(by_hand: pd.DataFrame) -> None:
    case = _case(by_hand)
    behind = require_originals(case.evidence)
    assert behind.labels.tolist() == [1, 1, 1, 0, 0, 0, -1]
    assert behind.own.tolist() == [0, 1, 2, 3, 4]
    assert case.evidence.released["height"].tolist() == [160.0, 170.0, 180.0, 150.0, 150.4]
    assert behind.grid[:6, 0].tolist() == [1600, 1700, 1900, 1500, 1502, 1504]


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        ({"height": [np.nan] + [160.0] * 6}, "height: must have a value where it is measured, got 1 missing"),
        ({"height": [np.inf] + [160.0] * 6}, "height: must be finite, got 1 record with infinite numbers"),
        ({"height": ["CANARY"] + ["160"] * 6}, "height: must be a number, got 1 record"),
        ({"was": [160.0] * 5 + [np.nan] * 2}, "was: must have a value where it is measured, got 1 missing"),
        ({"class": [-1] + [4] * 6}, "class: released records must be in a class, got 1 that are not"),
        ({"class": ["CANARY"] * 7}, "class: must be a whole number in every record"),
        ({"class": [1.0] * 6 + [np.nan]}, "class: must be a whole number in every record"),
    ],
    ids=["missing", "infinite", "text", "original", "classless", "class text", "class gap"],
)
def test_perturb_columns_that_cannot_be_measured_are_refused(
    by_hand: pd.DataFrame, spoil: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=re.escape(problem)) as caught:
        _case(by_hand.assign(**spoil))
    assert "CANARY" not in str(caught.value)
