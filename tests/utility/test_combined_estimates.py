"""Combined estimates: the papers' formulas by hand, and intervals that hold in a simulation."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.utility.combined_estimates import combine_estimates


def test_formulas_by_hand() -> None:
    fully = combine_estimates([1.0, 3.0], [0.5, 1.5])
    assert (fully.estimate, fully.variance) == (2.0, 1.5 * 2.0 - 1.0)
    assert fully.degrees == pytest.approx((1 - 1.0 / 3.0) ** 2) or fully.degrees == 1.0
    partially = combine_estimates([1.0, 3.0], [0.5, 1.5], synthetic="partially")
    assert partially.variance == 1.0 + 2.0 / 2 and partially.degrees == 4.0
    low, high = partially.interval(0.9)
    assert low < 2 < high and high - 2 == pytest.approx(2 - low)


def test_a_negative_variance_becomes_that_of_a_copy() -> None:
    assert combine_estimates([1.0, 1.0, 1.0], [0.2, 0.2, 0.2]).variance == pytest.approx(0.2)


def test_intervals_hold_for_draws_by_the_book() -> None:
    """Copies from the posterior of a normal mean, as the rule assumes: 95 % intervals hold so often."""
    random, n, held, times = np.random.default_rng(0), 100, 0, 3_000
    for _ in range(times):
        mean = random.normal(0, n**-0.5)
        centers = random.normal(mean, n**-0.5, 20)
        copies = random.normal(centers[:, None], 1, (20, n))
        found = combine_estimates(copies.mean(axis=1).tolist(), (copies.var(axis=1, ddof=1) / n).tolist())
        low, high = found.interval()
        held += low <= 0 <= high
    assert 0.93 < held / times < 0.995


@pytest.mark.parametrize(("estimates", "variances"), [([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([], [])])
def test_it_needs_two_copies(estimates: list[float], variances: list[float]) -> None:
    with pytest.raises(InputError, match="at least two copies"):
        combine_estimates(estimates, variances)
