"""Exact draws of categories: whole random words against thresholds that are known to any number of bits.

1. Draw the level on which the released leaf meets the original: a uniform real number u in [0, 1), of which
   the first 62 bits are drawn, against the cumulative probabilities of the levels. These are irrational
   (quotients of sums of exp(−γ), γ rational), so they are compared by the whole part of 2^62 times each.
   Where that equals the bits of u, the comparison is open: 62 more bits are drawn and compared with 124 of
   the probability, and so on. The outcome is that of the real number u, without any rounding.
2. Draw one of the leaves that meet the original first on that level, by a uniform integer.

The whole parts come from decimal arithmetic with a bound on its error; where the bound leaves two whole parts
open, there are more digits.

PRAM has rational probabilities: a uniform integer decides whether the original is released, another one which
value is drawn by the shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.perturb.category_law import CategoryNoise, exponents
from anon_pipeline.perturb.keys import Source, Words, by_element, integers_each
from anon_pipeline.perturb.post_randomization import DRAWING_STEPS, drawn_steps

_BITS = 62  # of a uniform number, in the first draw and in each one that refines it
_SLACK = (
    8  # decimal digits that may be lost: 3 by exponents up to 1,000, 4 by at most 2,000 roundings, 1 more
)


def thresholds(rings: Sequence[int], gammas: Sequence[Fraction], bits: int) -> list[int]:
    """Return the whole part of 2^bits times each cumulative probability of the levels but the last, (h−1,).

    Args:
        rings: (h,) leaves that meet the original first on each level; 1 on the first.
        gammas: (h,) of each level, in [0, 1000], the first 0; see `category_law.exponents`.
        bits: ≥ 1.
    """
    digits = 20 + _SLACK + bits // 3
    while True:
        found = _whole_parts(rings, gammas, bits, digits)
        if found is not None:
            return found
        digits *= 2


def _whole_parts(
    rings: Sequence[int], gammas: Sequence[Fraction], bits: int, digits: int
) -> list[int] | None:
    """Return what `thresholds` does, None where so many digits do not decide it."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = digits, MIN_EMIN, MAX_EMAX
        masses = [
            count * (-Decimal(gamma.numerator) / Decimal(gamma.denominator)).exp()
            for count, gamma in zip(rings, gammas, strict=True)
        ]
        whole, sure, found = sum(masses, Decimal(0)), Decimal(10) ** (_SLACK - digits), []
        for level in range(len(masses) - 1):
            if not any(rings[level + 1 :]):
                found.append(2**bits)  # no leaf is further away: u lies below 1
                continue
            value = sum(masses[: level + 1], Decimal(0)) / whole * 2**bits
            low, high = int(value * (1 - sure)), int(value * (1 + sure))
            if low != high:
                return None
            found.append(low)
    return found


def draw_categories(
    noise: CategoryNoise, codes: NDArray[np.int64], *, entropy: Source, bits: int = _BITS
) -> NDArray[np.int64]:
    """Draw what is released for each original, exactly.

    Args:
        noise: what the column is released under.
        codes: (n,) originals, 0 … D−1.
        bits: of a uniform number that are drawn at once, 1 … 62; any give the same law.
    Returns:
        (n,) codes, independent.
    Raises:
        ValueError: a code outside of the domain.
    """
    starts, sizes = noise.domain.balls()
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < sizes.shape[1]:
        raise ValueError("codes must be of values of the domain.")
    words = by_element(entropy, len(codes))
    if noise.draws_by_shares:
        return _draw_by_shares(noise, codes, words=words)
    rings = np.diff(sizes, axis=0, prepend=0)
    level = _levels(rings, exponents(noise), codes, words=words, bits=bits)
    drawn = starts[level, codes] + integers_each(rings[level, codes], words=words.of_part(1))
    inner = np.maximum(level - 1, 0)
    beyond = (level > 0) & (drawn >= starts[inner, codes])
    return drawn + np.where(beyond, sizes[inner, codes], 0)


def _draw_by_shares(noise: CategoryNoise, codes: NDArray[np.int64], *, words: Words) -> NDArray[np.int64]:
    """Draw the original, or a value by the shares, (n,)."""
    steps = drawn_steps(noise.draw_weights, noise.epsilon)
    anew = integers_each(np.full(len(codes), DRAWING_STEPS), words=words) < steps
    ends = np.cumsum(np.array(noise.draw_weights, np.int64))
    drawn = integers_each(np.full(len(codes), ends[-1]), words=words.of_part(1))
    return np.where(anew, np.searchsorted(ends, drawn, side="right"), codes)


def _levels(
    rings: NDArray[np.int64],
    gammas: tuple[Fraction, ...],
    codes: NDArray[np.int64],
    *,
    words: Words,
    bits: int,
) -> NDArray[np.int64]:
    """Draw the level on which each original, (n,), and what is released for it meet, (n,)."""
    kinds, place = np.unique(rings, axis=1, return_inverse=True)
    own = place.reshape(-1)[codes]
    counts = kinds.T.tolist()
    limits = np.array([thresholds(kind, gammas, bits) for kind in counts], np.int64).T
    drawn = _uniform(words, slice(None), 0, bits)
    levels, open_ = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.bool_)
    for limit in limits:
        levels += drawn > limit[own]
        open_ |= drawn == limit[own]
    for i in np.flatnonzero(open_).tolist():
        levels[i] = _refine(i, counts[own[i]], gammas, words=words, bits=bits)
    return levels


def _uniform(words: Words, at: NDArray[np.int64] | slice, number: int, bits: int) -> NDArray[np.int64]:
    """Return the first bits of one word of some elements."""
    drawn = words.rows(at, 1, first=number)[:, 0].view(np.uint64)
    return (drawn >> np.uint64(64 - bits)).astype(np.int64)


def _refine(
    element: int, rings: Sequence[int], gammas: tuple[Fraction, ...], *, words: Words, bits: int
) -> int:
    """Decide a level with more bits of an element's uniform number: those of its next words."""
    drawn, number, at = 0, 0, np.array([element])
    while True:
        drawn, number = drawn << bits | int(_uniform(words, at, number, bits)[0]), number + 1
        if number == 1:
            continue
        limits = thresholds(rings, gammas, bits * number)
        if drawn not in limits:
            return sum(drawn > limit for limit in limits)
