"""A batch's columns become arrays, and everything that does not fit is named without a value."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.gate.great_expectations.batch_columns import (
    batch_columns,
    class_labels,
    released_rows,
    whole_numbers,
)


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


def test_classes_are_numbered_without_gaps_in_the_order_of_their_ids(by_hand: pd.DataFrame) -> None:
    rows = by_hand["out"].to_numpy()
    assert class_labels(by_hand, "_class_id", rows).tolist() == [1, 1, 1, 0, 0, 0, -1]
    assert whole_numbers(by_hand, "_class_id").tolist() == [10, 10, 10, 4, 4, 4, -1]


@pytest.mark.parametrize("values", [["CANARY"] * 7, [1.0] * 6 + [float("nan")], [1.5] * 7])
def test_classes_must_be_whole_numbers(by_hand: pd.DataFrame, values: list[Any]) -> None:
    with pytest.raises(InputError, match="_class_id: must be a whole number in every record") as caught:
        whole_numbers(by_hand.assign(_class_id=values), "_class_id")
    assert "CANARY" not in str(caught.value)
