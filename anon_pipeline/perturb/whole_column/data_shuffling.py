"""Data shuffling: a model draws new values, and by their ranks the column's own values are given out again.

Normal scores of the columns are modelled by the mean of the class and a common covariance within classes.
Scores are drawn from the model, and the lowest value goes to the record with the lowest drawn score: each
column keeps exactly its values, and the columns keep their rank correlations and those with the classes.
Source: Muralidhar and Sarathy (2006), Data shuffling: a new masking approach for numerical data, with the
classes for the columns that are not masked.
"""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers, Reals, cholesky

_ORDER = 1  # part of the words that puts equal originals into an order


def shuffle_data(columns: Columns) -> Integers:
    """Give out the values of all columns again, by the ranks of scores drawn from the model, (n, q)."""
    n, q = columns.values.shape
    orders = [columns.ranks(column, part=_ORDER) for column in range(q)]
    scores = np.stack([_normal_scores(rank) for _, rank in orders], axis=1)
    sizes = np.bincount(columns.labels)
    own = np.stack([np.bincount(columns.labels, weights=scores[:, j]) for j in range(q)], axis=1)
    means = (own / np.maximum(sizes, 1)[:, None])[columns.labels]
    within = scores - means
    independent = np.stack([columns.normal(column) for column in range(q)], axis=1)
    drawn = means + independent @ cholesky(within.T @ within / n).T
    found = np.empty_like(columns.values)
    for column, (order, _) in enumerate(orders):
        to = np.argsort(drawn[:, column], kind="stable")
        found[to, column] = columns.values[order, column]
    return found


def _normal_scores(rank: Integers) -> Reals:
    """Return the standard normal quantiles of (rank + ½)/n, (n,)."""
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import

    found: Reals = ndtri((rank + 0.5) / len(rank))
    return found
