"""Correlated noise: normal noise with the correlations of the columns, then a linear transformation.

The noise has the covariance matrix α·Σ. The sum is drawn together around the mean, so that means and
covariances of the released values are those of the originals, on average over the noise.
Source: Kim (1986), A method for limiting disclosure in microdata based on random noise and transformation;
[DB 3.2].
"""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers, cholesky


def add_correlated_noise(columns: Columns) -> Integers:
    """Add noise to all columns together, and transform the sum.

    Args:
        columns: their amounts are α, the variance of the noise as a multiple of the column's.
    Returns:
        (n, q) values, rounded to the grid.
    """
    values, alpha = columns.values.astype(np.float64), np.array(columns.amounts)
    n, q = values.shape
    means = values.mean(axis=0)
    centered = values - means
    independent = np.stack([columns.normal(column) for column in range(q)], axis=1)
    noise = independent @ cholesky(centered.T @ centered / n).T * np.sqrt(alpha)
    found: Integers = np.rint(means + (centered + noise) / np.sqrt(1 + alpha)).astype(np.int64)
    return found
