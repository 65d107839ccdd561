"""What marks say of a change: the order of values, what is absent, and what has no order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.policy.protection import (
    BY_PROMISE,
    COARSER,
    FEWER,
    LESS,
    LESS_IF_SET,
    MORE,
    MORE_IF_SET,
    PRESENT,
    PROPORTION,
    SOONER,
    WIDER,
    Effect,
    Protects,
    by_number,
    by_rank,
    together,
)

UP, DOWN, SAME, UNKNOWN = Effect.STRENGTHENS, Effect.WEAKENS, Effect.NEUTRAL, Effect.UNKNOWN
OPPOSITE = {UP: DOWN, DOWN: UP, SAME: SAME, UNKNOWN: UNKNOWN}


@pytest.mark.parametrize(
    ("mark", "before", "after", "effect"),
    [
        (MORE, 3, 4, UP),
        (MORE, None, 4, UP),
        (LESS, 0.1, 0.2, DOWN),
        (LESS, None, 0.2, UP),
        (LESS_IF_SET, None, 1e-6, DOWN),
        (LESS_IF_SET, 1e-6, 1e-9, UP),
        (MORE_IF_SET, None, 30, DOWN),
        (MORE_IF_SET, 30, 60, UP),
        (by_rank("a", "b"), "a", "b", UP),
        (by_rank("a", "b"), "a", "c", UNKNOWN),
        (PRESENT, None, 0.9, UP),
        (PRESENT, 0.8, 0.9, UNKNOWN),
        (FEWER, (1, 2), (1,), UP),
        (FEWER, (1, 2), (1, 3), UNKNOWN),
        (FEWER, {"email": "ours"}, {"email": "theirs"}, SAME),
        (FEWER, {}, {"email": "ours"}, DOWN),
        (PROPORTION, (1, 3), (0.25, 0.75), Effect.NEUTRAL),
        (PROPORTION, (0.1, 0.3), (1, 3), Effect.NEUTRAL),
        (PROPORTION, (1, 3), (3, 1), UNKNOWN),
        (PROPORTION, None, (3, 1), UNKNOWN),
        (WIDER, (0, 10), (0, 20), UP),
        (WIDER, (0, 10), (5, 20), UNKNOWN),
        (WIDER, None, (5, 20), UNKNOWN),
        (COARSER, None, 5.0, UP),
        (COARSER, 5.0, 10.0, UP),
        (COARSER, 5.0, 7.0, UNKNOWN),
        (SOONER, "none", 3, DOWN),
        (SOONER, 3, 5, DOWN),
        (SOONER, 3, "last", UNKNOWN),
        (BY_PROMISE, "uniform", "discrete_laplace", UP),
        (BY_PROMISE, "discrete_laplace", "discrete_gaussian", DOWN),
        (BY_PROMISE, "discrete_laplace", "staircase", UNKNOWN),
    ],
)
def test_what_a_change_does(mark: Protects, before: Any, after: Any, effect: Effect) -> None:
    assert mark.compare(before, after) is effect
    assert mark.compare(after, before) is OPPOSITE[effect]


@given(st.lists(st.sampled_from(Effect)))
def test_together_never_hides_what_weakens(effects: list[Effect]) -> None:
    found = together(*effects)
    assert not (found.safe and {DOWN, UNKNOWN} & set(effects))
    assert found is together(*effects[::-1])


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_numbers_have_one_order(before: float, after: float) -> None:
    assert by_number(before, after) is OPPOSITE[by_number(after, before)]
    assert (by_number(before, after) is SAME) == (before == after)
