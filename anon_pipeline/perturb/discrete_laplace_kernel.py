"""The hot loop of exact discrete Laplace noise: random words in, noise out.

Canonne, Kamath and Steinke (2020), Algorithm 2, in integers alone. For the scale t/s:

1. draw U uniform on 0 … t−1 and a fair sign; start again with probability 1 − exp(−U/t);
2. draw V with P(V ≥ v) = exp(−v); then X = U + t·V has P(X = x) ∝ exp(−x/t), x = 0, 1, …;
3. Y = floor(X/s) has P(Y = y) ∝ exp(−y·s/t); start again at minus zero, else return sign·Y.

Why the result is exact:

* Uniform integers below a bound come from rejection (`below`); U and the sign are the upper bits and the
  lowest bit of one uniform integer below 2t.
* Bernoulli(exp(−u/t)), u ≤ t, is Algorithm 1: the number k of the first failing Bernoulli(u/(t·k)) trial,
  k = 1, 2, …, is odd with probability exp(−u/t) (the alternating series of exp).
* Bernoulli(exp(−1)) is Algorithm 1 with u = t, its first twelve trials decided by one uniform integer
  below 12!: all of the first k succeed with probability 1/k!, so every outcome up to k = 12 has a whole
  number of the 12! integers. `ODD` of them are outcomes with an odd k, one (the last) is "all twelve
  succeed", where the trials go on at k = 13.

No product overflows as long as t ≤ 2^52: that would take k or V ≥ 2^10, and P(V ≥ 2^10) = exp(−2^10) is
below 2^−1400.

When the words run out, `below` returns its bound, which every comparison here takes for a failed trial, so
that all loops end; the position one past the end signals it to the caller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel

FACTORIAL = 479_001_600
"""12!"""
ODD = 176_214_840
"""Σ over odd k ≤ 12 of 12!/(k−1)! − 12!/k!"""


@kernel
def below(words: NDArray[np.int64], at: int, bound: int) -> tuple[int, int]:
    """Draw a uniform integer in [0, bound), bound in [1, 2^62].

    Args:
        words: (w,) uniform 64-bit words.
        at: the first word not used yet.
    Returns:
        The integer and the next word's place; (bound, w + 1) if the words ran out.
    """
    mask = bound - 1
    mask |= mask >> 1
    mask |= mask >> 2
    mask |= mask >> 4
    mask |= mask >> 8
    mask |= mask >> 16
    mask |= mask >> 32
    while at < len(words):
        value = words[at] & mask
        at += 1
        if value < bound:
            return value, at
    return bound, len(words) + 1


@kernel
def bernoulli_exp(words: NDArray[np.int64], at: int, u: int, t: int, k: int) -> tuple[bool, int]:
    """Draw Bernoulli(exp(−u/t)), 0 ≤ u ≤ t, from its trial k on (1: from the beginning): Algorithm 1."""
    while True:
        draw, at = below(words, at, t * k)
        if draw >= u:
            return k % 2 == 1, at
        k += 1


@kernel
def bernoulli_exp_one(words: NDArray[np.int64], at: int) -> tuple[bool, int]:
    """Draw Bernoulli(exp(−1)), twelve trials of Algorithm 1 at once."""
    draw, at = below(words, at, FACTORIAL)
    if draw == FACTORIAL - 1:
        return bernoulli_exp(words, at, 1, 1, 13)
    return draw < ODD, at


@kernel
def sample(words: NDArray[np.int64], at: int, t: int, s: int) -> tuple[int, int]:
    """Draw one discrete Laplace of scale t/s: Algorithm 2. The place is past the end if words ran out."""
    while at <= len(words):
        draw, at = below(words, at, 2 * t)
        u, negative = draw >> 1, draw & 1
        accepted, at = bernoulli_exp(words, at, u, t, 1)
        if not accepted:
            continue
        x = u
        more, at = bernoulli_exp_one(words, at)
        while more:
            x += t
            more, at = bernoulli_exp_one(words, at)
        y = x // s
        if y == 0 and negative:
            continue
        return (-y if negative else y), at
    return 0, at


@kernel
def fill(
    noise: NDArray[np.int64],
    numerators: NDArray[np.int64],
    s: int,
    words: NDArray[np.int64],
    elements: NDArray[np.int64],
) -> int:
    """Write the noise of some elements, as far as their words go.

    Args:
        noise: (n,) written in place.
        numerators: (n,) t of each element, in [0, 2^52]; 0 gives 0 and uses no word.
        s: denominator of all scales, ≥ 1.
        words: (m, w) uniform 64-bit words of each of these elements.
        elements: (m,) to draw; those that ran out of words are moved to the front.
    Returns:
        How many elements ran out of words. They must be drawn again from the same words with more after
        them. How many words an element uses depends on its value, so starting it again on fresh words would
        make those values rarer that use many.
    """
    left = 0
    for row in range(len(elements)):
        i = elements[row]
        value, after = 0, 0
        if numerators[i] > 0:
            value, after = sample(words[row], 0, numerators[i], s)
        if after > words.shape[1]:
            elements[left] = i
            left += 1
        else:
            noise[i] = value
    return left
