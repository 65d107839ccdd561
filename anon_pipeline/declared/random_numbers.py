"""The random numbers of a release with declared columns, beside its noise: orders, draws, choices.

They are made of a cipher's key stream. The generators of NumPy are made for simulation: whoever knows some of
their numbers, because he knows which rows of a release belong together, can compute all others.
"""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from anon_pipeline.perturb.entropy import integers_below, seeded_entropy
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.stages.shuffle import permutation

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

_BITS = 52  # with half a step more they are exact


class RandomNumbers:
    """A stream of random numbers, see `perturb.entropy`; equal seeds give equal streams.

    Not for use by several threads at once.
    """

    __slots__ = ("_entropy",)

    def __init__(self, seed: int) -> None:
        self._entropy = seeded_entropy(seed)

    @classmethod
    def of_key(cls, key: NoiseKey, title: bytes) -> RandomNumbers:
        """Return the stream that a release's key has for one purpose.

        Args:
            title: the purpose; streams of different titles have nothing in common.
        """
        return cls(int.from_bytes(hmac.new(key.secret, title, hashlib.sha256).digest(), "little"))

    def permutation(self, count: int) -> Integers:
        """Draw a permutation of 0 … count−1, all equally likely."""
        return permutation(count, entropy=self._entropy)

    def below(self, bounds: Integers) -> Integers:
        """Draw a uniform integer in [0, bound) for each bound, (n,).

        Args:
            bounds: (n,) ≥ 1.
        """
        return integers_below(bounds, entropy=self._entropy)

    def uniform(self, count: int) -> Reals:
        """Draw uniform numbers in (0, 1), (count,): odd multiples of 2⁻⁵³."""
        words = self._entropy.words(count) >> np.uint64(64 - _BITS)
        return (words.astype(np.float64) + 0.5) * 2.0**-_BITS

    def normal(self, count: int) -> Reals:
        """Draw numbers with the standard normal distribution, (count,), by inversion."""
        found: Reals = ndtri(self.uniform(count))
        return found
