"""Records as rows of numbers that a regression takes, the same columns before and after.

A number becomes its standard score and the square of it; a category one column per value, a generalized one
the share of its leaves in each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.utility.moments import at_most_one
from anon_pipeline.utility.records import Generalized, Pair, Table, line_numbers

MOST_VALUES = 32
"""Columns that a category may become: finer hierarchies are read on the lowest level with so few values."""

_FARTHEST = 10.0  # standard scores are cut there: one record with much noise does not decide


def _scores(before: NDArray[np.float64], after: NDArray[np.float64]) -> Pair:
    """Standard score, its square, and whether it is missing; by mean and deviation before, (·, 3)."""
    before, after = at_most_one(before, after)
    known = before[~np.isnan(before)]
    mean = float(known.mean()) if len(known) else 0.0
    deviation = (float(known.std()) if len(known) else 0.0) or 1.0

    def score(values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return score, its square and whether it is missing of each value, (·, 3)."""
        absent = np.isnan(values)
        score = np.clip((np.where(absent, mean, values) - mean) / deviation, -_FARTHEST, _FARTHEST)
        return np.stack([score, score**2, absent], axis=1)

    return score(before), score(after)


def _memberships(column: Generalized) -> Pair:
    """Share of each cell in each value of the level that is read, (·, values there)."""
    hierarchy = column.hierarchy
    level = next(i for i, values in enumerate(hierarchy.values) if len(values) <= MOST_VALUES)
    lookup = hierarchy.lookups[level]
    width = len(hierarchy.values[level])
    starts = np.searchsorted(lookup, np.arange(width))
    ends = np.append(starts[1:], len(lookup)) - 1
    shares = np.stack(
        [column.shares(least, most) for least, most in zip(starts.tolist(), ends.tolist(), strict=True)],
        axis=1,
    )
    return np.eye(width)[lookup[column.own]], shares[column.codes[column.codes >= 0]]


def _frequent(own: NDArray[np.int64], kept: NDArray[np.bool_]) -> Pair:
    """Whether a cell is each of the most frequent categories, (·, at most 32)."""
    counts = np.bincount(own)
    chosen = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    found = (own[:, None] == chosen[None, :]).astype(np.float64)
    return found, found[kept]


def _columns(table: Table, without: str | None) -> Iterator[Pair]:
    for name, column in table.generalized.items():
        if name != without:
            is_line = column.hierarchy.places is not None
            yield _scores(*line_numbers(column)) if is_line else _memberships(column)
    for name, numbers in (*table.perturbed.items(), *table.numbers.items()):
        if name != without:
            yield _scores(numbers.own, numbers.released[table.kept])
    for name, categories in table.categories.items():
        if name != without:
            yield _frequent(categories, table.kept)


def features(table: Table, *, without: str | None = None) -> Pair:
    """Make the matrices of a table before and after.

    Args:
        table: n records, r of them released.
        without: a column to leave out: the one to be predicted.
    Returns:
        (n, f) and (r, f), the released records in the table's order. A column that is the same number in all
        rows of both is left out.
    """
    return _join_columns(list(_columns(table, without)), len(table.kept), int(table.kept.sum()))


def plain_features(before: pd.DataFrame, after: pd.DataFrame) -> Pair:
    """Make the matrices of two plain tables, such as an input and records that were made up from it.

    Args:
        before: (n, columns) of floats, NaN for missing, or of texts; ``after``: (r, columns) with the same
            types.
    Returns:
        (n, f) and (r, f). A column that is the same number in all rows of both is left out.
    """
    pairs = list[Pair]()
    for name, own in before.items():
        if own.dtype == np.float64:
            pairs.append(_scores(own.to_numpy(), after[name].to_numpy(np.float64)))
        else:
            pairs.append(_frequent_texts(own, after[name]))
    return _join_columns(pairs, len(before), len(after))


def _frequent_texts(before: pd.Series, after: pd.Series) -> Pair:
    """Whether a text is each of the most frequent ones before, or another one, (·, at most 33)."""
    texts, counts = np.unique(before.to_numpy(object), return_counts=True)
    chosen = pd.Index(texts[np.argsort(-counts, kind="stable")[:MOST_VALUES]])
    seats = np.eye(len(chosen) + 1)  # the last one is that of place −1
    return seats[chosen.get_indexer(pd.Index(before))], seats[chosen.get_indexer(pd.Index(after))]


def _join_columns(pairs: Sequence[Pair], n: int, r: int) -> Pair:
    """Put columns beside each other, without those that do not vary."""
    before = np.concatenate([np.empty((n, 0)), *(pair[0] for pair in pairs)], axis=1)
    after = np.concatenate([np.empty((r, 0)), *(pair[1] for pair in pairs)], axis=1)
    both = np.concatenate([before, after])
    varying = np.ptp(both, axis=0) > 0 if len(both) else np.zeros(both.shape[1], np.bool_)
    return before[:, varying], after[:, varying]
