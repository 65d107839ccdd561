"""A class that is close to its partition, by what the partition must keep, is close to the whole table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_pipeline.division.closeness import closeness_within
from anon_pipeline.recode.task import SensitiveLimit
from anon_pipeline.risk.t_closeness import t_closeness
from tests.example_counts import examples_of

TREE = (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, np.int64))


def limit_on(whole: np.ndarray, distance: Any, t: float) -> SensitiveLimit:
    return SensitiveLimit("s", whole, distance, TREE if distance == "hierarchical" else None, t)


def distances(codes: np.ndarray, labels: np.ndarray, whole: np.ndarray, distance: Any) -> np.ndarray:
    lookups = TREE if distance == "hierarchical" else None
    m = int(labels.max()) + 1
    return t_closeness(codes, labels, whole=whole, m=m, distance=distance, lookups=lookups)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@settings(deadline=None, max_examples=examples_of(300))
@given(data=st.data())
def test_classes_keep_t_towards_the_whole(data: st.DataObject, distance: Any) -> None:
    n, parts = data.draw(st.integers(4, 40)), data.draw(st.integers(2, 3))

    def draw(most: int) -> np.ndarray:
        return np.array(data.draw(st.lists(st.integers(0, most), min_size=n, max_size=n)))

    codes, classes = draw(3), draw(6)
    owner = np.arange(7) % parts
    owners = owner[classes]
    whole = np.bincount(codes, minlength=4)
    counts = np.zeros((parts, 4), np.int64)
    np.add.at(counts, (owners, codes), 1)
    assume(counts.sum(axis=1).all())
    t = data.draw(st.floats(0.05, 1))
    within = closeness_within(limit_on(whole, distance, t), counts)
    if within is None:
        return
    assert within <= t
    for part in range(parts):
        inside = owners == part
        labels = np.unique(classes[inside], return_inverse=True)[1]
        near = distances(codes[inside], labels, counts[part], distance)
        far = distances(codes[inside], labels, whole, distance)
        assert (far[near <= within] <= t + 1e-9).all()


def test_equal_partitions_need_nothing() -> None:
    counts = np.array([[2, 4, 0, 6], [1, 2, 0, 3]])
    for distance in ("equal", "ordered", "hierarchical"):
        assert closeness_within(limit_on(counts.sum(axis=0), distance, 0.3), counts) == 0.3


def test_partitions_that_are_too_far_apart_have_no_t() -> None:
    counts = np.array([[9, 1], [1, 9]])
    limit = SensitiveLimit("s", counts.sum(axis=0), "equal", None, 0.3)
    assert closeness_within(limit, counts) is None  # each is 0.4 from the whole
    assert closeness_within(SensitiveLimit("s", limit.whole, "equal", None, 0.5), counts) == pytest.approx(
        0.1
    )


def test_ordered_ranks_are_others_where_a_value_is_not_in_every_partition() -> None:
    counts = np.array([[50, 49, 1], [50, 50, 0]])
    whole = counts.sum(axis=0)
    assert closeness_within(SensitiveLimit("s", whole, "ordered", None, 0.3), counts) is None
    assert closeness_within(SensitiveLimit("s", whole, "equal", None, 0.3), counts) is not None


@pytest.mark.parametrize(("t", "within"), [(0.5, 0.49), (0.1, 0.09), (0.099, 0.098), (0.001, None)])
def test_it_is_rounded_down_so_that_it_tells_little(t: float, within: float | None) -> None:
    counts = np.array([[5_005, 4_995], [5_000, 5_000]])  # 0.00025 from the whole
    assert closeness_within(limit_on(counts.sum(axis=0), "equal", t), counts) == within
