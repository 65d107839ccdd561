"""What anybody can count in a released file, against counting by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.hierarchy.build import code_column
from anon_pipeline.policy import Policy
from anon_pipeline.policy.hierarchies import HIERARCHIES, hierarchy_kind
from anon_pipeline.report.exposure import levels, plain_columns

Small = Callable[..., Policy]
TREE = {"England": {"South": ["Bath"], "North": ["York"]}, "France": {"East": ["Lyon"], "Coast": ["Nice"]}}
FRAME = pd.DataFrame(
    {
        "age": ["20", "20", "20", "30", "30"],
        "city": ["*"] * 5,
        "height": [1.0, 2.0, 3.0, 4.0, 5.0],
        "income": [1, 1, 2, 3, 3],
        "illness": ["flu", "flu", "flu", "flu", None],
        "note": ["a", "b", "c", "c", None],
    }
)


def test_values_that_name_one_record_and_classes_of_one_value(small_policy: Small) -> None:
    found = {column.column: column for column in plain_columns(small_policy(), FRAME)}
    assert set(found) == {"income", "illness", "note"}  # height has noise
    for name, column in found.items():
        counts = Counter(FRAME[name].dropna())
        assert (column.distinct, column.alone) == (len(counts), sum(n == 1 for n in counts.values()))
    assert (found["illness"].told, found["income"].told, found["note"].told) == (3, 2, 0)


def test_coarser_columns_say_how_they_are_released(small_policy: Small) -> None:
    policy = small_policy(columns={"income": {"round": 500, "top": 3000}})
    found = {column.column: column.how for column in plain_columns(policy, FRAME)}
    assert found == {
        "income": "to the nearest 500, not above 3000",
        "illness": "as it is",
        "note": "as it is",
    }


@pytest.mark.parametrize(("hidden", "nearly"), [(90, False), (91, True), (100, False)])
def test_a_column_is_nearly_hidden_above_nine_in_ten_records(
    small_policy: Small, hidden: int, nearly: bool
) -> None:
    frame = pd.concat([FRAME] * 20, ignore_index=True)
    frame["age"] = ["*"] * hidden + ["20"] * (100 - hidden)
    age, city = levels(small_policy(), {"age": 1, "city": 1}, frame)
    assert (age.share, age.nearly_hidden, age.hidden) == (hidden / 100, nearly, hidden == 100)
    assert city.hidden and not city.nearly_hidden


def test_levels_are_said_of_how_many(small_policy: Small) -> None:
    age, city = levels(small_policy(), {"age": 0, "city": 1}, FRAME)
    assert city.as_text() == "1 of 1: everything is hidden"
    assert age.as_text() == f"0 of {age.top}: the value itself, 2 different values are left"
    age, city = levels(small_policy(), None, FRAME)
    assert (age.as_text(), city.as_text()) == (
        "by class: 2 different values are left",
        "by class: everything is hidden",
    )


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        ({"intervals": [10, 20]}, [1, 25]),
        ({"mask": [1, 3]}, ["12345", "12999"]),
        ({"dates": ["month", "year"]}, ["2020-01-01", "2021-02-03"]),
        ({"tree": TREE}, ["Bath", "Nice"]),
        ({"numbers": True}, [1, 2]),
        ({"order": ["low", "high"]}, ["low", "high"]),
        ({"suppress": True}, ["a", "b"]),
    ],
)
def test_the_policy_says_how_many_levels_there_are(
    small_policy: Small, spec: dict[str, Any], values: list[Any]
) -> None:
    city = small_policy(columns={"city": {"hierarchy": {"suppress": None, **spec}}}).generalized["city"]
    assert city.hierarchy is not None
    steps = hierarchy_kind(city.hierarchy).steps
    assert steps is not None
    _, hierarchy = code_column(pd.Series(values, name="city"), city.hierarchy, folder=Path())
    assert steps(city.hierarchy) == len(hierarchy.values) - 1


def test_only_a_table_does_not_say_it() -> None:
    assert [kind.name for kind in HIERARCHIES.values() if kind.steps is None] == ["table"]
