"""Quantiles by inverting closed forms, against looking through all whole numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.perturb.quantiles import quantile, smallest

RATES = st.floats(0.01, 0.9)
SHARES = st.floats(0.001, 0.999)


@given(rates=st.lists(RATES, min_size=1, max_size=5), share=SHARES)
def test_the_smallest_distance_is_the_first_that_is_not_passed_too_often(
    rates: list[float], share: float
) -> None:
    q = np.array(rates)
    found = smallest(lambda m: q ** (m + 1), share, count=len(q))  # P(|noise| > m), geometric
    for rate, distance in zip(rates, found.tolist(), strict=True):
        wanted = next(m for m in range(10_000) if rate ** (m + 1) <= share)
        assert distance == wanted


@given(rate=RATES, shares=st.lists(SHARES, min_size=1, max_size=5), middle=st.integers(-50, 50))
def test_the_quantile_is_the_first_whole_number_that_reaches_the_share(
    rate: float, shares: list[float], middle: int
) -> None:
    def cdf(z: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(np.clip(-rate * (np.asarray(z) - middle), -700, 700)))

    grid = np.arange(-2_000, 2_000)
    reached = cdf(grid)
    found = quantile(shares, cdf)
    assert found.tolist() == [grid[np.argmax(reached >= share)] for share in shares]
