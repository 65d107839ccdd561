"""Resampling: each value is replaced by the mean, over samples of the column, of the value of its rank.

Source: Heer (1993), A bootstrap procedure to preserve statistical confidentiality in contingency tables;
Domingo-Ferrer and Mateo-Sanz (1999), On resampling for statistical confidentiality in contingency tables;
[DB 3.2].
"""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers


def resample(columns: Columns) -> Integers:
    """Draw samples of each column with replacement, sort each, and release means by rank.

    Args:
        columns: their amounts are the numbers of samples, each of n values.
    Returns:
        (n, q) means, rounded to the grid.
    """
    found, n = np.empty_like(columns.values), len(columns.values)
    for column, amount in enumerate(columns.amounts):
        order, _ = columns.ranks(column)
        ordered, samples = columns.values[order, column], int(amount)
        total = np.zeros(n)
        for sample in range(samples):
            drawn = (columns.uniform(column, part=1 + sample) * n).astype(np.int64)
            total += np.repeat(ordered, np.bincount(drawn, minlength=n))
        found[order, column] = np.rint(total / samples).astype(np.int64)
    return found
