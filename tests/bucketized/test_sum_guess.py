"""Sums and products of known numbers tell a secret."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.bucketized.sum_guess import right_by_sums

GROUPS = np.arange(400) // 10


def parts(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(20, 90, (400, 2)).astype(np.float64)


def test_a_sum_is_found_in_the_group() -> None:
    known = parts()
    total = known.sum(axis=1)
    answers = np.unique(total, return_inverse=True)[1]
    assert right_by_sums(known, total, answers, GROUPS) == 1.0
    assert right_by_sums(1e12 * known - 5, 1e9 * total, answers, GROUPS) == 1.0


def test_a_product_is_found_where_numbers_are_above_zero() -> None:
    known = parts()
    pay = known.prod(axis=1)
    answers = np.unique(pay, return_inverse=True)[1]
    assert right_by_sums(known, pay, answers, GROUPS) == 1.0
    assert right_by_sums(known - 20, pay, answers, GROUPS) < 1.0


def test_numbers_of_nothing_tell_as_much_as_chance() -> None:
    """The median of a group of ten is right more often than each other value; two as near count by half."""
    known, other = parts(), np.random.default_rng(1).permutation(400)
    assert right_by_sums(known, other.astype(np.float64), other, GROUPS) == pytest.approx(0.1, abs=0.08)


def test_two_secrets_as_near_count_by_half() -> None:
    """By hand: of a constant nothing is known but the mean, 0, between −1 and 1 in each group."""
    secrets = np.tile([-1.0, 1.0], 200)
    found = right_by_sums(np.ones((400, 1)), secrets, (secrets > 0).astype(np.int64), np.arange(400) // 2)
    assert found == pytest.approx(0.5)


def test_too_few_records_or_numbers_are_not_looked_at() -> None:
    known = parts()[:30]
    assert right_by_sums(known, known[:, 0], np.arange(30), np.zeros(30, np.int64)) == 0.0
    assert right_by_sums(np.empty((400, 0)), np.arange(400.0), np.arange(400), GROUPS) == 0.0
