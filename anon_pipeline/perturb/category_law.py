"""Mechanisms for categories: randomized response, the exponential mechanism and PRAM, and their law.

A column's values are the leaves of a public domain. The first two release a leaf with a probability that
depends on one thing, the level on which it and the original meet: for randomized response it is enough
whether they are the same, for the exponential mechanism it falls with their semantic distance. PRAM releases
the original, or else a leaf by public shares, whatever the original.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.perturb.post_randomization import matrix, whole_weights

LARGEST_EPSILON = 1_000
"""Of a column with categories; there the original goes with probability exp(−500) at most."""

STEPS = 2**16
"""Steps of the semantic distance from 0 to its largest value in a domain."""

_LARGEST_CONDITION = 1e12  # of a matrix whose inverse still has digits that count
_PARTS = 64
_ROUNDING = 1 - 1e-9  # far above what float64 may be off

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """All values that a column may have, D of them, on h levels of a hierarchy; public.

    values: (D,) leaves, in the order of their codes.
    lookups: h arrays (D,), code on that level of each leaf, never decreasing; the first distinguishes all
        leaves apart, the last is all zero.
    """

    values: tuple[str, ...] = field(repr=False)
    lookups: tuple[Integers, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise PolicyError(f"a domain must have at least 2 values, got {len(self.values)}.")

    @property
    def digest(self) -> str:
        """SHA-256 of the values and how they lie."""
        said = [list(self.values), [lookup.tolist() for lookup in self.lookups]]
        return hashlib.sha256(json.dumps(said, separators=(",", ":")).encode()).hexdigest()

    def balls(self) -> tuple[Integers, Integers]:
        """Return for each level and leaf where the leaves begin that meet it there or below, and how many.

        Returns:
            Two arrays (h, D). The leaves of a ball are neighbors.
        """
        starts, sizes = [], []
        for lookup in self.lookups:
            counts = np.bincount(lookup)
            starts.append((np.cumsum(counts) - counts)[lookup])
            sizes.append(counts[lookup])
        return np.stack(starts).astype(np.int64), np.stack(sizes).astype(np.int64)

    def rings(self) -> Integers:
        """Return how many leaves meet each leaf first on each level, (h, D)."""
        _, sizes = self.balls()
        return np.diff(sizes, axis=0, prepend=0)

    def meeting_levels(self) -> Integers:
        """Return the lowest level on which two leaves meet, (D, D); 0 on the diagonal."""
        found = np.full((len(self.values),) * 2, len(self.lookups) - 1, np.int64)
        for level in range(len(self.lookups) - 2, -1, -1):
            lookup = self.lookups[level]
            found[lookup[:, None] == lookup] = level
        return found


def flat_domain(values: Sequence[str]) -> Domain:
    """Return the domain of values that are equally far apart, in their order."""
    return Domain(tuple(values), (np.arange(len(values)), np.zeros(len(values), np.int64)))


def hierarchy_domain(hierarchy: Hierarchy) -> Domain:
    """Return the domain of a hierarchy's leaves; it must be one that does not depend on data."""
    return Domain(tuple(str(value) for value in hierarchy.values[0]), hierarchy.lookups)


@dataclass(frozen=True, slots=True)
class CategoryNoise:
    """What a column of categories is released under.

    mechanism: one of `CATEGORY_MECHANISMS`.
    epsilon: the column's own ε, exact, in (0, 1000].
    domain: its values.
    shares: (D,) by which PRAM draws, in any proportion; none: all alike.
    """

    mechanism: str
    epsilon: Fraction
    domain: Domain
    shares: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if self.mechanism not in CATEGORY_MECHANISMS:
            raise ValueError(f"mechanism must be one of {', '.join(CATEGORY_MECHANISMS)}.")
        if not 0 < self.epsilon <= LARGEST_EPSILON:
            raise PolicyError(
                f"epsilon of a column with categories must be in (0, {LARGEST_EPSILON}], got "
                f"{float(self.epsilon):g}."
            )
        if self.shares and (len(self.shares) != len(self.domain.values) or min(self.shares) <= 0):
            raise ValueError("shares must be one for each value of the domain, each above 0.")

    @property
    def draws_by_shares(self) -> bool:
        """Whether another value is drawn by shares, whatever the original."""
        return CATEGORY_MECHANISMS[self.mechanism].by_shares

    @property
    def draw_weights(self) -> tuple[int, ...]:
        """Return the shares as whole numbers, (D,), see `post_randomization.whole_weights`."""
        return whole_weights(self.shares or (Fraction(1),) * len(self.domain.values))


def semantic_distances(height: int) -> Reals:
    """Return the semantic distance of two leaves by the level on which they meet, (h,).

    Leaves that meet on level l have h + l ancestors together, themselves included, and 2l of them alone:
    log₂(1 + 2l/(h + l)).

    Args:
        height: h, levels of the hierarchy, the leaves' own included.
    Source:
        [DB (9.6)]. An ancestor of the same name on two levels counts twice.
    """
    levels = np.arange(height)
    return np.log2(1 + 2 * levels / (height + levels))


def level_distances(domain: Domain) -> Integers:
    """Return the semantic distance by level, as whole steps of the largest one in the domain, (h,).

    Levels above the one where all leaves have met do not occur; they have the largest distance, too.
    """
    found = semantic_distances(len(domain.lookups))
    top = next(level for level, lookup in enumerate(domain.lookups) if not lookup.any())
    return np.array([round(STEPS * min(each / found[top], 1.0)) for each in found.tolist()], np.int64)


def exponents(noise: CategoryNoise) -> tuple[Fraction, ...]:
    """Return γ of each level, (h,): the mechanism releases o for x with P ∝ exp(−γ), γ of their level.

    Not for PRAM, whose probabilities do not depend on levels.

    For ``randomized_response`` 0 for x itself, ε for all others. For ``exponential`` λ·d/Δ. The numerators of
    two probabilities differ by exp(λ) at most, the normalizing constants Z by what they are: λ is the
    largest of the 64ths of ε from ½ to 1 that keeps λ + ln(max Z/min Z) ≤ ε. Where all x have as many others
    at each distance, that is ε itself; ε/2, the mechanism's usual constant, always does.

    Source:
        [DB 8.4, (9.5)]; McSherry and Talwar (2007).
    """
    if not CATEGORY_MECHANISMS[noise.mechanism].by_distance:
        return (Fraction(0), *[noise.epsilon] * (len(noise.domain.lookups) - 1))
    most = noise.epsilon * _part(noise) / STEPS
    return tuple(most * each for each in level_distances(noise.domain).tolist())


def _part(noise: CategoryNoise) -> Fraction:
    """Return λ/ε of the exponential mechanism."""
    rings = np.unique(noise.domain.rings(), axis=1)
    if rings.shape[1] == 1:
        return Fraction(1)
    epsilon, far = float(noise.epsilon), level_distances(noise.domain) / STEPS
    tried = np.arange(_PARTS, _PARTS // 2, -1)
    exponent = tried / _PARTS * epsilon
    constants = np.exp(-exponent[:, None] * far) @ rings
    keeps = exponent + np.log(constants.max(axis=1) / constants.min(axis=1)) <= epsilon * _ROUNDING
    return Fraction(int(tried[keeps.argmax()]), _PARTS) if keeps.any() else Fraction(1, 2)


def _weights(noise: CategoryNoise) -> tuple[Reals, Reals]:
    """Return exp(−γ) of each level, (h,), and the normalizing constant of each leaf, (D,)."""
    weights = np.array([math.exp(-each) for each in exponents(noise)])
    return weights, weights @ noise.domain.rings()


def pmf(noise: CategoryNoise) -> Reals:
    """Return the probability of every released value (column) for every original (row), (D, D)."""
    if noise.draws_by_shares:
        return matrix(noise.draw_weights, noise.epsilon)
    weights, whole = _weights(noise)
    return weights[noise.domain.meeting_levels()] / whole[:, None]


def keep_probabilities(noise: CategoryNoise) -> Reals:
    """Return the probability that the original is released, for each value, (D,)."""
    if noise.draws_by_shares:
        return np.diag(matrix(noise.draw_weights, noise.epsilon)).copy()
    return 1 / _weights(noise)[1]


def expected_distance(noise: CategoryNoise) -> Reals:
    """Return the mean distance of what is released from each value, (D,), in [0, 1].

    It is the semantic distance divided by the domain's largest; without a hierarchy the probability that
    another value is released.
    """
    far = level_distances(noise.domain) / STEPS
    if noise.draws_by_shares:
        law = matrix(noise.draw_weights, noise.epsilon)
        found: Reals = (law * far[noise.domain.meeting_levels()]).sum(axis=1)
        return found
    weights, whole = _weights(noise)
    return (weights * far) @ noise.domain.rings() / whole


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """What the originals' frequencies are estimated to be.

    shares: (D,) unbiased; they sum to 1, single ones may be negative.
    variances: (D,) of the shares, by the noise alone; unbiased, too.
    """

    shares: Reals = field(repr=False)
    variances: Reals = field(repr=False)


def estimated_frequencies(noise: CategoryNoise, counts: NDArray[np.int64]) -> Frequencies:
    """Estimate the frequencies of the originals from those of the released values.

    Args:
        counts: (D,) released records of each value.
    Raises:
        ValueError: no records, or not one count per value; or ε is so small that released values say nothing.
    Source:
        Warner (1965); for randomized response the share is (c/n − q)/(p − q), p the probability of the
        original and q that of each other value.
    """
    n = int(counts.sum())
    if len(counts) != len(noise.domain.values) or not n:
        raise ValueError("counts must be one per value of the domain, with at least one record.")
    law = pmf(noise)
    if np.linalg.cond(law) > _LARGEST_CONDITION:
        raise ValueError("epsilon is too small: released values say nothing of the originals.")
    inverse = np.linalg.inv(law)
    shares = counts / n @ inverse
    # Var Σ_o c_o·a_o = Σ_x n_x·(Σ_o P(o|x)·a_o² − (Σ_o P(o|x)·a_o)²); the inner sum is 1 for one x, else 0
    variances = shares @ (law @ np.square(inverse)) - shares
    return Frequencies(shares, variances / n)


def percent_down(probability: float) -> str:
    """Return a probability in percent, with as many digits as tell it from 100, never more than it is.

    >>> percent_down(0.12345), percent_down(0.9996646), percent_down(0.99999999)
    ('12.3', '99.966', '99.999')
    """
    percents, digits = 100 * probability, 1 if probability < 0.99 else 3
    return f"{math.floor(percents * 10**digits) / 10**digits:g}"
