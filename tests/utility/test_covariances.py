"""Covariances before and after, against numpy, and what they leave out."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.utility.covariances import correlations_of, covariances


def normal(records: int = 200, columns: int = 3, *, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    mixed = random.normal(size=(records, columns)) @ random.normal(size=(columns, columns))
    return mixed * [1, 100, 1e9][:columns]


def test_they_are_those_of_numpy_in_standard_deviations_of_the_input() -> None:
    before, after = normal(), normal(seed=1)
    found = covariances(before, after)
    assert found is not None
    scale = before.std(axis=0)
    for matrix, table in ((found.before, before), (found.after, after)):
        assert matrix == pytest.approx(np.cov(table.T, ddof=0) / np.outer(scale, scale), abs=1e-9)
        assert correlations_of(matrix) == pytest.approx(np.corrcoef(table.T), abs=1e-9)
    assert (found.records, found.released) == (200, 200)


def test_incomplete_records_and_constant_columns_are_left_out() -> None:
    before, after = normal(), normal(seed=1)
    before[:3, 0] = np.nan
    with_constant = [np.column_stack([table, np.full(200, 7.0)]) for table in (before, after)]
    found = covariances(*with_constant)
    want = covariances(before[3:], after)
    assert found is not None and want is not None
    assert found.records == 197 and found.before.shape == (3, 3)
    assert found.before == pytest.approx(want.before)
    constant_after = after.copy()
    constant_after[:, 1] = 5.0
    changed = covariances(before, constant_after)
    assert changed is not None
    assert correlations_of(changed.after)[1].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (np.empty((0, 2)), np.empty((0, 2))),
        (normal(50, 1), normal(50, 1)),
        (normal(4), normal(4)),
        (normal(), np.full((200, 3), np.nan)),
        (np.ones((50, 3)), normal(50)),
    ],
)
def test_there_is_nothing_to_compare(before: np.ndarray, after: np.ndarray) -> None:
    assert covariances(before, after) is None
