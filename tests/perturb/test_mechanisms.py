"""Every mechanism against its own law: what is drawn, what it promises, its closed forms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import power_divergence

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.catalog.mechanisms import NOISE_MECHANISMS
from anon_pipeline.perturb import discrete_gaussian_law, feed_words, samplers, staircase_law
from anon_pipeline.perturb.discrete_laplace_kernel import below
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.keys import Words, fresh_key
from anon_pipeline.perturb.mechanisms import (
    Noise,
    cdf,
    clamp_inputs,
    draw,
    excess,
    mean_absolute,
    parameters,
    pmf,
    quantile,
    radius,
    scales,
    sensitivities,
    shifts,
    variance,
)
from anon_pipeline.perturb.noise import add_noise
from anon_pipeline.perturb.samplers import LARGEST_SIGMA, discrete_gaussian, staircase, uniform
from anon_pipeline.perturb.staircase_kernel import geometric

NEW = tuple(NOISE_MECHANISMS)[1:]
SAMPLES = 200_000
DELTA = Fraction(1, 10**5)


def noise_of(mechanism: str, epsilon: Fraction = Fraction(2), **more) -> Noise:
    return Noise(mechanism, epsilon, DELTA if mechanism == "discrete_gaussian" else None, **more)


def drawn(noise: Noise, sensitivity: np.ndarray, seed: int = 11) -> np.ndarray:
    exact = np.asarray(sensitivity, np.int64)
    return draw(noise, parameters(noise, exact), entropy=seeded_entropy(seed))


def goodness_of_fit(values: np.ndarray, law, reach: float) -> float:
    """P-value of the G-test that values follow a CDF, in cells that expect 20 or more."""
    kept, below_ = [], 0.0
    for cut in np.unique(np.floor(np.linspace(-reach, reach, 161))):
        until = float(law(cut))
        if (until - below_) * len(values) >= 20 and (1 - until) * len(values) >= 20:
            kept.append(cut)
            below_ = until
    edges = np.array(kept)
    if ((expected := np.diff([0.0, *law(edges), 1.0]) * len(values)) <= 0).any():
        return 0.0
    observed = np.bincount(np.searchsorted(edges, values), minlength=len(expected))
    assert len(expected) > 2
    return float(power_divergence(observed, expected, lambda_="log-likelihood").pvalue)


CASES = [
    (mechanism, diameter, epsilon)
    for mechanism in NEW
    for diameter, epsilon in [
        (3, Fraction(1, 2)),
        (25, Fraction(2)),
        (600, Fraction(4)),
        (30, Fraction(1, 10)),
        (10**4, Fraction(3, 2)),
    ]
]


@pytest.mark.parametrize(("mechanism", "diameter", "epsilon"), CASES)
def test_noise_follows_the_stated_law_and_no_other(mechanism, diameter, epsilon) -> None:
    noise = noise_of(mechanism, epsilon)
    values = drawn(noise, np.full(SAMPLES, diameter))
    reach = 8 * float(np.sqrt(variance(noise, diameter)))
    assert goodness_of_fit(values, lambda z: cdf(noise, z, diameter), reach) > 1e-3
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        if mechanism == "discrete_gaussian":
            sigma = float(factor) * float(scales(noise, diameter))
            p = goodness_of_fit(values, lambda z, sigma=sigma: discrete_gaussian_law.cdf(z, sigma), reach)
        else:
            other = noise_of(mechanism, epsilon * factor)
            p = goodness_of_fit(values, lambda z, other=other: cdf(other, z, diameter), reach)
        assert p < 1e-12


@pytest.mark.parametrize("mechanism", NEW)
def test_every_element_has_its_own_scale(mechanism) -> None:
    diameters = np.tile(np.array([0, 1, 50, 4_000]), 60_000)
    noise = noise_of(mechanism, Fraction(1))
    values = drawn(noise, diameters, seed=13)
    assert not values[diameters == 0].any()
    for diameter in (50, 4_000):
        reach = 8 * float(np.sqrt(variance(noise, diameter)))
        mine = values[diameters == diameter]
        assert goodness_of_fit(mine, lambda z, d=diameter: cdf(noise, z, d), reach) > 1e-3
    one = values[diameters == 1]
    assert np.abs(one).mean() == pytest.approx(float(mean_absolute(noise, 1)), rel=0.02)


@pytest.mark.parametrize("mechanism", ["staircase", "discrete_gaussian"])
@pytest.mark.parametrize("at_once", [1, 70, 1_000])
@pytest.mark.parametrize("words", [1, 3, 1_000])
def test_noise_does_not_depend_on_how_words_are_asked_for(mechanism, at_once, words, monkeypatch) -> None:
    noise, diameters = noise_of(mechanism), np.arange(300)
    whole = drawn(noise, diameters)
    monkeypatch.setattr(feed_words, "_WORDS", at_once)
    monkeypatch.setattr(samplers, "_STAIRCASE_WORDS", words)
    monkeypatch.setattr(samplers, "_GAUSSIAN_WORDS", words)
    assert drawn(noise, diameters).tolist() == whole.tolist()


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
def test_noise_follows_the_place_whatever_the_order_of_the_elements(mechanism) -> None:
    noise, diameters, places = noise_of(mechanism), np.arange(300), np.arange(300) * 17 % 300
    words = Words(fresh_key(seeded_entropy(3)), places, column=2)
    whole = draw(noise, parameters(noise, diameters), entropy=words)
    order = np.random.default_rng(4).permutation(300)[:200]
    some = Words(words.key, places[order], column=2)
    assert draw(noise, parameters(noise, diameters[order]), entropy=some).tolist() == whole[order].tolist()
    other = draw(noise, parameters(noise, diameters), entropy=words.of_column(3))
    assert other.tolist() != whole.tolist()


@pytest.mark.parametrize("mechanism", NEW)
def test_mean_and_variance_are_the_closed_forms(mechanism) -> None:
    noise = noise_of(mechanism)
    values = drawn(noise, np.full(SAMPLES, 40)).astype(float)
    assert np.abs(values).mean() == pytest.approx(float(mean_absolute(noise, 40)), rel=0.02)
    assert (values**2).mean() == pytest.approx(float(variance(noise, 40)), rel=0.04)
    positive, negative = int((values > 0).sum()), int((values < 0).sum())
    assert abs(positive - negative) < 4 * np.sqrt(positive + negative)


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
@pytest.mark.parametrize("diameter", [1, 2, 7, 60])
@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(1), Fraction(7, 2)])
def test_closed_forms_are_sums_over_the_mass(mechanism, diameter, epsilon) -> None:
    noise = noise_of(mechanism, epsilon)
    far = int(60 * diameter / float(epsilon) + 60 * float(scales(noise, diameter)) + 60)
    z = np.arange(-far, far + 1)
    mass = pmf(noise, z, diameter)
    assert mass.sum() == pytest.approx(1, abs=1e-9)
    assert np.cumsum(mass) == pytest.approx(cdf(noise, z, diameter), abs=1e-9)
    assert np.abs(z) @ mass == pytest.approx(float(mean_absolute(noise, diameter)), rel=1e-9)
    assert (z.astype(float) ** 2) @ mass == pytest.approx(float(variance(noise, diameter)), rel=1e-9)
    at = np.array([0.01, 0.25, 0.6, 0.975])
    expected = [z[np.searchsorted(np.cumsum(mass), share)] for share in at]
    assert quantile(noise, at, diameter).tolist() == expected


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_the_radius_is_the_quantile_of_the_distance(mechanism, confidence) -> None:
    noise, diameters = noise_of(mechanism), np.array([0, 1, 13, 13, 400])
    found = radius(noise, diameters, confidence)
    assert found[0] == 0
    assert found[2] == found[3]
    if mechanism == "discrete_laplace":
        assert found == pytest.approx(-diameters / 2 * math.log(1 - confidence))
        return
    for diameter, r in zip(diameters.tolist(), found.tolist(), strict=True):
        within = float(cdf(noise, r, diameter) - cdf(noise, -r - 1, diameter))
        assert within >= confidence - 1e-12
        if r:
            assert float(cdf(noise, r - 1, diameter) - cdf(noise, -r, diameter)) < confidence + 1e-12


def outputs_of(noise: Noise, values: np.ndarray, sensitivity: int, bounds: tuple[int, int] | None):
    """Return the probability of every output for each value, (values, outputs), clamped to bounds."""
    reach = int(30 * float(scales(noise, sensitivity)) + 4 * sensitivity)
    if noise.mechanism != "discrete_gaussian":
        reach = 6 * sensitivity + 4
    outputs = np.arange(values.min() - reach, values.max() + reach + 1)
    if bounds is None:
        return pmf(noise, outputs - values[:, None], sensitivity)
    outputs = np.arange(bounds[0], bounds[1] + 1)
    inside = pmf(noise, outputs - values[:, None], sensitivity)
    inside[:, 0] = cdf(noise, bounds[0] - values, sensitivity)
    inside[:, -1] = cdf(noise, values - bounds[1], sensitivity)  # the law is symmetric
    return inside


CLASSES = [[0, 1], [3, 3, 9], [0, 2, 5, 11], [100, 130, 131]]


@pytest.mark.parametrize("values", CLASSES)
@pytest.mark.parametrize("bounds", [None, (1, 8)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(1), Fraction(7, 2)])
@pytest.mark.parametrize("mechanism", ["discrete_laplace", "staircase"])
def test_the_privacy_loss_of_no_pair_of_a_class_exceeds_epsilon(mechanism, values, bounds, epsilon) -> None:
    noise, class_ = noise_of(mechanism, epsilon), np.array(values)
    shifted = None if bounds is None else (bounds[0] + class_.min(), bounds[1] + class_.min())
    logs = np.log(outputs_of(noise, class_, int(np.ptp(class_)), shifted))
    worst = max(np.abs(a - b).max() for a in logs for b in logs)
    assert worst <= float(epsilon) + 1e-9
    if bounds is None:
        assert worst == pytest.approx(float(epsilon))


@pytest.mark.parametrize("values", CLASSES)
@pytest.mark.parametrize("bounds", [None, (1, 8)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(1), Fraction(7, 2)])
def test_the_hockey_stick_of_no_pair_of_a_class_exceeds_delta(values, bounds, epsilon) -> None:
    noise, class_ = noise_of("discrete_gaussian", epsilon), np.array(values)
    shifted = None if bounds is None else (bounds[0] + class_.min(), bounds[1] + class_.min())
    mass = outputs_of(noise, class_, int(np.ptp(class_)), shifted)
    worst = max(np.maximum(a - np.exp(float(epsilon)) * b, 0).sum() for a in mass for b in mass)
    assert worst <= float(DELTA) * (1 + 1e-9)
    if bounds is None:  # tight: a sixteenth less would be too little, or the continuous one is enough
        assert worst > 0.5 * float(DELTA) or np.ptp(class_) < 8


def test_geometric_steps_follow_their_law() -> None:
    words = seeded_entropy(3).words(400_000).view(np.int64)
    at, found = 0, []
    while at < len(words) - 200:
        step, at = geometric(words, at, 3, 5)
        found.append(step)
    b = math.exp(-3 / 5)
    observed = np.bincount(np.minimum(found, 12), minlength=13)
    expected = np.array([(1 - b) * b**g for g in range(12)] + [b**12]) * len(found)
    assert power_divergence(observed, expected).pvalue > 1e-3
    assert below(words, len(words), 8) == (8, len(words) + 1)


@pytest.mark.parametrize("mechanism", NEW)
def test_no_elements(mechanism) -> None:
    assert len(drawn(noise_of(mechanism), np.zeros(0, np.int64))) == 0


def test_what_could_not_be_drawn_exactly_is_refused() -> None:
    entropy = seeded_entropy(0)
    with pytest.raises(InputError, match=r"at most 2\^52"):
        staircase(np.array([2**50]), Fraction(1, 10), entropy=entropy)
    with pytest.raises(PolicyError, match="epsilon must be > 0"):
        staircase(np.array([2]), Fraction(0), entropy=entropy)
    for wrong in (-1, LARGEST_SIGMA + 1):
        with pytest.raises(InputError, match=r"must be in 0 … 2\^23"):
            discrete_gaussian(np.array([wrong]), entropy=entropy)
    with pytest.raises(InputError, match=r"must be in 0 … 2\^60"):
        uniform(np.array([-1]), entropy=entropy)
    with pytest.raises(InputError, match=r"2\^23 grid units") as caught:
        parameters(noise_of("discrete_gaussian", Fraction(1, 100)), np.array([12_345_678]))
    assert "12345678" not in str(caught.value)
    assert not discrete_gaussian(np.zeros(3, np.int64), entropy=entropy).any()


def test_the_widest_gaussian_is_drawn() -> None:
    values = discrete_gaussian(np.full(50_000, LARGEST_SIGMA), entropy=seeded_entropy(5))
    assert goodness_of_fit(values, lambda z: discrete_gaussian_law.cdf(z, 2.0**23), 8 * 2.0**23) > 1e-3


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("gauss", Fraction(1)), "must be one of"),
        (("discrete_gaussian", Fraction(1)), "delta must be given"),
        (("staircase", Fraction(1), DELTA), "delta must be given"),
        (("discrete_gaussian", Fraction(1), Fraction(1)), "must be in"),
        (("staircase", Fraction(1), None, (3, 3)), "must increase"),
    ],
)
def test_noise_that_is_none(arguments, rule) -> None:
    with pytest.raises(ValueError, match=rule):
        Noise(*arguments)


@pytest.mark.parametrize("law", [discrete_gaussian_law.mean_absolute, lambda d: staircase_law.pmf(0, d, 1.0)])
@pytest.mark.parametrize("wrong", [-1.0, float("nan")])
def test_parameters_of_laws_out_of_range(law, wrong) -> None:
    with pytest.raises(ValueError, match="must be >= 0"):
        law([1.0, wrong])
    with pytest.raises(ValueError, match="epsilon must be positive"):
        staircase_law.cdf(0, 1, 0.0)


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
def test_scale_zero_is_a_point_at_zero(mechanism) -> None:
    noise = noise_of(mechanism)
    assert pmf(noise, [-1, 0, 1], 0).tolist() == [0, 1, 0]
    assert cdf(noise, [-1, 0, 0.5, np.inf, -np.inf], 0).tolist() == [0, 1, 1, 1, 0]
    assert float(mean_absolute(noise, 0)) == float(variance(noise, 0)) == 0
    assert cdf(noise, [-np.inf, np.inf], 5).tolist() == [0, 1]


# declared sensitivity


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
def test_declared_noise_does_not_depend_on_the_data(mechanism) -> None:
    noise = noise_of(mechanism, inputs=(0, 80))
    assert sensitivities(noise, np.array([0, 3, 900])).tolist() == [80, 80, 80]
    values = np.full((40_000, 1), 30)  # a class without any spread
    values[:5, 0] = 5_000  # and a few far outside of the bounds
    labels = np.zeros(len(values), np.int64)
    labels[:5] = 1
    classes = equivalence_classes(labels[:, None])
    found = add_noise(values, classes, noises=[noise], entropy=seeded_entropy(8)).values[5:, 0]
    assert np.abs(found - 30).mean() == pytest.approx(float(mean_absolute(noise, 80)), rel=0.03)
    far = add_noise(
        np.full((40_000, 1), 5_000),
        equivalence_classes(np.zeros((40_000, 1), np.int64)),
        noises=[noise],
        entropy=seeded_entropy(9),
    ).values[:, 0]
    assert far.mean() == pytest.approx(80, abs=4 * float(np.sqrt(variance(noise, 80) / 40_000)))


@pytest.mark.parametrize("mechanism", ["discrete_laplace", "staircase"])
def test_declared_noise_is_locally_private_for_all_values(mechanism) -> None:
    noise = noise_of(mechanism, Fraction(1), inputs=(0, 12))
    every = np.clip(np.arange(-5, 20), 0, 12)
    logs = np.log(outputs_of(noise, every, 12, None))
    assert max(np.abs(a - b).max() for a in logs for b in logs) == pytest.approx(1.0)


Bounds = tuple[int, int] | None
REACH = 6_000


def half_noise(mechanism: str, epsilon: Fraction = Fraction(1, 2), inputs: Bounds = None) -> Noise:
    delta = Fraction(1, 1000) if mechanism == "discrete_gaussian" else None
    return Noise(mechanism, epsilon, delta, inputs)


def enumerated(noise: Noise, x: int, sensitivity: int, bounds: Bounds) -> float:
    """Add up |y − x| over all noise that has a chance worth naming."""
    z = np.arange(-REACH, REACH + 1)
    y = clamp_inputs(noise, np.array([x]))[0] + z
    y = y if bounds is None else np.clip(y, *bounds)
    return float(np.dot(np.abs(y - x), pmf(noise, z, sensitivity)))


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
@pytest.mark.parametrize("sensitivity", [0, 1, 2, 7, 40])
@pytest.mark.parametrize("inputs", [None, (-3, 5)])
@pytest.mark.parametrize("bounds", [None, (0, 10), (-1, -1), (3, 1_000)])
def test_the_closed_form_equals_an_enumeration(
    mechanism: str, sensitivity: int, inputs: Bounds, bounds: Bounds
) -> None:
    noise = half_noise(mechanism, inputs=inputs)
    x = np.array([-20, -1, 0, 3, 5, 10, 11, 60])
    if inputs is not None:
        sensitivity = 8
    found = shifts(noise, x, np.full(len(x), sensitivity), bounds=bounds)
    wanted = [enumerated(noise, value, sensitivity, bounds) for value in x.tolist()]
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@given(
    mechanism=st.sampled_from(tuple(NOISE_MECHANISMS)),
    epsilon=st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(9)]),
    m=st.integers(0, 60),
    sensitivity=st.integers(0, 25),
)
def test_the_excess_is_the_sum_of_the_tail(
    mechanism: str, epsilon: Fraction, m: int, sensitivity: int
) -> None:
    noise = half_noise(mechanism, epsilon)
    z = np.arange(m, m + REACH)
    assert float(excess(noise, m, sensitivity)) == pytest.approx(
        float(np.dot(z - m, pmf(noise, z, sensitivity))), rel=1e-8, abs=1e-9
    )
    both = excess(noise, [m, -m], sensitivity)
    assert both[1] - both[0] == pytest.approx(m)  # E(Z − m) = −m


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
def test_without_bounds_it_is_the_mean_absolute_noise_twice(mechanism: str) -> None:
    noise, sensitivity = half_noise(mechanism), np.array([0, 3, 3, 90])
    own = mean_absolute(noise, sensitivity)
    assert shifts(noise, np.array([5, 1, 2, 3]), sensitivity).tolist() == own.tolist()
    assert 2 * excess(noise, 0, sensitivity) == pytest.approx(own, rel=1e-9)
    wide = shifts(noise, np.array([5, 1, 2, 3]), sensitivity, bounds=(-(10**6), 10**6))
    assert wide == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
@pytest.mark.parametrize("inputs", [None, (-10, 60)])
def test_it_is_the_mean_of_what_the_sampler_draws(mechanism: str, inputs: Bounds) -> None:
    noise, bounds, n = half_noise(mechanism, inputs=inputs), (0, 80), 40_000
    for x in (-15, 3, 40, 75):
        sensitivity = sensitivities(noise, np.array([50]))
        wanted = np.full(n, parameters(noise, sensitivity)[0])
        values = np.full(n, x)
        y = np.clip(
            clamp_inputs(noise, values) + draw(noise, wanted, entropy=seeded_entropy(x + 99)), *bounds
        )
        apart = np.abs(y - x)
        error = float(apart.std(ddof=1)) / n**0.5
        found = float(shifts(noise, np.array([x]), sensitivity, bounds=bounds)[0])
        assert abs(found - apart.mean()) < 4 * error, x


def test_wide_noise_is_no_more_than_the_bounds_allow() -> None:
    """Where tuning was wrong by most: little ε, narrow bounds."""
    for mechanism in NOISE_MECHANISMS:
        noise = half_noise(mechanism, Fraction(1, 10))
        moved = shifts(noise, np.arange(0, 11), np.full(11, 100), bounds=(0, 10))
        assert (moved <= np.maximum(np.arange(11), 10 - np.arange(11)) + 1e-9).all()
        assert mean_absolute(noise, 100) > 20 * moved.max() or mechanism in ("staircase",)
