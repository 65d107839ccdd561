"""Classes are assigned whole, and partitions are about as large, with about the same share suppressed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.division.assignment import assign_classes, shuffle
from tests.example_counts import examples_of


@settings(deadline=None, max_examples=examples_of(200))
@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=120),
    parts=st.integers(1, 6),
    gone=st.integers(0, 50),
    seed=st.integers(0, 9),
)
def test_partitions_differ_by_about_a_class(sizes: list[int], parts: int, gone: int, seed: int) -> None:
    records = np.array(sizes)
    kept = np.random.default_rng(seed).random(len(records)) < 0.8
    found, of_gone = assign_classes(records, kept, parts, gone=gone)
    assert found.shape == records.shape
    assert set(found.tolist()) <= set(range(parts))
    assert (of_gone.sum(), (of_gone >= 0).all()) == (gone, True)
    loads = np.bincount(found[kept], records[kept], parts)
    largest = records[kept].max(initial=0)
    assert loads.max() <= records[kept].sum() / parts + largest
    again, _ = assign_classes(records, kept, parts, gone=gone)
    assert again.tolist() == found.tolist()


def test_many_small_classes_come_out_even() -> None:
    rng = np.random.default_rng(3)
    sizes = np.concatenate((rng.integers(10, 400, 20_000), rng.integers(1, 10, 9_000)))
    kept = sizes >= 10
    found, of_gone = assign_classes(sizes, kept, 8, gone=801)
    loads = np.bincount(found[kept], sizes[kept], 8)
    small = np.bincount(found[~kept], sizes[~kept], 8) + of_gone
    assert loads.max() - loads.min() <= 1_000
    shares = small / (loads + small)
    assert shares.max() - shares.min() < 0.001


def test_a_giant_class_is_alone_in_its_partition() -> None:
    sizes = np.array([100_000, *[50] * 2_000])
    found, _ = assign_classes(sizes, np.ones(len(sizes), bool), 2)
    assert np.bincount(found, sizes).tolist() == [100_000, 100_000]
    assert set(found[1:].tolist()) != {int(found[0])}


def test_which_partition_a_class_is_in_does_not_follow_its_place() -> None:
    sizes = np.full(4_000, 10)
    found, _ = assign_classes(sizes, np.ones(len(sizes), bool), 4)
    first = np.bincount(found[:1_000], minlength=4)
    assert first.min() > 200  # 250 by chance
    assert abs(np.corrcoef(np.arange(4_000), found)[0, 1]) < 0.05
    assert sorted(shuffle(np.arange(9)).tolist()) == list(range(9))


@pytest.mark.parametrize("parts", [2, 5])
def test_without_a_class_that_is_kept_everything_is_shared_out(parts: int) -> None:
    found, of_gone = assign_classes(np.array([2, 2, 2]), np.zeros(3, bool), parts, gone=10)
    assert (len(found), of_gone.sum()) == (3, 10)


@settings(deadline=None, max_examples=examples_of(200))
@given(exponents=st.lists(st.floats(0, 6), min_size=2, max_size=12), parts=st.integers(2, 6))
def test_no_partition_stays_empty_where_there_are_classes_enough(exponents: list[float], parts: int) -> None:
    sizes = np.array([int(10**own) for own in exponents])
    found, _ = assign_classes(sizes, np.ones(len(sizes), bool), parts)
    assert len(set(found.tolist())) == min(parts, len(sizes))
