"""Lifts of categories: against plain loops, flat for values in a random order, clear for values that stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.risk.category_lifts import log_lifts, pair_counts

RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), max_size=40)


@given(RECORDS)
def test_counts_and_what_chance_makes_of_them_are_those_of_plain_loops(
    records: list[tuple[int, int, int]],
) -> None:
    before, after, labels = np.array(records, np.int64).reshape(-1, 3).T
    counts, expected = pair_counts(before, after, labels, 4)
    for x in range(4):
        for y in range(4):
            assert counts[x, y] == sum(x == one and y == other for one, other, _ in records)
            by_chance = 0.0
            for label in {own for *_, own in records}:
                inside = [(one, other) for one, other, own in records if own == label]
                by_chance += (
                    sum(x == one for one, _ in inside) * sum(y == two for _, two in inside) / len(inside)
                )
            assert expected[x, y] == pytest.approx(by_chance)


def test_values_in_a_random_order_within_classes_tell_nothing() -> None:
    """Although classes have values of their own, which the released ones then share."""
    random, labels = np.random.default_rng(0), np.repeat(np.arange(2_000), 10)
    before = np.where(random.random(20_000) < 0.7, labels % 5, random.integers(0, 5, 20_000))
    after = before.reshape(2_000, 10)[:, random.permutation(10)].reshape(-1)
    assert np.abs(log_lifts(*pair_counts(before, after, labels, 5))).max() < 0.2


def test_values_that_mostly_stay_are_likelier_their_own() -> None:
    random, labels = np.random.default_rng(0), np.repeat(np.arange(200), 10)
    before = random.integers(0, 5, 2_000)
    after = np.where(random.random(2_000) < 0.5, before, random.integers(0, 5, 2_000))
    found = log_lifts(*pair_counts(before, after, labels, 5))
    assert (np.diag(found) > 0.5).all() and found[~np.eye(5, dtype=bool)].max() <= 0


def test_rare_pairs_are_no_evidence() -> None:
    counts, expected = np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])
    assert log_lifts(counts, expected).tolist() == [[0.0, 0.0]]
