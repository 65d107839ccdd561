"""Columns that a destination cannot hold are refused by name, and no message has a value of them."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from anon_pipeline.base.errors import PublishError
from anon_pipeline.publish.deliver.unfit_columns import FINE, LARGE, columns_of, general_problem, refuse_unfit

NUMBERS = pa.chunked_array([[4711, None]])


def test_all_unfit_columns_are_named() -> None:
    columns = [("a", NUMBERS), ("b", NUMBERS), ("c", NUMBERS)]
    problems = iter(["whole numbers", None, "4 legs"])
    with pytest.raises(PublishError) as refused:
        refuse_unfit("publish.deliver.x", columns, lambda values: next(problems))
    first, second, advice = refused.value.problems
    assert (first, second) == (
        "publish.deliver.x: column a has whole numbers",
        "publish.deliver.x: column c has 4 legs",
    )
    assert "Change such a column in the source" in advice
    assert refuse_unfit("x", columns, lambda values: None).names == ["a", "b", "c"]


def test_what_nobody_holds_is_said_without_a_value() -> None:
    def said(values: list[object], kind: pa.DataType) -> str | None:
        return general_problem(pa.chunked_array([values], kind))

    assert said([2**63, 1], pa.uint64()) == LARGE
    assert said([2**63 - 1, None], pa.uint64()) is None
    assert said([None], pa.uint64()) is None
    assert said([], pa.uint64()) is None
    assert said([1001], pa.timestamp("ns", "Europe/Paris")) == FINE
    assert said([1000], pa.timestamp("ns")) is None
    assert said([1001], pa.time64("ns")) == FINE
    assert said([1], pa.time32("s")) is None
    assert said([1.5], pa.float64()) is None


def test_categories_are_looked_at_as_their_values() -> None:
    frame = pd.DataFrame({"x": [1, 2], "kind": pd.Categorical(["b", "a"])})
    found = dict(columns_of(frame))
    assert found["x"].type == pa.int64()
    assert found["kind"].to_pylist() == ["b", "a"]
    assert not pa.types.is_dictionary(found["kind"].type)
