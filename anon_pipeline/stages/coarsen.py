"""Columns that are released without noise, as coarse as the policy says: rounded, bounded, at a level."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table, change_cells, with_columns
from anon_pipeline.base.values import to_whole_numbers
from anon_pipeline.hierarchy import code_column
from anon_pipeline.perturb.grid import from_grid, quantize, to_grid
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.model import Policy


def coarsen(frame: Table, policy: Policy, *, hierarchies: Path = Path()) -> Table:
    """Make the released columns as coarse as the policy says; other columns stay.

    Args:
        frame: (n, columns) accepted data.
        hierarchies: folder of the hierarchy tables.
    Returns:
        (n, columns); what was missing is missing.
    Raises:
        InputError: values outside their hierarchy, a level that it has not, numbers too large for their step;
            all listed, with counts.
    """
    made, problems = frame, list[str]()
    for name, column in policy.coarsened.items():
        try:
            change = coarse_numbers if column.bounded else partial(at_level, hierarchies=hierarchies)
            made = with_columns(made, [(name, change_cells(frame, name, partial(change, column=column)))])
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return made


def coarse_numbers(series: pd.Series, column: Coarsened) -> pd.Series:
    """Move numbers to their bounds, and to the nearest multiple of the step; a half goes up.

    Bounds are multiples of the step, so that the order of the two does not matter.

    Args:
        series: (n,) finite numbers; missing ones stay missing.
    Returns:
        (n,) integers if all are whole and there, else floats.
    Raises:
        InputError: numbers beyond ±2^52 steps; with the column and the count.
    """
    numbers = series.astype(np.float64).clip(lower=column.bottom, upper=column.top)
    if column.round is not None:
        there = numbers.notna()
        units = to_grid(np.asarray(numbers[there], np.float64), column.round)
        try:
            numbers = numbers.copy()
            numbers[there] = from_grid(quantize(units), column.round)
        except InputError as error:
            raise InputError([f"{series.name}: {problem}" for problem in error.problems]) from None
    return to_whole_numbers(numbers)


def at_level(series: pd.Series, column: Coarsened, *, hierarchies: Path = Path()) -> pd.Series:
    """Replace values by what they are on the column's level of its hierarchy.

    Args:
        series: (n,) values; missing ones stay missing.
    Returns:
        (n,) texts.
    Raises:
        InputError: values that the hierarchy does not cover, or a level that it has not.
    """
    level = int(column.level or 0)
    if series.isna().all():
        return series.astype("str")
    codes, hierarchy = code_column(series, column.hierarchy, folder=hierarchies)
    if level >= hierarchy.height:
        raise InputError(
            f"{series.name}: level must be at most {hierarchy.height - 1}, the highest of its hierarchy, "
            f"got {level}"
        )
    texts = hierarchy.values[level][hierarchy.lookups[level][codes]]
    coarse = pd.Series(pd.array(texts, dtype="str"), index=series.index, name=series.name)
    return coarse.where(series.notna())
