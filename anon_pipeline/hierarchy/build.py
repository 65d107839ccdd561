"""The hierarchy that a policy describes, for the values that a column has.

Belongs here: choosing the kind, casting the column to it, coding each record. Does not belong here: files
other than hierarchy tables, the rules of one kind.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.values import dates, finite_numbers, texts
from anon_pipeline.hierarchy.computed import (
    date_levels,
    interval_levels,
    mask_levels,
    number_text,
    suppress_levels,
)
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.hierarchy.written import read_table, tree_levels
from anon_pipeline.policy.hierarchies import (
    Dates,
    HierarchySpec,
    Intervals,
    Mask,
    Numbers,
    Order,
    Table,
    Tree,
)

__all__ = ["code_column"]


def code_column(
    column: pd.Series, spec: HierarchySpec | None, *, folder: Path = Path()
) -> tuple[NDArray[np.int64], Hierarchy]:
    """Build the hierarchy of one quasi-identifier and code its values as leaves.

    Args:
        column: (n,) values of the data, named; missing values are a leaf of their own.
        spec: the policy's description of the hierarchy; None: as ``suppress``, the leaves in text order.
        folder: where hierarchy tables are.
    Returns:
        Leaf code of each record (n,), and the hierarchy.
    Raises:
        InputError: a value that the hierarchy does not cover (with the count), a hierarchy that is not
            nested, a text where a number or a date belongs (with the count).
    """
    if not (pd.api.types.is_integer_dtype(column.dtype) or column.dtype == "str"):
        return _coded_values(column, spec, folder)
    codes, values = pd.factorize(column)
    if 2 * len(values) > len(column):
        return _coded_values(column, spec, folder)
    listed: list[object] = list(values)
    if codes.min(initial=0) < 0:
        listed.append(None)  # the last one, where −1 points to
    distinct = pd.Series(listed, dtype=column.dtype, name=column.name)
    try:
        own, hierarchy = _coded_values(distinct, spec, folder)
    except InputError:
        return _coded_values(column, spec, folder)  # to count records instead of values
    return own[codes], hierarchy


def _coded_values(
    column: pd.Series, spec: HierarchySpec | None, folder: Path
) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code values one by one; `code_column` asks for the distinct ones where that is all they depend on."""
    name = str(column.name)
    if isinstance(spec, Intervals):
        return _intervals(name, column, spec)
    if isinstance(spec, Numbers):
        return _numbers(name, column)
    if isinstance(spec, Dates):
        return _dates(name, column, spec)
    values = texts(column)
    if isinstance(spec, Order):
        codes, hierarchy = _written(name, values, suppress_levels(np.array(spec.order, dtype=object)))
        return codes, replace(hierarchy, ordered=True)
    if isinstance(spec, (Table, Tree)):
        levels = (
            read_table(folder / spec.table, separator=spec.separator)
            if isinstance(spec, Table)
            else tree_levels(name, spec.tree)
        )
        return _written(name, values, levels)
    codes, leaves = _distinct(values)
    present = np.asarray(leaves, dtype=object)
    levels = mask_levels(present, spec.mask) if isinstance(spec, Mask) else suppress_levels(present)
    return _coded(codes, from_columns(name, levels, missing=bool((codes < 0).any())), present)


def _distinct(values: pd.Series) -> tuple[NDArray[np.int64], pd.Index]:
    codes, leaves = pd.factorize(values, sort=True)
    if not len(leaves):
        raise InputError(f"{values.name}: must have at least one value, got only missing ones")
    return codes.astype(np.int64), pd.Index(leaves)


def _coded(
    codes: NDArray[np.int64], hierarchy: Hierarchy, leaves: NDArray[np.object_]
) -> tuple[NDArray[np.int64], Hierarchy]:
    """Translate positions in ``leaves`` (−1: missing) into the hierarchy's own leaf codes."""
    place = {value: code for code, value in enumerate(hierarchy.values[0])}
    own = np.array([place[value] for value in leaves] + [hierarchy.leaves - 1], dtype=np.int64)
    return own[codes], hierarchy


def _written(
    name: str, values: pd.Series, levels: list[NDArray[np.object_]]
) -> tuple[NDArray[np.int64], Hierarchy]:
    missing = values.isna().to_numpy()
    hierarchy = from_columns(name, levels, missing=bool(missing.any()))
    known = len(levels[0])
    codes = pd.Index(hierarchy.values[0][:known]).get_indexer(pd.Index(values)).astype(np.int64)
    codes[missing] = hierarchy.leaves - 1
    outside = int((codes < 0).sum())
    if outside:
        raise InputError(
            f"{name}: every value must be a leaf of its hierarchy, got {outside} records with others"
        )
    return codes, hierarchy


def _numbers(name: str, column: pd.Series) -> tuple[NDArray[np.int64], Hierarchy]:
    codes, leaves = _distinct(finite_numbers(column))
    numbers = leaves.to_numpy(np.float64)
    levels = suppress_levels(np.array([number_text(number) for number in numbers], dtype=object))
    hierarchy = from_columns(name, levels, missing=bool((codes < 0).any()), coordinates=numbers)
    return _coded(codes, hierarchy, levels[0])


def _intervals(name: str, column: pd.Series, spec: Intervals) -> tuple[NDArray[np.int64], Hierarchy]:
    codes, leaves = _distinct(finite_numbers(column))
    numbers = leaves.to_numpy(np.float64)
    with np.errstate(over="ignore"):
        far = int((np.abs(numbers - spec.anchor) >= spec.intervals[0] * 2.0**53)[codes[codes >= 0]].sum())
    if far:
        raise InputError(
            f"{name}: intervals must be wide enough to be counted, got {far} records too far out"
        )
    levels = interval_levels(numbers, spec.intervals, anchor=spec.anchor, bottom=spec.bottom, top=spec.top)
    levels[0] = np.array([number_text(number) for number in numbers], dtype=object)
    hierarchy = from_columns(name, levels, missing=bool((codes < 0).any()), coordinates=numbers)
    return _coded(codes, hierarchy, levels[0])


def _dates(name: str, column: pd.Series, spec: Dates) -> tuple[NDArray[np.int64], Hierarchy]:
    codes, leaves = _distinct(dates(column))
    days = pd.DatetimeIndex(leaves)
    levels = date_levels(days, spec.dates)
    numbers = days.to_numpy().astype("datetime64[D]").astype(np.int64).astype(np.float64)
    hierarchy = from_columns(name, levels, missing=bool((codes < 0).any()), coordinates=numbers)
    return _coded(codes, hierarchy, levels[0])
