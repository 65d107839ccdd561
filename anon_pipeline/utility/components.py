"""How far the principal components of a release are from those of its input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.utility.covariances import correlations_of, covariances

_APART = 1e-6  # smallest gap at which the first component is unique


@dataclass(frozen=True, slots=True)
class ComponentShift:
    """Principal components of the correlations of p columns of numbers, after against before.

    explained: mean over the components of |share of the variance after − share before|, in descending order.
    communalities: mean over the columns of |communality with the first component after − before|; None where
        the input has no single first component.
    columns: compared.
    """

    explained: float
    communalities: float | None
    columns: int


def _spectrum(correlations: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return shares of the variance, (p,), descending; communality of each column with the first, (p,)."""
    values, vectors = np.linalg.eigh(correlations)
    shares = np.maximum(values[::-1], 0.0) / len(values)
    return shares, vectors[:, -1] ** 2 * max(float(values[-1]), 0.0)


def component_shift(before: NDArray[np.float64], after: NDArray[np.float64]) -> ComponentShift | None:
    """Compare principal components.

    Args:
        before: (n, p) finite numbers of the input; NaN for missing. after: (r, p) released ones.
    Returns:
        None where `covariances` has nothing to compare.
    Source:
        [DB 2.6]: communalities with the first principal component, mean absolute error; [methods 9.3].
    """
    found = covariances(before, after)
    if found is None:
        return None
    (own, shared), (released, changed) = (
        _spectrum(correlations_of(matrix)) for matrix in (found.before, found.after)
    )
    single = own[0] - own[1] > _APART
    return ComponentShift(
        explained=float(np.abs(released - own).mean()),
        communalities=float(np.abs(changed - shared).mean()) if single else None,
        columns=len(own),
    )
