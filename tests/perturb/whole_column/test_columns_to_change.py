"""Random numbers of whole columns, ranks, and triangles of covariance matrices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, cholesky


def test_numbers_are_uniform_and_normal(columns: Callable[..., Columns]) -> None:
    made = columns(np.zeros((20_000, 2)))
    assert kstest(made.uniform(0), "uniform").pvalue > 1e-3
    assert kstest(made.normal(1), "norm").pvalue > 1e-3
    assert abs(np.corrcoef(made.uniform(0), made.uniform(1))[0, 1]) < 0.03
    assert abs(np.corrcoef(made.uniform(0), made.uniform(0, part=1))[0, 1]) < 0.03
    assert made.uniform(0).min() > 0 and made.uniform(0).max() < 1


def test_ranks_are_those_of_the_values_and_of_equal_ones_random(columns: Callable[..., Columns]) -> None:
    values = np.array([30, 10, 20, 10])
    firsts = []
    for key in range(200):
        order, rank = columns(values, key=key).ranks(0)
        assert values[order].tolist() == [10, 10, 20, 30] and rank[order].tolist() == [0, 1, 2, 3]
        firsts.append(order[0])
    assert 60 < firsts.count(1) < 140  # of the two equal ones either comes first


@given(st.lists(st.lists(st.integers(-5, 5), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_triangle_makes_its_matrix_of_whatever_rank(rows: list[list[int]]) -> None:
    matrix = np.array(rows, float).T @ np.array(rows, float)
    found = cholesky(matrix)
    assert np.allclose(found, np.tril(found))
    assert np.allclose(found @ found.T, matrix, atol=1e-8 * max(matrix.max(), 1))


def test_a_triangle_is_numpys_where_that_has_one() -> None:
    matrix = np.array([[4.0, 2.0, 0.5], [2.0, 3.0, 1.0], [0.5, 1.0, 2.0]])
    assert np.allclose(cholesky(matrix), np.linalg.cholesky(matrix))
