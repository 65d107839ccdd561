"""Data shuffling: a model draws new values, and by their ranks the column's own values are given out again.

The lowest value goes to the record with the lowest score that is drawn (`score_model`): each column keeps
exactly its values, and the columns keep their rank correlations and those with the classes.
Source: Muralidhar and Sarathy (2006), Data shuffling: a new masking approach for numerical data, with the
classes for the columns that are not masked.
"""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers
from anon_pipeline.perturb.whole_column.score_model import draw_scores


def shuffle_data(columns: Columns) -> Integers:
    """Give out the values of all columns again, by the ranks of scores drawn from the model, (n, q)."""
    orders, drawn = draw_scores(columns)
    found = np.empty_like(columns.values)
    for column, order in enumerate(orders):
        to = np.argsort(drawn[:, column], kind="stable")
        found[to, column] = columns.values[order, column]
    return found
