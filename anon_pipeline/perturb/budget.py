"""The privacy budget in exact numbers: ε is what the policy's text says and is split without rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from anon_pipeline.base.errors import PolicyError


def exact_fraction(number: float) -> Fraction:
    """Return the number that the decimal text of a float says, not its binary neighbor.

    Args:
        number: a policy value; finite.
    Raises:
        PolicyError: NaN or infinite.

    >>> exact_fraction(0.1)
    Fraction(1, 10)
    """
    if not math.isfinite(number):
        raise PolicyError(f"a number of the policy must be finite, got {number}. Write it in decimals.")
    return Fraction(repr(float(number)))


def split_epsilon(epsilon: Fraction, weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Split the ε of a record over its columns: ε_c = ε·w_c/Σw.

    The shares add up to ε exactly, so that releasing all columns costs what the policy declares
    (sequential composition); a copied column takes its share from the others.

    Args:
        epsilon: budget of a record, > 0.
        weights: (p,) one per perturb column, > 0.
    Returns:
        (p,) shares, > 0; empty without columns.
    Raises:
        PolicyError: ε or weights that are not positive, all of them named by position.
    Source:
        [methods 5].

    >>> split_epsilon(Fraction(2), [Fraction(1), Fraction(3)])
    (Fraction(1, 2), Fraction(3, 2))
    """
    problems = [] if epsilon > 0 else [f"epsilon must be > 0, got {epsilon}. Declare a positive epsilon."]
    problems += [
        f"weight {position} of the epsilon split must be > 0, got {weight}. Declare a positive weight."
        for position, weight in enumerate(weights)
        if weight <= 0
    ]
    if problems:
        raise PolicyError(problems)
    total = sum(weights, start=Fraction(0))
    return tuple(epsilon * weight / total for weight in weights)
