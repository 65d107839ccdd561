"""Principal components, against singular values of the standardized columns."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.utility.components import component_shift
from tests.utility.test_covariances import normal


def slow(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the variance, and the squared correlation of each column with the first component."""
    unit = (table - table.mean(axis=0)) / table.std(axis=0)
    left, values, _ = np.linalg.svd(unit, full_matrices=False)
    squares = np.array([np.corrcoef(unit[:, j], left[:, 0])[0, 1] ** 2 for j in range(table.shape[1])])
    return values**2 / (values**2).sum(), squares


@pytest.mark.parametrize("seed", range(5))
def test_shares_and_communalities(seed: int) -> None:
    before, after = normal(columns=3, seed=seed), normal(columns=3, seed=seed + 10)
    found = component_shift(before, after)
    (own, shared), (released, changed) = slow(before), slow(after)
    assert found is not None and found.columns == 3
    assert found.explained == pytest.approx(np.abs(released - own).mean())
    assert found.communalities == pytest.approx(np.abs(changed - shared).mean())


def test_the_same_table_in_other_units_shifts_nothing() -> None:
    before = normal()
    found = component_shift(before, before * [3, -1, 0.1] + [5, 0, 1])
    assert found is not None and found.communalities is not None
    assert max(found.explained, found.communalities) < 1e-12


def test_without_a_single_first_component_communalities_mean_nothing() -> None:
    square = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]] * 10, float)
    found = component_shift(square, normal(40, 2))
    assert found is not None and found.communalities is None
    assert component_shift(square[:, :1], square[:, :1]) is None
