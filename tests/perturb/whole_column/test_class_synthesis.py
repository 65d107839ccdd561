"""Synthetic values in each class: means and covariances are those of the members, but for rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import sqrtm

from anon_pipeline.perturb.whole_column.class_synthesis import draw_in_classes
from anon_pipeline.perturb.whole_column.columns_to_change import Columns
from tests.perturb.whole_column.twins import normal_numbers


@pytest.mark.parametrize("q", [1, 2, 4])
def test_means_and_covariances_of_each_class_stay(columns: Callable[..., Columns], q: int) -> None:
    random = np.random.default_rng(0)
    labels = random.permutation(np.repeat(np.arange(40), 10))
    values = np.rint((random.normal(0, 1, (400, q)) @ random.normal(0, 1, (q, q)) + labels[:, None]) * 10**6)
    found = draw_in_classes(columns(values, labels=labels)).astype(float)
    for label in range(40):
        own = labels == label
        assert np.abs(found[own].mean(axis=0) - values[own].mean(axis=0)).max() <= 0.5
        wanted = np.atleast_2d(np.cov(values[own].T))
        assert np.allclose(np.atleast_2d(np.cov(found[own].T)), wanted, rtol=1e-4, atol=1e-5 * wanted.max())
    assert (found != values).all(axis=1).mean() > 0.99


def test_in_small_classes_variances_stay(columns: Callable[..., Columns]) -> None:
    random = np.random.default_rng(1)
    values, labels = np.rint(random.normal(0, 10**6, (30, 4))), np.repeat(np.arange(10), 3)
    found = draw_in_classes(columns(values, labels=labels)).astype(float)
    for label in range(10):
        own = labels == label
        assert np.allclose(found[own].mean(axis=0), values[own].mean(axis=0), atol=0.5)
        assert np.allclose(found[own].var(axis=0), values[own].var(axis=0), rtol=1e-4)


def test_constant_classes_and_single_records_stay(columns: Callable[..., Columns]) -> None:
    values = np.array([[5, 1], [5, 2], [5, 3], [5, 9], [8, 8]])
    found = draw_in_classes(columns(values, labels=[0, 0, 0, 0, 1]))
    assert (found[:4, 0] == 5).all() and found[4].tolist() == [8, 8]
    assert abs(found[:4, 1].mean() - 3.75) <= 0.5


def test_two_members_exchange_their_values_at_most(columns: Callable[..., Columns]) -> None:
    """Of two numbers mean and variance say which they are: docs/mechanisms.md warns of small classes."""
    found = draw_in_classes(columns([100, 300], labels=[0, 0]))[:, 0]
    assert sorted(found.tolist()) == [100, 300]


def test_it_is_its_slow_twin(columns: Callable[..., Columns]) -> None:
    """Class by class: centered normal numbers times S⁻½ · C½, of their own products S and the class's C."""
    random = np.random.default_rng(2)
    labels = random.permutation(np.repeat(np.arange(12), 8))
    made = columns(np.rint(random.normal(0, 10**4, (96, 3)) + 10**4 * labels[:, None]), labels=labels)
    normal = np.array([normal_numbers(made, column) for column in range(3)]).T
    wanted = np.empty_like(made.values)
    for label in range(12):
        own = labels == label
        mean = made.values[own].mean(axis=0)
        members, drawn = made.values[own] - mean, normal[own] - normal[own].mean(axis=0)
        roots = [np.real(sqrtm(one.T @ one)) for one in (drawn, members)]
        wanted[own] = np.rint(mean + drawn @ np.linalg.inv(roots[0]) @ roots[1])
    assert (draw_in_classes(made) == wanted).all()
