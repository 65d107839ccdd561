"""Sums whatever the order: equal to math.fsum, bit by bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base import sums
from anon_pipeline.base.sums import exact_sum

FINITE = st.floats(-1e270, 1e270, allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE, max_size=40))
def test_any_numbers(values: list[float]) -> None:
    assert exact_sum(np.array(values, np.float64)) == math.fsum(values)


@pytest.mark.parametrize("seed", range(5))
def test_numbers_of_a_table(seed: int) -> None:
    random = np.random.default_rng(seed)
    for values in (
        random.normal(size=30_000),
        random.normal(size=30_000) * 10.0 ** random.integers(-25, 3, 30_000),
        random.random(30_000) ** 40,
    ):
        assert exact_sum(values) == math.fsum(values.tolist())


def test_more_terms_than_are_added_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "_MOST", 7)
    values = np.random.default_rng(1).normal(size=100)
    assert exact_sum(values) == math.fsum(values.tolist())
