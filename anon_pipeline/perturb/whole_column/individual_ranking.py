"""Individual ranking: groups of consecutive values are replaced by their mean, column by column.

Source: [DB 3.2], after Defays and Nanopoulos (1993).
"""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers


def average_ranks(columns: Columns) -> Integers:
    """Replace each value by the mean of its group, each column by itself.

    Args:
        columns: their amounts are the size of a group; the last one has up to 2k − 1 values.
    Returns:
        (n, q) means, rounded to the grid.
    """
    found = np.empty_like(columns.values)
    for column, amount in enumerate(columns.amounts):
        order = np.argsort(columns.values[:, column], kind="stable")
        k, sorted_values = int(amount), columns.values[order, column]
        starts = np.arange(max(len(order) // k, 1)) * k
        sizes = np.diff([*starts, len(order)])
        # parts of each value that sum up within 64 bits: value = whole·size + rest
        whole, rest = np.divmod(sorted_values, np.repeat(sizes, sizes))
        sums = np.add.reduceat(rest, starts)
        means = np.add.reduceat(whole, starts) + (2 * sums + sizes) // (2 * sizes)
        found[order, column] = np.repeat(means, sizes)
    return found
