"""Exact draws of the exponential mechanism with whole scores.

A candidate is drawn uniformly, and accepted with probability exp(−rate · (highest score − its score)); a
refused one is drawn anew. So each candidate is drawn with probability proportional to exp(rate · score). The
probability is the product of Bernoulli(exp(−1)) and one Bernoulli(exp(−u/t)), see `discrete_laplace_kernel`.

Source: McSherry and Talwar (2007); [DB 8.4].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.perturb.discrete_laplace_kernel import below, bernoulli_exp, bernoulli_exp_one


@kernel
def choose(words: NDArray[np.int64], at: int, scores: NDArray[np.int64], u: int, t: int) -> tuple[int, int]:
    """Draw one candidate at rate u/t. The place is past the end if words ran out."""
    highest = scores.max()
    while at <= len(words):
        candidate, at = below(words, at, len(scores))
        if at > len(words):
            break
        left = (highest - scores[candidate]) * u
        accepted = True
        while accepted and left >= t:
            accepted, at = bernoulli_exp_one(words, at)
            left -= t
        if accepted and left > 0:
            accepted, at = bernoulli_exp(words, at, left, t, 1)
        if accepted and at <= len(words):
            return candidate, at
    return 0, len(words) + 1


@kernel
def fill(
    chosen: NDArray[np.int64],
    scores: NDArray[np.int64],
    u: int,
    t: int,
    words: NDArray[np.int64],
    elements: NDArray[np.int64],
) -> int:
    """Write the candidates of some elements, as far as their words go; see `discrete_laplace_kernel.fill`.

    Args:
        chosen: (m,) written in place.
        scores: (m, candidates) whole numbers.
        u, t: the rate is u/t; t in [1, 2^52], and u times the largest difference of scores below 2^62.
        words: (e, w) uniform 64-bit words of each of these elements.
        elements: (e,) to draw; those that ran out of words are moved to the front.
    Returns:
        How many elements ran out of words.
    """
    left = 0
    for row in range(len(elements)):
        i = elements[row]
        candidate, after = choose(words[row], 0, scores[i], u, t)
        if after > words.shape[1]:
            elements[left] = i
            left += 1
        else:
            chosen[i] = candidate
    return left
