"""The hot loop of exact discrete Gaussian noise: random words in, noise out.

Canonne, Kamath and Steinke (2020), Algorithm 3, in integers alone, for σ = a/b:

1. draw Y with P(Y = y) ∝ exp(−|y|/σ), by their Algorithm 2 (see `discrete_laplace_kernel`);
2. return it with probability exp(−(|y| − σ)²/(2σ²)), else start again.

The product of both is exp(−y²/(2σ²)) times a constant, so that the result has just that law. (They take the
proposal's scale to be floor(σ) + 1; any scale will do, and this one makes the exponent small.) With
e = | |y|·b − a | = k·a + ρ, 0 ≤ ρ < a, the exponent e²/(2a²) is k²/2 + k·ρ/a + ρ²/(2a²): a product of
Bernoulli trials whose numbers stay small.

No product overflows as long as a ≤ 2^27: that would take a trial beyond 2^7, and 1/(2^7)! is below 2^−700.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.perturb.discrete_laplace_kernel import below, bernoulli_exp, bernoulli_exp_one


@kernel
def bernoulli_square(words: NDArray[np.int64], at: int, e: int, a: int) -> tuple[bool, int]:
    """Draw Bernoulli(exp(−e²/(2a²))), e ≥ 0; the place is past the end if the words ran out."""
    whole, rest = e // a, e % a
    accepted = True
    for _ in range(whole * whole // 2):
        accepted, at = bernoulli_exp_one(words, at)
        if not accepted:
            return False, at
    if whole % 2 == 1:
        accepted, at = bernoulli_exp(words, at, 1, 2, 1)
        if not accepted:
            return False, at
    for _ in range(whole):
        accepted, at = bernoulli_exp(words, at, rest, a, 1)
        if not accepted:
            return False, at
    return bernoulli_exp(words, at, rest * rest, 2 * a * a, 1)


@kernel
def sample(words: NDArray[np.int64], at: int, a: int, b: int) -> tuple[int, int]:
    """Draw one discrete Gaussian of σ = a/b. The place is past the end if words ran out."""
    while at <= len(words):
        draw, at = below(words, at, 2 * a)
        x, negative = draw >> 1, draw & 1
        accepted, at = bernoulli_exp(words, at, x, a, 1)
        if not accepted:
            continue
        more, at = bernoulli_exp_one(words, at)
        while more:
            x += a
            more, at = bernoulli_exp_one(words, at)
        y = x // b
        if y == 0 and negative:
            continue
        accepted, at = bernoulli_square(words, at, abs(y * b - a), a)
        if accepted:
            return (-y if negative else y), at
    return 0, at


@kernel
def fill(
    noise: NDArray[np.int64],
    numerators: NDArray[np.int64],
    b: int,
    words: NDArray[np.int64],
    elements: NDArray[np.int64],
) -> int:
    """Write the noise of some elements, as far as their words go; see `discrete_laplace_kernel.fill`.

    Args:
        noise: (n,) written in place.
        numerators: (n,) a of each element's σ = a/b, in [0, 2^27]; 0 gives 0 and uses no word.
        b: denominator of all σ, ≥ 1.
        words: (m, w) uniform 64-bit words of each of these elements.
        elements: (m,) to draw; those that ran out of words are moved to the front.
    """
    left = 0
    for row in range(len(elements)):
        i = elements[row]
        value, after = 0, 0
        if numerators[i] > 0:
            value, after = sample(words[row], 0, numerators[i], b)
        if after > words.shape[1]:
            elements[left] = i
            left += 1
        else:
            noise[i] = value
    return left
