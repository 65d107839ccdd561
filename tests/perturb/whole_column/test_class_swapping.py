"""Swapping within classes: every order of a class is equally likely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.perturb.whole_column.class_swapping import swap_within_classes
from anon_pipeline.perturb.whole_column.columns_to_change import Columns
from tests.perturb.whole_column.twins import words_of


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


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=60), st.integers(0, 99))
def test_every_class_keeps_exactly_its_categories(
    columns: Callable[..., Columns], records: list[tuple[int, int]], key: int
) -> None:
    """Also a class of one record, and one whose values are all equal."""
    labels, codes = np.array(records, np.int64).reshape(-1, 2).T
    found = swap_within_classes(columns(codes, labels=labels, key=key))[:, 0]
    for label in np.unique(labels):
        own = labels == label
        assert Counter(found[own].tolist()) == Counter(codes[own].tolist())


def test_columns_are_ordered_independently(columns: Callable[..., Columns]) -> None:
    values = np.repeat(np.arange(2_000)[:, None], 2, axis=1)
    found = swap_within_classes(columns(values))
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.1


def test_it_is_its_slow_twin(columns: Callable[..., Columns]) -> None:
    """The members of a class, as they stand, get its values in the order of their random numbers."""
    random = np.random.default_rng(1)
    made = columns(random.integers(0, 1_000, (120, 2)), labels=random.integers(0, 12, 120))
    wanted = [[0, 0] for _ in range(120)]
    for column in range(2):
        drawn = [word % 2**64 for word in words_of(made, column)]
        for label in range(12):
            members = [record for record in range(120) if made.labels[record] == label]
            givers = sorted(members, key=drawn.__getitem__)
            for record, giver in zip(members, givers, strict=True):
                wanted[record][column] = int(made.values[giver, column])
    assert swap_within_classes(made).tolist() == wanted
