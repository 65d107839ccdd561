"""A column that comes in parts is packed into the very column that it is, or not packed at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base import gradual_packing
from anon_pipeline.base.gradual_packing import pack_parts
from anon_pipeline.base.packed_columns import pack_column

FEW = {
    "str": st.sampled_from(["a", "b", "ü", "", None]),
    "int64": st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 300),
    "float64": st.sampled_from([0.0, -0.0, float("nan"), float("inf"), 1.5, 2.5]),
    "datetime64[us]": st.sampled_from([pd.Timestamp("2020-01-01"), pd.NaT, pd.Timestamp("1900-02-03")]),
}


def series(values: list[Any], dtype: str) -> pd.Series:
    return pd.Series(pd.array(values, dtype=dtype)) if dtype == "str" else pd.Series(values, dtype=dtype)


@pytest.mark.parametrize("dtype", FEW)
@given(data=st.data())
def test_the_column_comes_back_to_the_last_bit(data: st.DataObject, dtype: str) -> None:
    parts = data.draw(st.lists(st.lists(FEW[dtype], max_size=6), min_size=1, max_size=4))
    made = [series(part, dtype) for part in parts]
    whole = pd.concat(made, ignore_index=True)
    found = pack_parts(iter(made))
    if found is None:
        return
    pd.testing.assert_series_equal(found.unpack("x"), whole.rename("x"), check_exact=True)
    if dtype in ("float64", "datetime64[us]"):
        one, other = (own.to_numpy().view(np.int64).tolist() for own in (found.unpack("x"), whole))
        assert one == other
    rows = data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=4)) if len(whole) else []
    assert found.take(np.array(rows, np.int64)).unpack("x").equals(whole.take(rows).reset_index(drop=True))
    at_once = pack_column(whole)
    numbered, wanted = found.numbered_cells(), at_once.numbered_cells()
    if numbered is not None and wanted is not None:
        assert numbered[0].tolist() == wanted[0].tolist()
        pd.testing.assert_series_equal(numbered[1], wanted[1], check_exact=True)


@pytest.mark.parametrize("dtype", ["str", "int64", "float64"])
def test_a_column_that_repeats_is_packed(dtype: str) -> None:
    parts = [series(["a", "b", None] * 9 if dtype == "str" else [1, 2, 30] * 9, dtype) for _ in range(3)]
    found = pack_parts(parts)
    assert found is not None
    assert found.numbered_cells() is not None


def test_parts_without_records_say_nothing_of_it() -> None:
    found = pack_parts([series([], "str"), series(["a"] * 9, "str"), series([], "str")])
    assert found is not None
    assert len(found.unpack("x")) == 9


def test_what_hardly_repeats_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pack_parts([series([str(place) for place in range(99)], "str")]) is None
    monkeypatch.setattr(gradual_packing, "_MOST", 10)
    parts = [series([f"{part} {place % 4}" for place in range(40)], "str") for part in range(3)]
    assert pack_parts(parts[:2]) is not None
    assert pack_parts(parts) is None


def test_other_types_and_several_types_are_left_to_others() -> None:
    assert pack_parts([pd.Series([True, False])]) is None
    assert pack_parts([pd.Series([1, 1], dtype="int64"), pd.Series([1, None], dtype=object)]) is None
    assert pack_parts([]) is None


def test_numbers_that_are_far_apart_in_several_parts_are_left_to_others() -> None:
    assert pack_parts([pd.Series([0, 1]), pd.Series([2**40, 2**40 + 1])]) is None
    found = pack_parts([pd.Series([-5, 250]), pd.Series([2**32 - 6])])
    assert found is not None
    assert found.unpack("x").tolist() == [-5, 250, 2**32 - 6]
