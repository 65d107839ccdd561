"""Swapping within classes: the values of each equivalence class are put into a random order.

Every order is equally likely, so a released value is any member's of the class with the same probability.
Source: Soria-Comas and Domingo-Ferrer (2012), Probabilistic k-anonymity through microaggregation and data
swapping; [DB 5.5].
"""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers


def swap_within_classes(columns: Columns) -> Integers:
    """Put the values of each class into a random order, each column by itself, (n, q)."""
    found = np.empty_like(columns.values)
    places = np.argsort(columns.labels, kind="stable")
    for column in range(columns.values.shape[1]):
        order = np.lexsort((columns.uniform(column), columns.labels))
        found[places, column] = columns.values[order, column]
    return found
