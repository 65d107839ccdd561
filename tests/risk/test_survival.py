"""The exact law of linking, confidence and class-level suppression, against enumeration and its own twins."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.perturb import mechanisms
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.risk.histograms import class_histograms
from anon_pipeline.risk.linking import expected_column_linking
from anon_pipeline.risk.suppression import suppress_unconfident
from anon_pipeline.risk.survival import Fates, Outputs, expected_kept, fates, sort_line
from tests.example_counts import examples_of

NOISES = [
    Noise("discrete_laplace", Fraction(2)),
    Noise("staircase", Fraction(2)),
    Noise("discrete_gaussian", Fraction(2), Fraction(1, 100)),
    Noise("uniform", Fraction(2)),
]


def _sensitivities(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.array([np.ptp(values[labels == label]) for label in range(labels.max() + 1)])


def _enumerated(
    x: int, others: np.ndarray, law: Outputs, *, label: int, radius: float | None, k: int
) -> tuple[float, float, float]:
    """Add up the mass of every output of one record, by the definitions of [methods 7 and 8]."""
    own = x if law.inputs is None else min(max(x, law.inputs[0]), law.inputs[1])
    inputs = others if law.inputs is None else np.clip(others, *law.inputs)
    z = np.arange(-3000, 3001)
    upper, lower = (
        law.chance(side.astype(np.float64), np.full(len(z), law.sensitivity[label])) for side in (z, z - 1)
    )
    y = own + z
    if law.bounds is not None:
        y = np.minimum(np.maximum(y, law.bounds[0]), law.bounds[1])
    near = np.abs(y - x) == np.abs(y[:, None] - others).min(axis=1)
    gone = np.zeros(len(y), bool)
    if radius is not None:
        inside = (np.abs(y[:, None] - inputs) <= radius).sum(axis=1)
        gone = (inside > 0) & (inside < k)
    linked, lost, both = (float((upper - lower)[which].sum()) for which in (near, gone, near & gone))
    return linked, lost, both


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.mechanism)
@pytest.mark.parametrize("inputs", [None, (4, 20)])
@pytest.mark.parametrize("bounds", [None, (2, 25)])
def test_fates_are_what_enumerating_the_noise_gives(
    noise: Noise, inputs: tuple[int, int] | None, bounds: tuple[int, int] | None
) -> None:
    values = np.array([3, 3, 5, 9, 20, 21, 7, 7, 7, 7, 30, -4])
    labels = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    noise = Noise(noise.mechanism, noise.epsilon, noise.delta, inputs)
    sensitivity = mechanisms.sensitivities(noise, _sensitivities(values, labels))
    law = Outputs(partial(mechanisms.cdf, noise), sensitivity, inputs, bounds)
    radius, k = mechanisms.radius(noise, sensitivity, 0.6), 3
    table = sort_line(values, labels)
    found = fates(table, law, radius=radius, k=k)
    for j, (label, x) in enumerate(zip(table.found.classes, table.x, strict=True)):
        wanted = _enumerated(
            int(x), values[labels == label], law, label=int(label), radius=radius[label], k=k
        )
        assert (found.linked[j], found.lost[j], found.both[j]) == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=examples_of(60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(-12, 12)), min_size=1, max_size=25),
    st.integers(1, 6),
    st.floats(0, 9),
)
def test_the_outputs_with_few_originals_near_are_found(
    records: list[tuple[int, int]], k: int, reach: float
) -> None:
    labels = np.unique([label for label, _ in records], return_inverse=True)[1]
    values = np.array([value for _, value in records])
    m = labels.max() + 1
    table = sort_line(values, labels)
    assert np.abs(table.x).max() <= 12
    for shift in range(-37, 38):  # every output in −25 … 25 of every original
        law = Outputs(partial(_at, shift), np.zeros(m, np.int64))
        found = fates(table, law, radius=np.full(m, reach), k=k)
        for j, x in enumerate(table.x):
            own, y = values[labels == table.found.classes[j]], int(x) + shift
            inside = int((np.abs(y - own) <= reach).sum())
            assert found.lost[j] == float(0 < inside < k)
            assert found.linked[j] == float(abs(y - x) == np.abs(y - own).min())


def _at(shift: int, z: np.ndarray, sensitivity: np.ndarray) -> np.ndarray:
    """Cumulate noise that is always ``shift``."""
    return (z >= shift) * 1.0


def test_the_linking_risk_is_that_of_the_closed_form() -> None:
    rng = np.random.default_rng(0)
    values, labels = rng.integers(0, 90, 400), rng.integers(0, 12, 400)
    sensitivity = _sensitivities(values, labels)
    noise = Noise("discrete_laplace", Fraction(3, 2))
    table = sort_line(values, labels)
    found = fates(table, Outputs(partial(mechanisms.cdf, noise), sensitivity), radius=None, k=5)
    risk = float(found.linked @ table.found.counts) / len(values)
    wanted = expected_column_linking(values, labels, scales=mechanisms.scales(noise, sensitivity))
    assert risk == pytest.approx(wanted, abs=1e-12)
    assert not found.lost.any() and not found.both.any()


def test_fates_do_not_depend_on_the_order_of_records() -> None:
    rng = np.random.default_rng(1)
    values, labels = rng.integers(0, 50, 200), rng.integers(0, 9, 200)
    noise, order = NOISES[0], rng.permutation(200)

    def found(values: np.ndarray, labels: np.ndarray) -> Fates:
        sensitivity = _sensitivities(values, labels)
        radius = mechanisms.radius(noise, sensitivity, 0.9)
        law = Outputs(partial(mechanisms.cdf, noise), sensitivity)
        return fates(sort_line(values, labels), law, radius=radius, k=4)

    one, other = found(values, labels), found(values[order], labels[order])
    assert (one.lost == other.lost).all() and (one.both == other.both).all()


@pytest.mark.parametrize("most", range(-1, 7))
def test_expected_kept_is_what_enumerating_who_is_lost_gives(most: int) -> None:
    values, labels = np.array([1, 1, 2, 3, 3, 9]), np.zeros(6, np.int64)
    found = class_histograms(values, labels, m=1)
    lost = np.array([0.1, 0.7, 0.35, 0.0])
    each = np.repeat(lost, found.counts)
    wanted = 0.0
    for gone in itertools.product((0, 1), repeat=6):
        chance = math.prod(q if g else 1 - q for g, q in zip(gone, each, strict=True))
        wanted += chance * (6 - sum(gone)) * (sum(gone) <= most)
    assert expected_kept(found, lost, most_lost=np.array([most]))[0] == pytest.approx(wanted, abs=1e-12)


def test_expected_kept_of_large_classes_needs_no_recursion_and_a_bound_stays_below() -> None:
    found = class_histograms(np.zeros(200_000, np.int64), np.zeros(200_000, np.int64), m=1)
    kept = expected_kept(found, np.array([0.01]), most_lost=np.array([199_000]))
    assert kept[0] == pytest.approx(198_000)
    assert expected_kept(found, np.array([0.9]), most_lost=np.array([100]))[0] == 0
    exact = expected_kept(found, np.array([0.01]), most_lost=np.array([2_100]))[0]
    below = expected_kept(found, np.array([0.01]), most_lost=np.array([2_100]), work=1e6)[0]
    assert 0 < below <= exact < 198_000


def test_classes_that_fall_below_k_are_left_out_as_often_as_when_drawn() -> None:
    rng = np.random.default_rng(3)
    values, labels, k = rng.integers(0, 30, 60), np.repeat(np.arange(10), 6), 5
    noise = NOISES[0]
    sensitivity = _sensitivities(values, labels)
    radius = mechanisms.radius(noise, sensitivity, 0.8)
    table = sort_line(values, labels)
    found = fates(table, Outputs(partial(mechanisms.cdf, noise), sensitivity), radius=radius, k=k)
    stay = expected_kept(table.found, found.lost, most_lost=table.found.sizes - k).sum()
    scale, draws = 1 - np.exp(-float(noise.epsilon) / sensitivity[labels]), []
    for _ in range(4000):
        y = values + rng.geometric(scale) - rng.geometric(scale)
        near = (np.abs(y[:, None] - values[None]) <= radius[labels][:, None]) & (labels[:, None] == labels)
        draws.append(suppress_unconfident(near.sum(1), labels, k=k).keep.sum())
    error = np.std(draws) / math.sqrt(len(draws))
    assert abs(stay - np.mean(draws)) < 3 * error
