"""Risk and suppression by counts alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SizeRisk:
    """Risks of an attacker who knows the generalized quasi-identifiers.

    prosecutor: largest chance 1/m of picking a given person's record, in (0, 1].
    marketer: share of the records that an attacker who picks in every class gets right on average,
        classes/records, in (0, 1].
    """

    prosecutor: float
    marketer: float


def size_risk(sizes: NDArray[np.integer]) -> SizeRisk:
    """Compute prosecutor and marketer risk.

    Args:
        sizes: (m,) released records of each class, each ≥ 1.
    Raises:
        ValueError: no class, or an empty one.
    Source:
        El Emam (2013), Guide to the De-Identification of Personal Health Information; [methods 8.5].

    >>> size_risk(np.array([2, 6]))
    SizeRisk(prosecutor=0.5, marketer=0.25)
    """
    if len(sizes) == 0 or int(sizes.min()) < 1:
        raise ValueError("sizes must hold at least one class of at least one record. No risk is defined.")
    return SizeRisk(1 / int(sizes.min()), len(sizes) / int(sizes.sum(dtype=np.int64)))


def suppression(released: int, n: int) -> float:
    """Return the share of n records that is not released, rounded once, as the decimals of a policy are.

    Args:
        released: records, 0 … n.
        n: records before anything was suppressed, ≥ 1.

    >>> suppression(95, 100)
    0.05
    """
    return (n - released) / n
