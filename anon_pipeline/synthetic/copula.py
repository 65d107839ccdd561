"""A normal copula: the distribution of each column, and the correlations of their normal scores.

Source: [DB 3.3]; Rubin (1993).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.marginals import marginal_of

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

_EDGE = 1e-9  # of a variance that is none
_MOST = 0.999  # of a correlation


def copula_records(
    policy: SyntheticPolicy, codes: Integers, weights: Integers, records: int, random: RandomNumbers
) -> Integers:
    """Return records drawn from a copula of weighted records, (records, columns) codes.

    Args:
        codes: (n, columns) see `domain_codes`.
        weights: (n,) how often each record counts.
    """
    scores = np.stack([_normal_scores(column, weights) for column in codes.T], axis=1)
    root = _root(scores, weights)
    drawn = ndtr(random.normal(records * codes.shape[1]).reshape(records, -1) @ root.T)
    columns = policy.columns.values()
    return np.stack(
        [
            marginal_of(column, codes[:, place], weights, policy.least(column)).draw(drawn[:, place])
            for place, column in enumerate(columns)
        ],
        axis=1,
    )


def _normal_scores(codes: Integers, weights: Integers) -> Reals:
    """Return the mean normal score of each record's value, (n,): of all places that the value takes up."""
    distinct, own = np.unique(codes, return_inverse=True)
    counts = np.bincount(own, weights, minlength=len(distinct))
    ends = np.cumsum(counts) / counts.sum()
    edges = ndtri(np.clip(np.concatenate([[0.0], ends]), 0, 1))
    heights = np.exp(-np.minimum(edges**2, 1_400) / 2) / np.sqrt(2 * np.pi)
    found: Reals = np.divide(
        heights[:-1] - heights[1:], counts / counts.sum(), out=np.zeros(len(counts)), where=counts > 0
    )
    return found[own]


def _root(scores: Reals, weights: Integers) -> Reals:
    """Return a root of the correlations of the normal numbers behind scores, (p, p).

    If normal numbers z have correlation ρ, their mean scores m have covariance ρ·var(m₁)·var(m₂), to first
    order, and exactly where one of them is not rounded: values that many records share say less. A column
    with one value is independent.
    """
    total = weights.sum()
    moved = scores - weights @ scores / total
    covariances = (moved * weights[:, None]).T @ moved / total
    variances = np.diag(covariances)
    known = variances > _EDGE
    scale = np.where(known, variances, 1)
    correlations = np.clip(covariances / np.outer(scale, scale), -_MOST, _MOST)
    correlations[~known, :] = correlations[:, ~known] = 0
    np.fill_diagonal(correlations, 1)
    values, vectors = np.linalg.eigh(correlations)
    root: Reals = vectors * np.sqrt(np.maximum(values, 0))
    scaled: Reals = root / np.sqrt((root**2).sum(axis=1, keepdims=True))
    return scaled
