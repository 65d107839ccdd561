"""The kernel against the paper's algorithm, word for word.

No deadline for the properties: their first example compiles the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import exp, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from anon_pipeline.perturb import discrete_laplace as discrete
from anon_pipeline.perturb import feed_words
from anon_pipeline.perturb.discrete_laplace import discrete_laplace
from anon_pipeline.perturb.discrete_laplace_kernel import (
    FACTORIAL,
    ODD,
    below,
    bernoulli_exp,
    bernoulli_exp_one,
    fill,
    sample,
)
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.keys import by_element
from tests.example_counts import examples_of


def int_words(words: list[int]) -> np.ndarray:
    return np.array(words, np.uint64).view(np.int64)


class Words:
    """Words in a row, and how many were used."""

    def __init__(self, words: np.ndarray) -> None:
        self.words: Iterator[int] = iter(words.view(np.uint64).tolist())
        self.used = 0

    def below(self, bound: int) -> int:
        while True:
            self.used += 1
            value = next(self.words) % 2 ** (bound - 1).bit_length()
            if value < bound:
                return value


def slow_bernoulli_exp(words: Words, gamma: Fraction, k: int = 1) -> bool:
    """Algorithm 1: Bernoulli(γ/k) trials until one fails; true if that one's number is odd."""
    while words.below(gamma.denominator * k) < gamma.numerator:
        k += 1
    return k % 2 == 1


def slow_bernoulli_exp_one(words: Words) -> bool:
    """Algorithm 1 for γ = 1; one integer below 12! says which of the first twelve trials fails first."""
    outcomes = factorial(12)
    draw = words.below(outcomes)
    if draw == outcomes - 1:
        return slow_bernoulli_exp(words, Fraction(1), 13)
    return draw < sum(outcomes // factorial(k - 1) - outcomes // factorial(k) for k in range(1, 12, 2))


class Ratio:
    """u/t as it stands, not in lowest terms."""

    def __init__(self, numerator: int, denominator: int) -> None:
        self.numerator, self.denominator = numerator, denominator


def slow_sample(words: Words, t: int, s: int) -> int:
    """Algorithm 2 for the scale t/s; the sign is the lowest bit of the integer that U comes from."""
    while True:
        draw = words.below(2 * t)
        u, negative = divmod(draw, 2)
        if not slow_bernoulli_exp(words, Ratio(u, t)):
            continue
        v = 0
        while slow_bernoulli_exp_one(words):
            v += 1
        y = (u + t * v) // s
        if not (negative and y == 0):
            return -y if negative else y


def test_odd_outcomes_are_counted_right():
    assert factorial(12) == FACTORIAL
    assert sum(FACTORIAL // factorial(k - 1) - FACTORIAL // factorial(k) for k in range(1, 12, 2)) == ODD
    assert ODD / FACTORIAL < exp(-1) < (ODD + 1) / FACTORIAL


@given(st.integers(0, 2**52), st.integers(1, 2**52), st.integers())
@settings(max_examples=examples_of(200), deadline=None)
def test_bernoulli_exp_equals_its_slow_twin(u, t, seed):
    u = min(u, t)
    stream = seeded_entropy(seed).words(400).view(np.int64)
    twin = Words(stream)
    assert bernoulli_exp(stream, 0, u, t, 1) == (slow_bernoulli_exp(twin, Ratio(u, t)), twin.used)


@pytest.mark.parametrize(("u", "t"), [(0, 7), (1, 7), (3, 7), (7, 7), (999_999, 1_000_000)])
def test_bernoulli_exp_has_its_probability(u, t):
    stream, at, hits, n = seeded_entropy(5).words(400_000).view(np.int64), 0, 0, 40_000
    for _ in range(n):
        hit, at = bernoulli_exp(stream, at, u, t, 1)
        hits += hit
    assert at <= len(stream)
    assert binomtest(hits, n, exp(-u / t)).pvalue > 1e-3


def test_bernoulli_exp_one_has_its_probability():
    stream, at, hits, n = seeded_entropy(6).words(80_000).view(np.int64), 0, 0, 60_000
    for _ in range(n):
        hit, at = bernoulli_exp_one(stream, at)
        hits += hit
    assert at <= len(stream)
    assert binomtest(hits, n, exp(-1)).pvalue > 1e-3


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([0], (True, 1)),
        ([ODD - 1], (True, 1)),
        ([ODD], (False, 1)),
        ([FACTORIAL - 2], (False, 1)),
        ([FACTORIAL, ODD], (False, 2)),  # out of range: drawn again
        ([FACTORIAL - 1, 1], (True, 2)),  # twelve trials succeeded; the 13th, odd, fails
        ([FACTORIAL - 1, 0, 1], (False, 3)),  # the 14th, even, fails
        ([FACTORIAL - 1, 0, 0, 14], (True, 4)),
    ],
)
def test_bernoulli_exp_one_decides_by_hand(words, expected):
    assert bernoulli_exp_one(int_words(words), 0) == expected


@pytest.mark.parametrize(
    ("bound", "word", "expected"),
    [(1, 2**64 - 1, 0), (2, 2**64 - 1, 1), (5, 2**63 + 4, 4), (2**62, 2**64 - 1, 2**62 - 1)],
)
def test_below_cuts_the_word(bound, word, expected):
    assert below(int_words([word]), 0, bound) == (expected, 1)


def test_below_without_words_returns_its_bound():
    assert below(int_words([7, 6]), 0, 5) == (5, 3)
    assert below(int_words([]), 0, 5) == (5, 1)
    assert below(int_words([1]), 2, 5) == (5, 2)


@given(st.integers(1, 2**52) | st.integers(1, 50), st.integers(1, 2**62) | st.integers(1, 50), st.integers())
@settings(max_examples=examples_of(300), deadline=None)
def test_sample_equals_its_slow_twin(t, s, seed):
    stream = seeded_entropy(seed).words(2000).view(np.int64)
    twin = Words(stream)
    assert sample(stream, 0, t, s) == (slow_sample(twin, t, s), twin.used)


@given(
    st.lists(st.integers(0, 400), min_size=1, max_size=12),
    st.integers(1, 30),
    st.integers(),
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
)
@settings(deadline=None)
def test_fill_does_not_depend_on_where_the_words_end(numerators, s, seed, pieces):
    own = seeded_entropy(seed).words(1_000 * len(numerators)).view(np.int64).reshape(-1, 1_000)
    expected = [slow_sample(Words(row), t, s) if t else 0 for row, t in zip(own, numerators, strict=True)]
    noise, left = np.zeros(len(numerators), np.int64), np.arange(len(numerators))
    end, turn = 0, 0
    while len(left):
        end += pieces[turn % len(pieces)]
        assert end <= 1_000
        few = np.ascontiguousarray(own[left, :end])
        left, turn = left[: fill(noise, np.array(numerators), s, few, left)], turn + 1
    assert noise.tolist() == expected


@pytest.mark.parametrize(("at_once", "first"), [(1, 16), (200, 3), (1_000, 1), (2**14, 200)])
def test_noise_is_a_function_of_each_elements_own_words(monkeypatch: pytest.MonkeyPatch, at_once, first):
    # Large diameters: their noise changes with every word, where that of small ones is mostly 0 anyway.
    monkeypatch.setattr(feed_words, "_WORDS", at_once)
    monkeypatch.setattr(discrete, "_FIRST", first)
    diameters = np.tile(np.array([300, 0, 1, 7_000, 2**40, 2**45]), 500)
    own = by_element(seeded_entropy(9), len(diameters)).rows(slice(None), 400)
    noise = discrete_laplace(diameters, Fraction(7, 4), entropy=seeded_entropy(9))
    expected = [
        slow_sample(Words(row), int(d) * 4, 7) if d else 0 for row, d in zip(own, diameters, strict=True)
    ]
    assert noise.tolist() == expected
