"""Columns as codes: what is packed so, and in how many bytes; `test_packed_columns` has what comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.coded_columns import pack_numbers, pack_texts
from anon_pipeline.base.packed_columns import pack_column
from anon_pipeline.base.scratch import SCRATCH, ScratchArray


def test_texts_that_differ_are_not_packed() -> None:
    texts = pd.Series([f"v{i}" for i in range(1000)], dtype="str")
    assert pack_texts(texts, pd.StringDtype("pyarrow", na_value=np.nan)) is None
    twice = pd.concat([texts, texts], ignore_index=True)
    assert pack_texts(twice, pd.StringDtype("pyarrow", na_value=np.nan)) is not None


def test_numbers_of_real_precision_are_not_packed() -> None:
    numbers = np.random.default_rng(0).normal(size=1000)
    assert pack_numbers(numbers, numbers.dtype) is None
    assert pack_numbers(np.round(numbers), numbers.dtype) is not None


def test_codes_are_in_a_file_where_there_is_a_folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.arange(2**18) % 250
    monkeypatch.delenv(SCRATCH, raising=False)
    packed: Any = pack_numbers(numbers, numbers.dtype)
    assert packed.kept.dtype == np.uint8
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    filed: Any = pack_numbers(numbers, numbers.dtype)
    assert isinstance(filed.kept, ScratchArray)
    assert np.array_equal(filed.unpack("x"), numbers)
    rows = np.arange(2**18)[::-1].copy()
    assert isinstance(filed.take(rows).kept, ScratchArray)
    assert filed.has_cells_of(packed, np.arange(2**18))
    assert not filed.has_cells_of(packed, rows)


@pytest.mark.parametrize(
    "cells", [["b", "a", None, "b"], ["a", "a", "b", "c"], [7, 6, 7, 8], [1.5, -0.0, 1.5, 0.0]]
)
def test_cells_are_numbered_alike_each_time(cells: list[Any]) -> None:
    """Also where codes are in the order in which they occur, and where some code does not occur any more."""
    series = pd.Series(cells, dtype="str" if isinstance(cells[0], str) else None)
    packed = pack_column(series)
    for rows in ([0, 1, 2, 3], [3, 2, 2, 0], [2, 2, 2, 2]):
        taken = packed.take(np.array(rows))
        first, again = taken.numbered_cells(), taken.numbered_cells()
        assert first is not None
        assert again is not None
        for numbers, values in (first, again):
            assert list(dict.fromkeys(numbers.tolist())) == [*range(len(values))]
            pd.testing.assert_series_equal(
                values.take(numbers).reset_index(drop=True), series.take(rows).reset_index(drop=True)
            )
