"""What an IO manager gives becomes a table, whichever library made it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.upstream import table_of_asset

COLUMNS: dict[str, list[Any]] = {"q": ["007", None], "n": [2**60 + 1, None], "x": [0.5, 1.5]}


def polars() -> Any:
    return pytest.importorskip("polars", reason="needs polars (extra dev)")


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame(COLUMNS, dtype=object, index=[5, 5]),
        lambda: pa.table(COLUMNS),
        lambda: pa.RecordBatchReader.from_batches(pa.table(COLUMNS).schema, pa.table(COLUMNS).to_batches()),
        lambda: polars().DataFrame(COLUMNS),
        lambda: polars().DataFrame(COLUMNS).lazy(),
    ],
    ids=["pandas", "arrow", "arrow stream", "polars", "polars lazy"],
)
def test_a_table_of_each_library(make: Any) -> None:
    frame = table_of_asset(make(), Limits())
    assert frame["q"].iloc[0] == "007"
    assert frame["q"].isna().tolist() == [False, True]
    assert frame["n"].iloc[0] == 2**60 + 1
    assert frame["x"].tolist() == [0.5, 1.5]
    assert frame.index.tolist() == [0, 1]


@pytest.mark.parametrize("value", [None, {"2026-01-05": pd.DataFrame(COLUMNS)}, [1, 2], "a,b"])
def test_what_is_no_table_is_named_by_its_type(value: Any) -> None:
    kind = "nothing" if value is None else type(value).__name__
    with pytest.raises(InputError, match=rf"must be a table of pandas, Arrow or Polars, got {kind}\."):
        table_of_asset(value, Limits())


@pytest.mark.parametrize("limits", [{"rows": 1}, {"columns": 2}])
def test_limits_are_kept(limits: dict[str, int]) -> None:
    with pytest.raises(InputError, match=f"source.asset: must keep the limit {next(iter(limits))}"):
        table_of_asset(pa.table(COLUMNS), Limits(**limits))
