"""From the generalized values of each leaf to a validated `Hierarchy`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.policy.suppression_mark import TOP

__all__ = ["TOP", "from_columns"]


def from_columns(
    column: str,
    levels: Sequence[NDArray[np.object_]],
    *,
    missing: bool = False,
    coordinates: NDArray[np.float64] | None = None,
) -> Hierarchy:
    """Build a hierarchy from the value of every leaf on every level.

    Args:
        column: the quasi-identifier's name.
        levels: h arrays (D,), from the leaves' own values to the top.
        missing: whether the data has missing values: one more leaf, which generalizes to itself below the
            top.
        coordinates: (D,) position of each leaf on a number line, for numeric columns.
    Returns:
        The hierarchy, leaves sorted so that every lookup is non-decreasing; leaves that are equal on all
        levels above keep their order.
    Raises:
        InputError: no leaf, a leaf twice, a value with two parents, or a top of several values.
    """
    if not len(levels) or not len(levels[0]):
        raise InputError(f"{column}: the hierarchy must have at least one leaf")
    coded = [_first_seen(values) for values in levels]
    _refuse(column, coded)
    order = np.lexsort([codes for codes, _ in coded])  # the last key, the top, sorts first
    lookups, values = [], []
    for codes, uniques in coded:
        ranks, rows = _first_seen(codes[order])
        lookups.append(ranks)
        values.append(uniques[rows.astype(np.int64)])
    ordered = None if coordinates is None else coordinates[order]
    if missing:
        lookups, values, ordered = _with_missing(lookups, values, ordered)
    return Hierarchy(column, tuple(lookups), tuple(values), ordered)


def _first_seen(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    codes, uniques = pd.factorize(values)
    return codes.astype(np.int64), np.asarray(uniques, dtype=object)


def _refuse(column: str, coded: Sequence[tuple[NDArray[np.int64], NDArray[np.object_]]]) -> None:
    """Refuse repeated leaves, values with two parents and a top of several values, all at once."""
    problems = []
    leaves = len(coded[0][0])
    if len(coded[0][1]) != leaves:
        problems.append(f"{column}: each leaf must appear once, got {leaves - len(coded[0][1])} repeated")
    for level in range(1, len(coded)):
        below, above = coded[level - 1][0], coded[level][0]
        pairs = len(pd.unique(below * len(coded[level][1]) + above))
        torn = pairs - len(coded[level - 1][1])
        if torn:
            problems.append(
                f"{column}: each value of level {level - 1} must have one parent on level {level}, "
                f"got {torn} more. The hierarchy is not nested."
            )
    if len(coded[-1][1]) != 1:
        problems.append(f"{column}: the top level must have one value, got {len(coded[-1][1])}")
    if problems:
        raise InputError(problems)


def _with_missing(
    lookups: list[NDArray[np.int64]],
    values: list[NDArray[np.object_]],
    coordinates: NDArray[np.float64] | None,
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.object_]], NDArray[np.float64] | None]:
    top = len(lookups) - 1
    longer, named = [], []
    for level, (lookup, names) in enumerate(zip(lookups, values, strict=True)):
        own = 0 if level == top and top > 0 else len(names)
        longer.append(np.append(lookup, own))
        named.append(names if own == 0 else np.append(names, np.array([None], dtype=object)))
    return longer, named, None if coordinates is None else np.append(coordinates, np.nan)
