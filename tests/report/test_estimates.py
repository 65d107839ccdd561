"""How well a share is known: Wilson's interval against exact sums, and where a standard error is honest."""

from __future__ import annotations

import math

import pytest

from anon_pipeline.report.estimates import ENOUGH, HITS, estimate


def covered(p: float, n: int, *, wilson: bool) -> float:
    """Return how often an interval around what is counted holds p: summed over all counts, not simulated."""
    found = 0.0
    for hits in range(n + 1):
        share = hits / n
        if wilson:
            low, high = estimate(share, n).low, estimate(share, n).high
        else:
            half = 1.96 * math.sqrt(share * (1 - share) / n)
            low, high = share - half, share + half
        if low <= p <= high:
            found += math.comb(n, hits) * p**hits * (1 - p) ** (n - hits)
    return found


@pytest.mark.parametrize("p", [0.05, 0.2, 0.26, 0.5])
@pytest.mark.parametrize("n", [10, 30, 100, 400])
def test_the_interval_holds_the_share_about_as_often_as_it_says(p: float, n: int) -> None:
    assert covered(p, n, wilson=True) >= 0.91


def test_a_standard_error_would_promise_too_much_of_a_small_table() -> None:
    assert covered(0.05, 30, wilson=False) < 0.8
    assert covered(0.2, 10, wilson=False) < 0.9


@pytest.mark.parametrize("p", [0.1, 0.2597, 0.5])
def test_it_is_given_where_it_is_honest(p: float) -> None:
    for n in (ENOUGH, 4 * ENOUGH):
        assert estimate(p, n).error == pytest.approx(math.sqrt(p * (1 - p) / n))
        assert covered(p, n, wilson=False) >= 0.91


@pytest.mark.parametrize(
    ("share", "records"), [(0.5, ENOUGH - 1), ((HITS - 1) / 500, 500), (0.0, 500), (1.0, 500)]
)
def test_a_rule_for_small_tables(share: float, records: int) -> None:
    found = estimate(share, records)
    assert found.error is None
    assert 0 <= found.low <= share <= found.high <= 1
    assert "too few records" in found.as_text()
