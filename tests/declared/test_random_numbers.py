"""Random numbers have the laws that they are drawn by, and are made of a cipher's key stream."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.perturb.entropy import Entropy, seeded_entropy
from anon_pipeline.perturb.keys import NoiseKey


def test_permutations_are_equally_likely() -> None:
    random = RandomNumbers(0)
    counts = Counter(tuple(random.permutation(4).tolist()) for _ in range(12_000))
    assert len(counts) == 24 and chisquare(list(counts.values())).pvalue > 1e-4


def test_integers_are_uniform_below_their_own_bounds() -> None:
    drawn = RandomNumbers(0).below(np.tile([1, 3, 10], 20_000)).reshape(-1, 3)
    assert set(drawn[:, 0]) == {0}
    for place, bound in ((1, 3), (2, 10)):
        assert chisquare(np.bincount(drawn[:, place], minlength=bound)).pvalue > 1e-4


def test_floats_have_their_laws() -> None:
    random = RandomNumbers(0)
    uniform, normal = random.uniform(50_000), random.normal(50_000)
    assert kstest(uniform, "uniform").pvalue > 1e-4 and kstest(normal, "norm").pvalue > 1e-4
    assert np.isfinite(normal).all() and 0 < uniform.min() < uniform.max() < 1


def test_floats_are_the_words_of_the_stream() -> None:
    words = seeded_entropy(7).words(100)
    assert (RandomNumbers(7).uniform(100) == [((int(word) >> 12) * 2 + 1) / 2**53 for word in words]).all()


def test_the_last_float_is_below_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Entropy, "words", lambda _, count: np.full(count, 2**64 - 1, np.uint64))
    assert RandomNumbers(0).uniform(1)[0] < 1 and np.isfinite(RandomNumbers(0).normal(1)[0])


def test_streams_differ_by_key_and_title() -> None:
    key, other = NoiseKey(bytes(32)), NoiseKey(bytes(31) + b"x")
    drawn = [
        tuple(RandomNumbers.of_key(*one).permutation(50).tolist())
        for one in ((key, b"a"), (key, b"a"), (key, b"b"), (other, b"a"))
    ]
    assert drawn[0] == drawn[1] and len(set(drawn)) == 3
