"""Optimal microaggregation of one number is the optimum of all partitions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.microaggregation.univariate import univariate
from tests.example_counts import examples_of


def squares(values: list[int]) -> Fraction:
    mean = Fraction(sum(values), len(values))
    return sum(((value - mean) ** 2 for value in values), Fraction(0))


@settings(deadline=None, max_examples=examples_of(200))
@given(values=st.lists(st.integers(0, 60), min_size=1, max_size=14), k=st.integers(1, 5))
def test_univariate_is_the_optimum_of_all_partitions(values: list[int], k: int) -> None:
    k = min(k, len(values))
    ranked, best = sorted(values), [Fraction(0)] + [Fraction(10**9)] * len(values)
    for end in range(k, len(ranked) + 1):
        for begin in range(end - k + 1):
            best[end] = min(best[end], best[begin] + squares(ranked[begin:end]))
    labels = univariate(np.array(values, float), k=k)
    classes = [
        [v for v, c in zip(values, labels, strict=True) if c == label] for label in set(labels.tolist())
    ]
    assert min(map(len, classes)) >= k
    assert float(sum(map(squares, classes))) == pytest.approx(float(best[-1]), abs=1e-9)


@pytest.mark.parametrize(
    ("numbers", "classes"),
    [
        ([3.0, math.nan, 1.0, 9.0, math.nan], [0, 1, 0, 0, 1]),
        ([3.0, math.nan, 1.0, 9.0, 8.0], [0, 1, 0, 1, 1]),
        ([3.0, math.nan, math.nan], [0, 0, 0]),
    ],
)
def test_missing_numbers_are_a_class_or_join_the_greatest(numbers: list[float], classes: list[int]) -> None:
    assert univariate(np.array(numbers), k=2).tolist() == classes
