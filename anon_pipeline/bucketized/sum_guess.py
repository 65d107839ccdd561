"""An attacker who knows that a secret number is a sum of multiples, or a product of powers, of other numbers.

Who knows base pay and bonus knows the total pay: he needs no bucket to learn such a rule. It is fitted to the
data here, so that nobody has to say it; of a loose rule the nearest value in the bucket is a guess.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

_LEAST = 30
"""Records beyond the numbers that a rule is fitted with, see `risk.explained_share.LEAST`."""


def right_by_sums(numbers: Reals, secrets: Reals, answers: Integers, groups: Integers) -> float:
    """Return the share of records whose answer belongs to the value of their group nearest to a fitted rule.

    Args:
        numbers: (n, p) that the attacker knows.
        secrets: (n,) numbers that he wants to know.
        answers: (n,) codes of what counts as the same secret; equal for equal secrets.
        groups: (n,) 0 … m − 1: a record's secret is one of those in its group.
    Returns:
        The larger share of sums and, where all numbers are above 0, of products; 0 where p is 0, or there are
        fewer than `_LEAST` records beyond p + 1.
    """
    if not numbers.shape[1] or len(secrets) - numbers.shape[1] - 1 < _LEAST:
        return 0.0
    return max(_right_nearest(guess, secrets, answers, groups) for guess in _guesses(numbers, secrets))


def _guesses(numbers: Reals, secrets: Reals) -> Iterator[Reals]:
    """Yield what sums, and then products, say of each record, (n,)."""
    yield _least_squares(numbers, secrets)
    positive = (numbers > 0).all(axis=0)
    if positive.any() and (secrets > 0).all():
        logarithms = _least_squares(np.log(numbers[:, positive]), np.log(secrets))
        yield np.exp(np.minimum(logarithms, np.log(secrets).max() + 1))


def _least_squares(numbers: Reals, secrets: Reals) -> Reals:
    """Return the fitted values of secrets, (n,)."""
    moved = numbers - numbers.mean(axis=0)
    scale = np.abs(moved).max(axis=0)
    scaled = moved / np.where(scale > 0, scale, 1.0)
    middle = secrets.mean()
    fitted: Reals = middle + scaled @ np.linalg.lstsq(scaled, secrets - middle, rcond=None)[0]
    return fitted


def _right_nearest(guess: Reals, secrets: Reals, answers: Integers, groups: Integers) -> float:
    """Return the share of records for which the nearest secret of the group is right; two as near: half."""
    order = np.lexsort((secrets, groups))
    sizes = np.bincount(groups)
    firsts = np.cumsum(sizes) - sizes
    below = np.lexsort((np.repeat([0, 1], len(guess)), np.append(secrets, guess), np.append(groups, groups)))
    counted = np.cumsum(below < len(guess))  # secrets up to each place, of all groups before and of its own
    places = np.empty(len(guess), np.int64)
    asked = below >= len(guess)
    places[below[asked] - len(guess)] = counted[asked]
    lower = np.clip(places - 1, firsts[groups], firsts[groups] + sizes[groups] - 1)
    upper = np.clip(places, firsts[groups], firsts[groups] + sizes[groups] - 1)
    far = [np.abs(secrets[order[one]] - guess) for one in (lower, upper)]
    right = [(answers[order[one]] == answers).astype(np.float64) for one in (lower, upper)]
    shares = np.where(
        far[0] < far[1], right[0], np.where(far[1] < far[0], right[1], (right[0] + right[1]) / 2)
    )
    return float(shares.mean())
