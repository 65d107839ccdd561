"""Texts are numbered part by part as they are in one piece."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base import text_numbers
from anon_pipeline.base.text_numbers import number_texts


def both(texts: pa.Array | pa.ChunkedArray) -> tuple[list[int], list[str | None]]:
    """Number texts in both ways, which must agree."""
    wanted, written = number_texts(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_numbers, "HUGE", 0)
        found, again = number_texts(texts)
    assert (found.tolist(), again.to_pylist()) == (wanted.tolist(), written.to_pylist())
    assert found.dtype == wanted.dtype == np.int64
    again.validate(full=True)
    return found.tolist(), again.to_pylist()


def test_by_hand() -> None:
    texts = pa.array(["b", None, "", "a", "b", "", None, "ab", "ba"], pa.large_string())
    assert both(texts) == ([0, 1, 2, 3, 0, 2, 1, 4, 5], ["b", None, "", "a", "ab", "ba"])
    assert both(texts.slice(3, 4)) == ([0, 1, 2, 3], ["a", "b", "", None])
    assert both(pa.array([], pa.large_string())) == ([], [])
    assert both(pa.array([None, None], pa.large_string())) == ([0, 0], [None])
    assert both(pa.array(["", ""], pa.large_string())) == ([0, 0], [""])


@given(st.lists(st.none() | st.text(st.characters(codec="utf-8"), max_size=3)), st.integers(0, 9))
def test_any_texts(texts: list[str | None], start: int) -> None:
    array = pa.array(texts, pa.large_string())
    both(array)
    both(array.slice(start))
    both(pa.chunked_array([array, array.slice(start)]))


def test_more_than_one_block() -> None:
    numbers = np.random.default_rng(0).integers(0, 300_000, 600_000).astype(str)
    found, texts = both(pa.array(numbers, pa.large_string()))
    assert np.array_equal(np.array(texts)[found], numbers)
