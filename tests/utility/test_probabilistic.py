"""Probabilistic information loss against what samples of the input do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.utility.probabilistic import probabilistic_loss, surprise

RECORDS = 400


def table(seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    first = random.gamma(3, size=RECORDS)
    return np.column_stack([first, first + random.normal(size=RECORDS)])


@given(difference=st.floats(-10, 10), more=st.floats(0, 5), variance=st.floats(1e-3, 10))
def test_a_larger_difference_is_more_surprising(difference: float, more: float, variance: float) -> None:
    further = difference + more if difference >= 0 else difference - more
    assert 0 <= surprise(difference, variance) <= surprise(further, variance) <= 1


def statistics(rows: np.ndarray) -> dict[str, float]:
    return {
        "means": rows[:, 0].mean(),
        "variances": rows[:, 0].var(),
        "covariances": np.cov(rows.T, ddof=0)[0, 1],
        "correlations": np.corrcoef(rows.T)[0, 1],
    }


@pytest.mark.parametrize("kind", ["means", "variances", "covariances", "correlations"])
def test_the_loss_is_the_share_of_samples_that_differ_by_less(kind: str) -> None:
    """Samples of the input's size, drawn with replacement, against one table that differs somewhat."""
    before = table()
    random = np.random.default_rng(5)
    after = before[random.integers(0, RECORDS, RECORDS)] * [1.02, 1.0] + [0.0, 0.02]
    scale = before.std(axis=0) if kind == "covariances" else np.ones(2)  # they are in the input's units
    own = statistics(before / scale)
    off = abs(statistics(after / scale)[kind] - own[kind])
    samples = [statistics(before[random.integers(0, RECORDS, RECORDS)] / scale) for _ in range(4_000)]
    share = np.mean([abs(one[kind] - own[kind]) < off for one in samples])
    pairwise = kind in ("covariances", "correlations")
    tables = (before, after) if pairwise else (before[:, :1], after[:, :1])
    assert getattr(probabilistic_loss(*tables), kind) == pytest.approx(share, abs=0.06)


def test_the_same_table_loses_nothing_whatever_repeats_in_it() -> None:
    before = np.round(table())
    found = probabilistic_loss(before, before[::-1])
    assert found.overall == pytest.approx(0, abs=1e-6)
    assert found.quantiles == 0


def test_a_shifted_table_loses_its_mean_and_quantiles_alone() -> None:
    before = table()
    found = probabilistic_loss(before, before + 10)
    assert found.means == pytest.approx(1) and found.quantiles == pytest.approx(1)
    assert max(found.variances or 0, found.covariances or 0, found.correlations or 0) < 1e-6
    assert found.overall == pytest.approx(0.4, abs=1e-6)


def test_units_do_not_matter() -> None:
    before, after = table(), table(1)
    one, other = probabilistic_loss(before, after), probabilistic_loss(before * 1e6 - 5, after * 1e6 - 5)
    assert one.overall == pytest.approx(other.overall, abs=1e-6)


def test_constant_and_missing_columns_say_nothing() -> None:
    empty = probabilistic_loss(np.ones((20, 1)), np.ones((20, 1)))
    assert empty.overall is None and empty.means is None
    gaps = table()
    gaps[:5, 0] = np.nan
    found = probabilistic_loss(gaps, table())
    assert found.means is not None and found.correlations is not None


def test_rounding_is_no_loss() -> None:
    """Columns that say the same, and a balanced one, whose statistics have no variance."""
    first = table()[:, 0]
    inches = np.column_stack([first, first / 2.54])
    assert probabilistic_loss(inches, inches[::-1].copy()).overall == pytest.approx(0, abs=1e-6)
    balanced = np.tile([0.0, 1.0], RECORDS // 2).reshape(-1, 1)
    assert probabilistic_loss(balanced, np.random.default_rng(1).permutation(balanced)).overall == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e300, 1e154, 1e-150, 1e-320])
def test_extreme_numbers_are_losses_in_0_to_1(size: float) -> None:
    for before, after in ((table(), table(1) * size), (table() * size, table(1))):
        found = probabilistic_loss(before, after)
        assert found.overall is None or 0 <= found.overall <= 1
