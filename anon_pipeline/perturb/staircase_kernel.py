"""The hot loop of exact staircase noise: random words in, noise out.

For the diameter D, the half width r of the middle step and ε = p/q, in integers alone:

1. draw U uniform on 0 … 2D−1 and G with P(G = g) ∝ exp(−g·ε), both independent;
2. G = 0: return U − (r−1) if U < 2r−1, else start again with new U and G;
3. G ≥ 1: the lowest bit of U is the sign, the others an offset on 0 … D−1: return ±(r + (G−1)·D + offset).

Why the result is exact: every pair (U, G) has a probability proportional to exp(−G·ε), and each integer of
the step G (0: |z| < r; j ≥ 1: r + (j−1)·D ≤ |z| < r + j·D) is the result of just one pair. G comes from
Canonne, Kamath and Steinke (2020), Algorithm 2: X = V·q + W has P(X = x) ∝ exp(−x/q), and G = floor(X/p).

No product overflows as long as D·q ≤ 2^52 and p ≤ 2^62, see `discrete_laplace_kernel`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.perturb.discrete_laplace_kernel import below, bernoulli_exp, bernoulli_exp_one


@kernel
def geometric(words: NDArray[np.int64], at: int, p: int, q: int) -> tuple[int, int]:
    """Draw G ≥ 0 with P(G = g) ∝ exp(−g·p/q); the place is past the end if the words ran out."""
    rest, accepted = 0, q == 1
    while not accepted and at <= len(words):
        rest, at = below(words, at, q)
        accepted, at = bernoulli_exp(words, at, rest, q, 1)
    more, at = bernoulli_exp_one(words, at)
    while more:
        rest += q
        more, at = bernoulli_exp_one(words, at)
    return rest // p, at


@kernel
def sample(
    words: NDArray[np.int64], at: int, shape: tuple[int, int], rate: tuple[int, int]
) -> tuple[int, int]:
    """Draw one staircase noise.

    Args:
        words: (w,) uniform 64-bit words.
        at: the first word not used yet.
        shape: D and r.
        rate: p and q of ε.
    Returns:
        The noise and the next word's place; a place past the end if words ran out.
    """
    diameter, middle = shape
    while at <= len(words):
        draw, at = below(words, at, 2 * diameter)
        step, at = geometric(words, at, rate[0], rate[1])
        if step > 0:
            size = middle + (step - 1) * diameter + (draw >> 1)
            return (-size if draw & 1 else size), at
        if draw < 2 * middle - 1:
            return draw - (middle - 1), at
    return 0, at


@kernel
def fill(
    noise: NDArray[np.int64],
    shapes: tuple[NDArray[np.int64], NDArray[np.int64]],
    rate: tuple[int, int],
    words: NDArray[np.int64],
    elements: NDArray[np.int64],
) -> int:
    """Write the noise of some elements, as far as their words go; see `discrete_laplace_kernel.fill`.

    Args:
        noise: (n,) written in place.
        shapes: (n,) diameters, 0 gives 0 and uses no word; (n,) half widths of the middle step, ≥ 1.
        rate: p and q of ε.
        words: (m, w) uniform 64-bit words of each of these elements.
        elements: (m,) to draw; those that ran out of words are moved to the front.
    """
    left = 0
    diameters, middles = shapes
    for row in range(len(elements)):
        i = elements[row]
        value, after = 0, 0
        if diameters[i] > 0:
            value, after = sample(words[row], 0, (diameters[i], middles[i]), rate)
        if after > words.shape[1]:
            elements[left] = i
            left += 1
        else:
            noise[i] = value
    return left
