"""Synthetic values: drawn from a model of the columns and classes, not taken from any record.

Scores are drawn from the model (`score_model`), and turned into values by the column's own distribution,
between whose values is interpolated: a Gaussian copula whose means differ by class. The release is partially
synthetic: other columns are released as the policy says.
Source: [DB 3.3]; Rubin (1993), Statistical disclosure limitation; Reiter (2003), Inference for partially
synthetic, public use microdata sets.
"""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers
from anon_pipeline.perturb.whole_column.score_model import draw_scores


def draw_synthetic(columns: Columns) -> Integers:
    """Draw the values of all columns from their model, (n, q), rounded to the grid."""
    from scipy.special import ndtr  # noqa: PLC0415 - slow to import

    orders, drawn = draw_scores(columns)
    found, n = np.empty_like(columns.values), len(columns.values)
    places = np.clip(ndtr(drawn) * n - 0.5, 0, n - 1)
    for column, order in enumerate(orders):
        values = columns.values[order, column].astype(np.float64)
        found[:, column] = np.rint(np.interp(places[:, column], np.arange(n), values)).astype(np.int64)
    return found
