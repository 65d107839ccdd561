"""Blocks cover everything once, in order; what is computed of them is what is computed of the whole."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.blocks import class_blocks, narrow_integers, narrow_numbers, slices_of

SIZES = st.lists(st.integers(1, 12), max_size=30)
MOST = st.integers(1, 15)


@given(st.integers(0, 60), MOST)
def test_slices_cover_all_records_in_order(records: int, most: int) -> None:
    parts = [np.arange(records)[part] for part in slices_of(records, most=most)]
    assert np.concatenate([np.empty(0, np.int64), *parts]).tolist() == list(range(records))
    assert all(0 < len(part) <= most for part in parts)


@given(SIZES, MOST)
def test_runs_of_classes_cover_all_classes_in_order(sizes: list[int], most: int) -> None:
    starts = np.concatenate(([0], np.cumsum(np.array(sizes, np.int64))))
    runs = list(class_blocks(starts, most=most))
    assert [number for run in runs for number in range(run.start, run.stop)] == list(range(len(sizes)))
    for run in runs:
        assert run.stop == run.start + 1 or int(starts[run.stop] - starts[run.start]) <= most
    for run, after in itertools.pairwise(runs):
        assert int(starts[after.start + 1] - starts[run.start]) > most, "the next class did not fit"


@given(SIZES, MOST, st.integers(0, 2**32))
def test_what_is_measured_of_blocks_is_what_is_measured_of_the_whole(
    sizes: list[int], most: int, seed: int
) -> None:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    values = np.random.default_rng(seed).normal(size=len(labels))
    starts = np.concatenate(([0], np.cumsum(np.array(sizes, np.int64))))
    whole = np.bincount(labels, weights=values, minlength=len(sizes))
    found = np.empty(len(sizes))
    for run in class_blocks(starts, most=most):
        rows = slice(starts[run.start], starts[run.stop])
        found[run] = np.bincount(labels[rows] - run.start, weights=values[rows])
    assert found.tolist() == whole.tolist()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8))
def test_narrow_integers_are_the_same_integers(numbers: list[int]) -> None:
    narrow = narrow_integers(np.array(numbers, np.int64))
    assert narrow.tolist() == numbers


@pytest.mark.parametrize(
    ("number", "size"), [(127, 1), (-128, 1), (128, 2), (-32769, 4), (2**31 - 1, 4), (2**31, 8)]
)
def test_narrow_integers_have_few_bytes(number: int, size: int) -> None:
    assert narrow_integers(np.array([0, number], np.int64)).itemsize == size
    assert narrow_integers(np.empty((0, 2), np.int64)).shape == (0, 2)


@pytest.mark.parametrize("other", [0.5, np.nan, np.inf, 2.0**31, -(2.0**40)])
def test_numbers_stay_as_they_are_unless_all_are_whole_and_fit(other: float) -> None:
    numbers = np.array([1.0, other])
    assert narrow_numbers(numbers) is numbers
    narrow = narrow_numbers(np.array([[1.0, -300.0]]))
    assert narrow.tolist() == [[1, -300]]
    assert narrow.dtype == np.int16
    assert narrow_numbers(np.array([5, 6])).dtype == np.int8
