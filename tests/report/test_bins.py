"""Bins: none below k, all records in them, no extreme and no cell in a label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.report.bins import Bin, category_bins, nice_edges, number_bins, size_edges

numbers = st.lists(
    st.one_of(st.floats(-1e12, 1e12), st.integers(-20, 20).map(float), st.just(float("nan"))),
    min_size=8,
    max_size=80,
)


@given(numbers, numbers, st.integers(2, 8))
def test_no_bin_of_numbers_is_below_k_in_any_table(before: list[float], after: list[float], k: int) -> None:
    tables = [np.array(before), np.array(after)]
    bins = number_bins(tables, k=k)
    assert np.sum([row.counts for row in bins], axis=0).tolist() == [len(before), len(after)]
    assert min(min(row.counts) for row in bins) >= k
    assert len({row.label for row in bins}) == len(bins)


@given(numbers, st.integers(2, 8), st.randoms())
def test_the_order_of_records_does_not_matter(values: list[float], k: int, random: object) -> None:
    mixed = list(values)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert number_bins([np.array(values)], k=k) == number_bins([np.array(mixed)], k=k)


def test_numbers_are_counted_where_the_labels_say() -> None:
    values = np.repeat([5.0, 10.0, 15.0, 25.0], 10)
    assert len(number_bins([values], k=10)) == 4
    for row in number_bins([values], k=10):
        words = [float(word) for word in row.label.replace(",", "").split() if word[0].isdigit()]
        low = -np.inf if row.label.startswith("below") else words[0]
        high = np.inf if row.label.endswith("more") else words[-1]
        assert int(((values >= low) & (values < high)).sum()) == row.counts[0]


def test_a_number_on_an_edge_is_on_the_side_that_the_label_says() -> None:
    assert nice_edges(0, 1.2).tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1]


def test_extremes_are_in_no_label() -> None:
    values = np.append(np.arange(1000.0), [987_654.321])
    assert all("987" not in row.label for row in number_bins([values], k=10))


def test_few_missing_values_are_counted_with_numbers_many_by_themselves() -> None:
    values = np.arange(100.0)
    few = number_bins([np.append(values, [np.nan] * 3)], k=5)
    assert few[-1].label.endswith("or missing")
    many = number_bins([np.append(values, [np.nan] * 30)], k=5)
    assert many[-1] == Bin("missing", (30,))


@pytest.mark.parametrize("value", [0.0, -3.5, float("nan")])
def test_a_constant_column_is_one_bin_that_does_not_name_it(value: float) -> None:
    (only,) = number_bins([np.full(20, value)], k=5)
    assert only.counts == (20,)
    assert "3.5" not in only.label


def test_too_small_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 5 records"):
        number_bins([np.arange(4.0)], k=5)
    with pytest.raises(ValueError, match="at least 5 records"):
        category_bins(["a"], np.array([[4]]), k=5, rest=np.array([0]))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=20), st.integers(2, 9))
def test_no_category_is_below_k_in_any_table(counts: list[tuple[int, int]], k: int) -> None:
    rest = np.array([k, k])
    table = np.array(counts, np.int64).reshape(-1, 2)
    bins = category_bins([f"c{i}" for i in range(len(table))], table, k=k, rest=rest)
    assert np.sum([row.counts for row in bins], axis=0).tolist() == (table.sum(axis=0) + rest).tolist()
    assert min(min(row.counts) for row in bins) >= k


def test_rare_categories_take_a_frequent_one_along_rather_than_be_shown() -> None:
    """Otherwise the rest, or the whole less what is shown, would be three records."""
    bins = category_bins(["a", "b", "c"], np.array([[50], [20], [10]]), k=5, rest=np.array([3]))
    assert bins == [Bin("a", (50,)), Bin("b", (20,)), Bin("other values", (13,))]


def test_categories_without_a_name_are_numbered_by_rank() -> None:
    bins = category_bins([None, None], np.array([[20], [50]]), k=5, rest=np.array([0]))
    assert bins == [Bin("value 1", (50,)), Bin("value 2", (20,))]


def test_named_categories_are_in_the_order_of_their_numbers() -> None:
    labels = ["[100, 200)", "[-20, 0)", "[20, 100)", "[0, 20)"]
    bins = category_bins(labels, np.array([[9], [8], [7], [6]]), k=5, rest=np.array([0]))
    assert [row.label for row in bins] == ["[-20, 0)", "[0, 20)", "[20, 100)", "[100, 200)"]


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_edges_lie_inside_and_are_few(least: float, width: float) -> None:
    edges = nice_edges(least, least + width)
    assert len(edges) <= 13
    assert (np.diff(edges) > 0).all()
    assert ((edges > least) & (edges < least + width)).all()


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=50))
def test_no_bin_of_class_sizes_is_empty(sizes: list[int]) -> None:
    starts = size_edges(np.array(sizes))
    assert starts[0] == min(sizes)
    found = np.bincount(np.searchsorted(starts, sizes, side="right") - 1)
    assert len(found) == len(starts)
    assert found.min() > 0
