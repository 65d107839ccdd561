"""Noise per class on a table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.classes import EquivalenceClasses, equivalence_classes
from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.mechanisms import DEFAULT_MECHANISM
from anon_pipeline.perturb.budget import split_epsilon
from anon_pipeline.perturb.discrete_laplace_law import cdf, mean_absolute, pmf
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.grid import from_grid, to_grid
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.perturb.noise import Perturbed, add_noise, class_diameters, prepare_noise


def perturb(
    values: np.ndarray, classes: EquivalenceClasses, *, epsilons: list[Fraction], **given: Any
) -> Perturbed:
    """Add noise of the default mechanism; the columns' shares of ε."""
    return add_noise(values, classes, noises=[Noise(DEFAULT_MECHANISM, own) for own in epsilons], **given)


def classes_of(labels: list[int]) -> EquivalenceClasses:
    return equivalence_classes(np.array(labels, np.int64)[:, None])


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-50, 50), st.integers(-50, 50)), max_size=40))
def test_class_diameters_equal_their_definition(rows):
    table = np.array(rows, np.int64).reshape(-1, 3)
    classes = equivalence_classes(table[:, :1])
    values = table[:, 1:]
    expected = [
        [int(values[classes.labels == e, c].max() - values[classes.labels == e, c].min()) for c in (0, 1)]
        for e in range(len(classes.sizes))
    ]
    assert class_diameters(values, classes).tolist() == expected


def test_suppressed_records_widen_no_class_and_stay_as_they_are():
    values = np.array([[10], [12], [900], [7]])
    perturbed = perturb(
        values,
        classes_of([0, 0, -1, 1]),
        epsilons=[Fraction(1)],
        entropy=seeded_entropy(0),
        bounds=[(0, 100)],
    )
    assert perturbed.diameters.tolist() == [[2], [0]]
    assert perturbed.values[2:].tolist() == [[900], [7]]


def test_the_input_is_left_alone():
    values = np.array([[1], [90]])
    perturb(values, classes_of([0, 0]), epsilons=[Fraction(1, 100)], entropy=seeded_entropy(1))
    assert values.tolist() == [[1], [90]]


def test_constant_column_gets_no_noise():
    values = np.full((50, 1), 1723)
    perturbed = perturb(
        values, classes_of([0, 1] * 25), epsilons=[Fraction(1, 20)], entropy=seeded_entropy(1)
    )
    assert perturbed.values.tolist() == values.tolist()


def test_each_class_and_column_has_its_scale():
    n = 40_000
    labels = np.tile([0, 0, 1, 1], n // 4)
    values = np.column_stack([np.tile([0, 10, 500, 900], n // 4), np.tile([5, 5, 0, 60], n // 4)])
    epsilons = (Fraction(1, 2), Fraction(3))
    perturbed = perturb(values, classes_of(labels.tolist()), epsilons=epsilons, entropy=seeded_entropy(2))
    assert perturbed.diameters.tolist() == [[10, 0], [400, 60]]
    for e in (0, 1):
        for c in (0, 1):
            noise = np.abs(perturbed.values - values)[labels == e, c]
            scale = perturbed.diameters[e, c] / float(epsilons[c])
            assert noise.mean() == pytest.approx(float(mean_absolute(scale)), rel=0.03)


def test_a_copied_column_does_not_weaken_the_guarantee():
    one, two = (split_epsilon(Fraction(2), [Fraction(1)] * p) for p in (1, 2))
    values = np.tile([0, 30], 20_000)[:, None]
    classes = classes_of([0] * len(values))
    alone = perturb(values, classes, epsilons=one, entropy=seeded_entropy(3))
    copied = perturb(values.repeat(2, axis=1), classes, epsilons=two, entropy=seeded_entropy(4))
    assert np.abs(alone.values - values).mean() == pytest.approx(float(mean_absolute(30 / 2)), rel=0.03)
    for column in (0, 1):
        error = np.abs(copied.values[:, column] - values[:, 0]).mean()
        assert error == pytest.approx(float(mean_absolute(30 / 1)), rel=0.03)
    outputs = np.arange(-200, 231)
    loss = np.abs(np.log(pmf(outputs, 30.0)) - np.log(pmf(outputs - 30, 30.0))).max()
    assert 2 * loss == pytest.approx(2.0)  # both copies together: ε


def test_copies_get_noise_of_their_own():
    values = np.tile([0, 1000], 500)[:, None].repeat(2, axis=1)
    noisy = perturb(
        values, classes_of([0] * 1000), epsilons=[Fraction(1)] * 2, entropy=seeded_entropy(5)
    ).values
    assert (noisy[:, 0] != noisy[:, 1]).mean() > 0.99


def test_bounds_clamp_after_the_noise():
    values = np.tile([0, 20], 30_000)[:, None]
    perturbed = perturb(
        values, classes_of([0] * 60_000), epsilons=[Fraction(1)], entropy=seeded_entropy(6), bounds=[(-5, 25)]
    )
    low = perturbed.values[values[:, 0] == 0, 0]
    assert low.min() == -5
    assert low.max() == 25
    # the mass beyond a bound lies on it: clamped before the noise it would not
    assert (low == -5).mean() == pytest.approx(float(cdf(-5, 20.0)), abs=0.01)
    assert (low == 25).mean() == pytest.approx(1 - float(cdf(24, 20.0)), abs=0.01)


def test_bounds_of_one_column_leave_the_other():
    values = np.tile([[0, 0], [100, 100]], (500, 1))
    noisy = perturb(
        values,
        classes_of([0] * 1000),
        epsilons=[Fraction(1)] * 2,
        entropy=seeded_entropy(7),
        bounds=[None, (0, 100)],
    ).values
    assert noisy[:, 0].min() < 0
    assert noisy[:, 1].min() >= 0
    assert noisy[:, 1].max() <= 100


def test_outputs_lie_on_the_grid():
    values = np.tile([1600, 1850], 1000)[:, None]
    noisy = perturb(values, classes_of([0] * 2000), epsilons=[Fraction(1)], entropy=seeded_entropy(8)).values
    released = from_grid(noisy[:, 0], 0.1)
    assert to_grid(released, 0.1).tolist() == noisy[:, 0].tolist()
    assert all(len(repr(float(y)).split(".")[1]) == 1 for y in released)


def test_no_columns_and_no_classes():
    nothing = perturb(
        np.zeros((3, 0), np.int64), classes_of([0, 0, 1]), epsilons=[], entropy=seeded_entropy(0)
    )
    assert (nothing.values.shape, nothing.diameters.shape) == ((3, 0), (2, 0))
    gone = perturb(
        np.array([[4], [9]]), classes_of([-1, -1]), epsilons=[Fraction(1)], entropy=seeded_entropy(0)
    )
    assert gone.values.tolist() == [[4], [9]]
    assert gone.diameters.shape == (0, 1)


def test_all_mistakes_at_once():
    values = np.array([[2**60, 1, -(2**53)], [0, 2, 1]])
    with pytest.raises(InputError) as caught:
        perturb(
            values,
            classes_of([0, 0]),
            epsilons=[Fraction(1)] * 3,
            entropy=seeded_entropy(0),
            bounds=[None, (5, 1), None],
        )
    assert [problem.split(" must ")[0] for problem in caught.value.problems] == [
        "perturb column 0: values",
        "perturb column 1: bounds",
        "perturb column 2: values",
    ]
    assert str(2**60) not in str(caught.value)


def test_a_scale_too_large_names_its_column():
    with pytest.raises(InputError, match=r"^perturb column 1: the largest class diameter"):
        perturb(
            np.array([[1, 0], [2, 2**45]]),
            classes_of([0, 0]),
            epsilons=[Fraction(1), Fraction(1, 1000)],
            entropy=seeded_entropy(0),
        )


def test_one_epsilon_per_column():
    with pytest.raises(ValueError, match="2 columns need"):
        perturb(
            np.zeros((2, 2), np.int64), classes_of([0, 0]), epsilons=[Fraction(1)], entropy=seeded_entropy(0)
        )


def test_noise_that_is_prepared_once_is_drawn_as_if_prepared_each_time():
    rng = np.random.default_rng(0)
    values, labels = rng.integers(-50, 50, (60, 2)), rng.integers(-1, 4, 60)
    classes = EquivalenceClasses(labels, np.bincount(labels[labels >= 0]))
    noises = [Noise("discrete_laplace", Fraction(1)), Noise("staircase", Fraction(2), inputs=(-20, 20))]
    bounds = [None, (-30, 30)]
    prepared, entropy, again = (
        prepare_noise(values, classes, noises=noises, bounds=bounds),
        seeded_entropy(1),
        seeded_entropy(1),
    )
    for _ in range(3):
        expected = add_noise(values, classes, noises=noises, entropy=again, bounds=bounds).values
        assert np.array_equal(prepared.draw_values(entropy), expected)
    assert np.array_equal(values[labels < 0], expected[labels < 0])
    assert not np.array_equal(prepared.draw_values(entropy), expected)
