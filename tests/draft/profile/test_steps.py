"""Public steps: widths are 1, 2, 5 and powers of ten, nested; bounds leave people beyond them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.draft.profile.steps import inner_bounds, nested_steps, step_from
from anon_pipeline.policy.hierarchies import Intervals


@given(st.floats(1e-9, 1e12))
def test_a_step_is_the_smallest_public_one_that_is_enough(width: float) -> None:
    step = step_from(width)
    assert step >= width * (1 - 1e-9)
    assert step < width * 2.5 * (1 + 1e-9)
    assert round(step / 10 ** math.floor(math.log10(step) + 1e-12), 6) in (1, 2, 5)


@given(st.floats(1e-6, 1e6), st.floats(1, 1e4))
def test_steps_are_nested_as_a_policy_demands(width: float, times: float) -> None:
    found = nested_steps(width, width * times)
    assert Intervals(intervals=found).intervals == found
    assert all(b > a for a, b in pairwise(found))
    assert len(found) <= 4


@given(st.integers(0, 2**32), st.sampled_from([0.5, 5.0, 100.0]))
def test_bounds_are_multiples_with_at_least_twenty_records_beyond(seed: int, step: float) -> None:
    numbers = np.random.default_rng(seed).lognormal(5, 1, 500)
    low, high = inner_bounds(numbers, step)
    for bound, beyond in ((low, numbers <= (low or 0)), (high, numbers >= (high or 0))):
        if bound is not None:
            assert (bound / step).is_integer()
            assert beyond.sum() >= 20


@pytest.mark.parametrize("numbers", [np.arange(50.0), np.full(1000, 3.0), np.repeat([1.0, 2.0], 500)])
def test_no_bound_where_it_would_cut_nothing_off_or_too_few(numbers: np.ndarray) -> None:
    assert inner_bounds(numbers, 1) == (None, None)
