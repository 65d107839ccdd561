"""A model of normal scores: the mean of each class, and a common covariance within classes."""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers, Reals, cholesky

_ORDER = 1  # part of the words that puts equal originals into an order


def draw_scores(columns: Columns) -> tuple[list[Integers], Reals]:
    """Draw normal scores for all records from the model of their columns.

    Returns:
        (q,) the records in order of their own values, by column; and (n, q) drawn scores, of the mean 0 and
        nearly the variance 1.
    """
    n, q = columns.values.shape
    orders = [columns.ranks(column, part=_ORDER) for column in range(q)]
    scores = np.stack([_normal_scores(rank) for _, rank in orders], axis=1)
    sizes = np.bincount(columns.labels)
    own = np.stack([np.bincount(columns.labels, weights=scores[:, j]) for j in range(q)], axis=1)
    means = (own / np.maximum(sizes, 1)[:, None])[columns.labels]
    within = scores - means
    independent = np.stack([columns.normal(column) for column in range(q)], axis=1)
    return [order for order, _ in orders], means + independent @ cholesky(within.T @ within / n).T


def _normal_scores(rank: Integers) -> Reals:
    """Return the standard normal quantiles of (rank + ½)/n, (n,)."""
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import

    found: Reals = ndtri((rank + 0.5) / len(rank))
    return found
