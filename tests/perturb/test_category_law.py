"""Mechanisms for categories against their own law: what is drawn, what it promises, what is estimated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import power_divergence

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS
from anon_pipeline.perturb.category_law import (
    LARGEST_EPSILON,
    STEPS,
    CategoryNoise,
    estimated_frequencies,
    expected_distance,
    exponents,
    flat_domain,
    keep_probabilities,
    level_distances,
    pmf,
    semantic_distances,
)
from anon_pipeline.perturb.category_sampler import draw_categories
from anon_pipeline.perturb.entropy import seeded_entropy
from tests.example_counts import examples_of
from tests.perturb.domains import DOMAINS, SAMPLES, TREES, regular, tree_domain

CASES = [
    (mechanism, name, epsilon)
    for mechanism in CATEGORY_MECHANISMS
    for name in DOMAINS
    for epsilon in (Fraction(3, 2), Fraction(4))
]


def goodness_of_fit(codes: np.ndarray, drawn: np.ndarray, law: np.ndarray) -> float:
    """P-value of the G-test of all originals together; cells that expect few are pooled by row."""
    observed = np.zeros_like(law)
    np.add.at(observed, (codes, drawn), 1)
    wanted = law * observed.sum(axis=1, keepdims=True)
    got, asked = [], []
    for row, expected in zip(observed, wanted, strict=True):
        large = expected >= 20
        got += [*row[large], row[~large].sum()]
        asked += [*expected[large], expected[~large].sum()]
    some = np.array(asked) > 0
    statistic = power_divergence(
        np.array(got)[some],
        np.array(asked)[some],
        lambda_="log-likelihood",
        ddof=len(law) - 1,
    )
    return float(statistic.pvalue)


@pytest.mark.parametrize(("mechanism", "name", "epsilon"), CASES)
def test_what_is_drawn_follows_the_stated_law_and_no_other(
    mechanism: str, name: str, epsilon: Fraction
) -> None:
    domain = DOMAINS[name]
    codes = np.arange(SAMPLES) % len(domain.values)
    noise = CategoryNoise(mechanism, epsilon, domain)
    drawn = draw_categories(noise, codes, entropy=seeded_entropy(5))
    assert 0 <= drawn.min() <= drawn.max() < len(domain.values)
    assert goodness_of_fit(codes, drawn, pmf(noise)) > 1e-3
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        other = CategoryNoise(mechanism, epsilon * factor, domain)
        assert goodness_of_fit(codes, drawn, pmf(other)) < 1e-12


def exact_loss(noise: CategoryNoise) -> Decimal:
    """Largest ln P(o|x)/P(o|y) over all outputs and pairs, to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        weights = [(-Decimal(g.numerator) / Decimal(g.denominator)).exp() for g in exponents(noise)]
        meeting, size = noise.domain.meeting_levels().tolist(), len(noise.domain.values)
        law = [[weights[level] for level in row] for row in meeting]
        law = [[each / sum(row) for each in row] for row in law]
        columns = ([law[x][o] for x in range(size)] for o in range(size))
        return max((max(column) / min(column)).ln() for column in columns)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(3, 2), Fraction(25)])
@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("mechanism", CATEGORY_MECHANISMS)
def test_the_privacy_loss_never_exceeds_epsilon(mechanism: str, name: str, epsilon: Fraction) -> None:
    noise = CategoryNoise(mechanism, epsilon, DOMAINS[name])
    promised = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
    loss = exact_loss(noise)
    assert loss - promised <= Decimal("1e-50")
    if mechanism == "randomized_response" or regular(DOMAINS[name]):
        assert promised - loss <= Decimal("1e-50")  # nothing is given away
    law = pmf(noise)
    assert math.isclose(math.log((law.max(axis=0) / law.min(axis=0)).max()), float(loss), rel_tol=1e-9)


def random_tree(shape: list[list[int]]) -> Any:
    leaves = iter(range(10_000))
    return {
        f"part {i}": {f"{i} {j}": [str(next(leaves)) for _ in range(count)] for j, count in enumerate(part)}
        for i, part in enumerate(shape)
    }


shapes = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4), min_size=1, max_size=4).filter(
    lambda shape: sum(map(sum, shape)) > 1
)


@settings(max_examples=examples_of(60))
@given(shapes, st.fractions(Fraction(1, 100), Fraction(20)), st.sampled_from(tuple(CATEGORY_MECHANISMS)))
def test_any_tree_keeps_epsilon_and_its_laws_sum_to_one(
    shape: list[list[int]], epsilon: Fraction, mechanism: str
) -> None:
    noise = CategoryNoise(mechanism, epsilon, tree_domain(random_tree(shape)))
    law = pmf(noise)
    assert law.sum(axis=1) == pytest.approx(1)
    assert math.log((law.max(axis=0) / law.min(axis=0)).max()) <= float(epsilon) * (1 + 1e-12) + 1e-12
    assert keep_probabilities(noise) == pytest.approx(law.diagonal())


def ancestors(tree: Any, above: tuple[str, ...] = ("*",)) -> Iterator[tuple[str, set[tuple[str, ...]]]]:
    """Yield each leaf with the set of its ancestors, itself included, each as the path to it."""
    names = tree.items() if isinstance(tree, dict) else [(name, None) for name in tree]
    for name, below in names:
        path = (*above, name)
        if below is None:
            yield name, {path[:i] for i in range(1, len(path) + 1)}
        else:
            yield from ancestors(below, path)


@pytest.mark.parametrize("name", TREES)
def test_the_distance_is_that_of_the_source(name: str) -> None:
    domain, sets = DOMAINS[name], dict(ancestors(TREES[name]))
    by_level = semantic_distances(len(domain.lookups))
    meeting = domain.meeting_levels()
    far = np.zeros(meeting.shape)
    for i, one in enumerate(domain.values):
        for j, other in enumerate(domain.values):
            union, common = sets[one] | sets[other], sets[one] & sets[other]
            far[i, j] = math.log2(1 + (len(union) - len(common)) / len(union))  # [DB (9.6)]
    assert by_level[meeting] == pytest.approx(far)
    assert level_distances(domain)[meeting] / STEPS == pytest.approx(far / far.max(), abs=1 / STEPS)
    noise = CategoryNoise("exponential", Fraction(2), domain)
    assert regular(domain) == (name == "regular")
    part = float(exponents(noise)[int(meeting.max())]) / 2
    masses = np.exp(-2 * part * far / far.max())
    expected = masses / masses.sum(axis=1, keepdims=True)
    assert pmf(noise) == pytest.approx(expected, abs=1e-4)
    assert expected_distance(noise) == pytest.approx((expected * far / far.max()).sum(axis=1), abs=1e-4)


@settings(max_examples=examples_of(60))
@given(shapes, st.fractions(Fraction(1, 100), Fraction(20)))
def test_the_exponent_is_the_largest_that_the_constants_allow(
    shape: list[list[int]], epsilon: Fraction
) -> None:
    domain = tree_domain(random_tree(shape))
    noise = CategoryNoise("exponential", epsilon, domain)
    part = exponents(noise)[int(domain.meeting_levels().max())] / epsilon
    assert part.denominator in (1, 2, 4, 8, 16, 32, 64)
    far = level_distances(domain)[domain.meeting_levels()] / STEPS

    def bound(share: float) -> float:
        whole = np.exp(-share * float(epsilon) * far).sum(axis=1)
        return share + float(np.log(whole.max() / whole.min())) / float(epsilon)

    assert Fraction(1, 2) <= part <= 1
    assert bound(float(part)) <= 1 + 1e-9
    larger = [number / 64 for number in range(int(part * 64) + 1, 65)]
    assert all(bound(share) > 1 - 2e-9 for share in larger)
    if regular(domain):
        assert part == 1


@pytest.mark.parametrize("size", [2, 7, 40])
def test_randomized_response_is_warners(size: int) -> None:
    noise = CategoryNoise("randomized_response", Fraction(3, 2), flat_domain([str(i) for i in range(size)]))
    whole = math.exp(1.5) + size - 1
    expected = np.full((size, size), 1 / whole)
    np.fill_diagonal(expected, math.exp(1.5) / whole)
    assert pmf(noise) == pytest.approx(expected, rel=1e-12)
    assert keep_probabilities(noise) == pytest.approx(math.exp(1.5) / whole)
    assert expected_distance(noise) == pytest.approx((size - 1) / whole)


def test_randomized_response_asks_nothing_of_the_hierarchy_but_its_leaves() -> None:
    tree, flat = DOMAINS["irregular"], flat_domain(DOMAINS["irregular"].values)
    one, other = (CategoryNoise("randomized_response", Fraction(2), domain) for domain in (tree, flat))
    assert pmf(one) == pytest.approx(pmf(other), rel=1e-12)
    assert (expected_distance(one) < expected_distance(other)).all()  # near values are among the others


@pytest.mark.parametrize(
    ("mechanism", "name"), [("randomized_response", "10 values"), ("exponential", "irregular")]
)
def test_frequencies_are_estimated_without_bias_and_with_their_variance(mechanism: str, name: str) -> None:
    noise = CategoryNoise(mechanism, Fraction(3, 2), DOMAINS[name])
    size, n, runs = len(noise.domain.values), 4_000, 400
    truth = np.arange(1, size + 1) / (size * (size + 1) / 2)
    codes = np.repeat(np.arange(size), np.diff(np.round(np.append(0, np.cumsum(truth)) * n)).astype(int))
    true = np.bincount(codes) / n
    entropy, shares, variances = seeded_entropy(2), [], []
    for _ in range(runs):
        drawn = draw_categories(noise, codes, entropy=entropy)
        found = estimated_frequencies(noise, np.bincount(drawn, minlength=size))
        shares.append(found.shares)
        variances.append(found.variances)
        assert found.shares.sum() == pytest.approx(1)
    spread = np.array(shares).var(axis=0, ddof=1)
    assert (np.abs(np.mean(shares, axis=0) - true) < 4 * np.sqrt(spread / runs)).all()
    assert np.mean(variances, axis=0) == pytest.approx(spread, rel=0.35)
    assert np.mean(variances) == pytest.approx(spread.mean(), rel=0.1)


def test_the_estimate_of_randomized_response_is_warners() -> None:
    noise = CategoryNoise("randomized_response", Fraction(1), flat_domain(["a", "b", "c", "d"]))
    counts = np.array([400, 300, 200, 100])
    p, q = math.e / (math.e + 3), 1 / (math.e + 3)
    expected = (counts / 1000 - q) / (p - q)
    found = estimated_frequencies(noise, counts)
    assert found.shares == pytest.approx(expected)
    each = (expected * p * (1 - p) + (1 - expected) * q * (1 - q)) / 1000 / (p - q) ** 2
    assert found.variances == pytest.approx(each)


@pytest.mark.parametrize("counts", [[0, 0], [1, 2, 3]])
def test_nothing_can_be_estimated_from_other_counts(counts: list[int]) -> None:
    noise = CategoryNoise("randomized_response", Fraction(1), flat_domain(["a", "b"]))
    with pytest.raises(ValueError, match="one per value"):
        estimated_frequencies(noise, np.array(counts))


def test_bad_noise_is_refused() -> None:
    with pytest.raises(ValueError, match="randomized_response, exponential"):
        CategoryNoise("staircase", Fraction(1), DOMAINS["2 values"])
    for epsilon in (Fraction(0), Fraction(LARGEST_EPSILON + 1)):
        with pytest.raises(PolicyError, match="epsilon"):
            CategoryNoise("exponential", epsilon, DOMAINS["2 values"])
    with pytest.raises(PolicyError, match="at least 2 values"):
        flat_domain(["a"])


@pytest.mark.parametrize("mechanism", CATEGORY_MECHANISMS)
def test_the_largest_epsilon_keeps_all(mechanism: str) -> None:
    noise = CategoryNoise(mechanism, Fraction(LARGEST_EPSILON), DOMAINS["irregular"])
    codes = np.arange(60_000) % 6
    assert (draw_categories(noise, codes, entropy=seeded_entropy(4)) == codes).all()


def test_the_digest_of_a_domain_is_of_values_and_hierarchy() -> None:
    same = tree_domain(TREES["irregular"])
    assert same.digest == DOMAINS["irregular"].digest
    others = [
        flat_domain(same.values),
        tree_domain({"A": {"a": ["1", "2"], "b": ["3", "4"]}, "B": {"c": ["5", "6"]}}),
    ]
    assert len({same.digest, *(other.digest for other in others)}) == 3


@pytest.mark.parametrize("mechanism", ["randomized_response", "pram"])
def test_no_frequencies_are_estimated_of_what_says_nothing(mechanism: str) -> None:
    shares = (Fraction(1), Fraction(1), Fraction(1)) if mechanism == "pram" else ()
    noise = CategoryNoise(mechanism, Fraction(1, 10**18), flat_domain(["a", "b", "c"]), shares)
    with pytest.raises(ValueError, match="epsilon is too small"):
        estimated_frequencies(noise, np.array([5, 3, 2]))
