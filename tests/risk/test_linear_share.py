"""Least squares against numpy's own correlation, and what must not be said of few records."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.risk.explained_share import LEAST
from anon_pipeline.risk.linear_share import linear_share


def test_of_one_column_it_is_the_adjusted_square_of_the_correlation() -> None:
    random = np.random.default_rng(0)
    one = random.normal(size=400)
    other = one + random.normal(size=400)
    square = np.corrcoef(one, other)[0, 1] ** 2
    assert linear_share(one, other[:, None]) == pytest.approx(1 - (1 - square) * 399 / 398, abs=1e-12)


def test_columns_that_have_nothing_to_do_with_it_tell_nothing_however_many() -> None:
    """R² itself would be about p / n = 0.6."""
    random = np.random.default_rng(1)
    found = [linear_share(random.normal(size=300), random.normal(size=(300, 180))) for _ in range(20)]
    assert float(np.mean(found)) < 0.1


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_units_do_not_matter_and_constant_columns_and_gaps_do_no_harm(scale: float) -> None:
    random = np.random.default_rng(2)
    pay, bonus = random.normal(50_000, 9_000, 200), random.normal(5_000, 900, 200)
    others = np.column_stack([pay * scale, bonus, np.ones(200), pay])
    others[:3, 1] = np.nan
    assert linear_share(pay + bonus, others) > 0.999999
    assert linear_share(np.full(200, 3.0), others) == 0


def test_of_few_records_nothing_is_said() -> None:
    values = np.arange(LEAST + 3.0)
    others = np.column_stack([values, values**2])
    assert linear_share(values, others) > 0.999
    assert linear_share(values[:-1], others[:-1]) == 0


@pytest.mark.parametrize("largest", [1e200, 1.7e308])
def test_the_largest_numbers_overflow_nothing(largest: float) -> None:
    random = np.random.default_rng(3)
    shares, bonus = random.uniform(-1, 1, 200), random.normal(size=200)
    others = np.column_stack([shares * largest, bonus])
    assert linear_share(shares * largest, others) > 0.999999
    assert linear_share(random.normal(size=200), others) < 0.1
