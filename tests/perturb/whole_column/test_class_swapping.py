"""Swapping within classes: every order of a class is equally likely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from anon_pipeline.perturb.whole_column.class_swapping import swap_within_classes
from anon_pipeline.perturb.whole_column.columns_to_change import Columns


def test_every_class_keeps_its_values(columns: Callable[..., Columns]) -> None:
    random = np.random.default_rng(0)
    values, labels = random.integers(0, 1_000, (300, 2)), random.integers(0, 20, 300)
    found = swap_within_classes(columns(values, labels=labels))
    for label in range(20):
        for column in range(2):
            own = labels == label
            assert sorted(found[own, column]) == sorted(values[own, column])
    assert (found != values).any(axis=1).mean() > 0.9


def test_every_order_of_a_class_is_equally_likely(columns: Callable[..., Columns]) -> None:
    values, labels = np.array([1, 50, 2, 60, 3]), np.array([0, 1, 0, 1, 0])
    orders = Counter(
        tuple(swap_within_classes(columns(values, labels=labels, key=key))[[0, 2, 4], 0].tolist())
        for key in range(3_000)
    )
    assert len(orders) == 6 and all(abs(many - 500) < 110 for many in orders.values())


def test_columns_are_ordered_independently(columns: Callable[..., Columns]) -> None:
    values = np.repeat(np.arange(2_000)[:, None], 2, axis=1)
    found = swap_within_classes(columns(values))
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.1
