"""The kernels of the staircase and the discrete Gaussian against their algorithms, word for word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.perturb import discrete_gaussian_kernel, staircase_kernel
from anon_pipeline.perturb.entropy import seeded_entropy
from tests.example_counts import examples_of


class Words:
    """Words in a row, how many were used, and the Bernoulli trials of Canonne, Kamath and Steinke."""

    def __init__(self, words: np.ndarray) -> None:
        self.words: Iterator[int] = iter(words.view(np.uint64).tolist())
        self.used = 0

    def below(self, bound: int) -> int:
        while True:
            self.used += 1
            value = next(self.words) % 2 ** (bound - 1).bit_length()
            if value < bound:
                return value

    def exp(self, numerator: int, denominator: int, k: int = 1) -> bool:
        """Bernoulli(exp(−γ)), γ ≤ 1 not in lowest terms: trials γ/k until one fails; its k is odd."""
        while self.below(denominator * k) < numerator:
            k += 1
        return k % 2 == 1

    def exp_one(self) -> bool:
        outcomes = factorial(12)
        draw = self.below(outcomes)
        if draw == outcomes - 1:
            return self.exp(1, 1, 13)
        return draw < sum(outcomes // factorial(k - 1) - outcomes // factorial(k) for k in range(1, 12, 2))


def slow_staircase(words: Words, diameter: int, middle: int, epsilon: tuple[int, int]) -> int:
    p, q = epsilon
    while True:
        offset, negative = divmod(draw := words.below(2 * diameter), 2)
        x = 0
        if q > 1:
            x = words.below(q)
            while not words.exp(x, q):
                x = words.below(q)
        while words.exp_one():
            x += q
        step = x // p
        if step:
            return (-1 if negative else 1) * (middle + (step - 1) * diameter + offset)
        if draw < 2 * middle - 1:
            return draw - (middle - 1)


def slow_gaussian(words: Words, a: int, b: int) -> int:
    """Algorithm 3 for σ = a/b, the scale of the proposal σ itself."""
    while True:
        u, negative = divmod(words.below(2 * a), 2)
        if not words.exp(u, a):
            continue
        x = u
        while words.exp_one():
            x += a
        y = x // b
        if not (negative and y == 0) and slow_square(words, abs(y * b - a), a):
            return -y if negative else y


def slow_square(words: Words, e: int, a: int) -> bool:
    """Bernoulli(exp(−e²/(2a²))) as trials whose exponents add up to that."""
    whole, rest = divmod(e, a)
    trials: list[tuple[int, int] | None] = [None] * (whole * whole // 2)
    trials += [(1, 2)] * (whole % 2) + [(rest, a)] * whole + [(rest * rest, 2 * a * a)]
    total = sum(Fraction(1) if t is None else Fraction(*t) for t in trials)
    assert total == Fraction(e * e, 2 * a * a)
    return all(words.exp_one() if trial is None else words.exp(*trial) for trial in trials)


SHAPES = st.integers(1, 2**52).flatmap(lambda d: st.tuples(st.just(d), st.integers((d + 7) // 8, d)))
RATES = st.tuples(st.integers(1, 40), st.integers(1, 40))


@given(SHAPES, RATES, st.integers())
@settings(max_examples=examples_of(200))
def test_the_staircase_equals_its_slow_twin(shape, rate, seed) -> None:
    stream = seeded_entropy(seed).words(6000).view(np.int64)
    twin = Words(stream)
    expected = slow_staircase(twin, *shape, rate)
    assert staircase_kernel.sample(stream, 0, shape, rate) == (expected, twin.used)


@given(st.integers(1, 2**27) | st.integers(1, 60), st.integers(1, 64), st.integers())
@settings(max_examples=examples_of(300))
def test_the_gaussian_equals_its_slow_twin(a, b, seed) -> None:
    stream = seeded_entropy(seed).words(4000).view(np.int64)
    twin = Words(stream)
    assert discrete_gaussian_kernel.sample(stream, 0, a, b) == (slow_gaussian(twin, a, b), twin.used)


@given(st.integers(0, 2**29) | st.integers(0, 300), st.integers(1, 2**27) | st.integers(1, 60), st.integers())
@settings(max_examples=examples_of(300))
def test_the_square_equals_its_slow_twin(e, a, seed) -> None:
    e = min(e, 12 * a)
    stream = seeded_entropy(seed).words(1000).view(np.int64)
    twin = Words(stream)
    assert discrete_gaussian_kernel.bernoulli_square(stream, 0, e, a) == (slow_square(twin, e, a), twin.used)


Fill = Callable[[np.ndarray, np.ndarray, np.ndarray], int]
OWN = 3_000  # words of each element, more than any will use


def in_pieces(fill: Fill, words: np.ndarray, pieces: list[int]) -> list[int]:
    """Call a kernel with few words of each element at first, and more for those that ran out."""
    noise, left, end, turn = np.zeros(len(words), np.int64), np.arange(len(words)), 0, 0
    while len(left):
        end += pieces[turn % len(pieces)]
        assert end <= OWN
        before = set(left.tolist())
        left = left[: fill(noise, np.ascontiguousarray(words[left, :end]), left)]
        assert set(left.tolist()) <= before
        turn += 1
    return noise.tolist()


PIECES = st.lists(st.integers(1, 9), min_size=1, max_size=5)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=8), RATES, st.integers(), PIECES)
@settings(max_examples=examples_of(60))
def test_the_staircase_does_not_depend_on_where_the_words_end(diameters, rate, seed, pieces) -> None:
    own = seeded_entropy(seed).words(OWN * len(diameters)).view(np.int64).reshape(-1, OWN)
    shapes = (np.array(diameters), np.maximum(np.array(diameters) // 3, 1))
    triples = zip(own, *(shape.tolist() for shape in shapes), strict=True)
    expected = [slow_staircase(Words(row), d, r, rate) if d else 0 for row, d, r in triples]
    found = in_pieces(
        lambda noise, words, left: staircase_kernel.fill(noise, shapes, rate, words, left), own, pieces
    )
    assert found == expected


@given(st.lists(st.integers(0, 400), min_size=1, max_size=8), st.integers(1, 20), st.integers(), PIECES)
@settings(max_examples=examples_of(60))
def test_the_gaussian_does_not_depend_on_where_the_words_end(numerators, b, seed, pieces) -> None:
    own = seeded_entropy(seed).words(OWN * len(numerators)).view(np.int64).reshape(-1, OWN)
    expected = [slow_gaussian(Words(row), a, b) if a else 0 for row, a in zip(own, numerators, strict=True)]
    found = in_pieces(
        lambda noise, words, left: discrete_gaussian_kernel.fill(noise, np.array(numerators), b, words, left),
        own,
        pieces,
    )
    assert found == expected


@pytest.mark.parametrize("count", range(40))
def test_without_enough_words_a_sample_is_past_the_end(count) -> None:
    stream = np.zeros(count, np.int64) - 1  # trials that are drawn again and again, or fail
    assert staircase_kernel.sample(stream, 0, (5, 2), (3, 7))[1] == count + 1
    assert discrete_gaussian_kernel.sample(stream, 0, 5, 16)[1] == count + 1
