"""The hierarchy that a policy describes, for the values that a column has."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.mistakes import counted_records
from anon_pipeline.base.values import to_dates, to_finite_numbers, to_texts
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.hierarchy.levels import TOP, from_columns
from anon_pipeline.hierarchy.levels_of_values import (
    date_levels,
    interval_levels,
    mask_levels,
    number_text,
    suppress_levels,
)
from anon_pipeline.hierarchy.table_files import read_table, tree_levels
from anon_pipeline.policy.hierarchies import (
    Dates,
    HierarchySpec,
    Intervals,
    Mask,
    Order,
    Table,
    Tree,
    hierarchy_kind,
)
from anon_pipeline.policy.suppression_mark import looks_suppressed

_Columns = list[NDArray[np.object_]]
_Levels = Callable[[NDArray[np.object_]], _Columns]


def code_column(
    column: pd.Series, spec: HierarchySpec | None, *, folder: Path = Path()
) -> tuple[NDArray[np.int64], Hierarchy]:
    """Build the hierarchy of one quasi-identifier and code its values as leaves.

    Args:
        column: (n,) values of the data, named; missing values are a leaf of their own.
        spec: the policy's description of the hierarchy; None: as ``suppress``, the leaves in text order.
    Returns:
        Leaf code of each record (n,), and the hierarchy.
    Raises:
        InputError: a value that the hierarchy does not cover (with the count), a hierarchy that is not
            nested, a text where a number or a date belongs (with the count).
    """
    if not (pd.api.types.is_integer_dtype(column.dtype) or _holds_texts(column)):
        return code_each_value(column, spec, folder)
    codes, values = pd.factorize(column)
    if 2 * len(values) > len(column):
        return code_each_value(column, spec, folder)
    listed: list[object] = list(values)
    if codes.min(initial=0) < 0:
        listed.append(None)  # the last one, where −1 points to
    distinct = pd.Series(listed, dtype=column.dtype, name=column.name)
    try:
        own, hierarchy = code_each_value(distinct, spec, folder)
    except InputError:
        pass  # to count records instead of values
    else:
        return own[codes], hierarchy
    return code_each_value(column, spec, folder)


def _holds_texts(column: pd.Series) -> bool:
    """Tell whether all values are texts or missing: equal ones are then the same value.

    Of other objects 1, 1.0 and True are equal, and are written in three ways.
    """
    if column.dtype == object:
        return pd.api.types.infer_dtype(column, skipna=True) == "string"
    return bool(column.dtype == "str")


def code_each_value(
    column: pd.Series, spec: HierarchySpec | None, folder: Path
) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code values one by one; `code_column` asks for the distinct ones where that is all they depend on."""
    found: tuple[NDArray[np.int64], Hierarchy] = import_entry(hierarchy_kind(spec).builds)(
        column, spec, folder
    )
    return found


def _distinct(values: pd.Series) -> tuple[NDArray[np.int64], pd.Index]:
    codes, leaves = pd.factorize(values, sort=True)
    if not len(leaves):
        raise InputError(f"{values.name}: must have at least one value, got only missing ones")
    return codes.astype(np.int64), pd.Index(leaves)


def _own_codes(
    codes: NDArray[np.int64], hierarchy: Hierarchy, leaves: NDArray[np.object_]
) -> tuple[NDArray[np.int64], Hierarchy]:
    """Translate positions in ``leaves`` (−1: missing) into the hierarchy's own leaf codes."""
    place = {value: code for code, value in enumerate(hierarchy.values[0])}
    own = np.array([place[value] for value in leaves] + [hierarchy.leaves - 1], dtype=np.int64)
    return own[codes], hierarchy


def _from_levels(
    name: str, values: pd.Series, levels: list[NDArray[np.object_]]
) -> tuple[NDArray[np.int64], Hierarchy]:
    if any(map(looks_suppressed, levels[0])):
        raise InputError(
            f"{name}: the hierarchy must not have the leaf {TOP}, which is how a suppressed value is "
            f"released. Remove it; {_elsewhere(name)}."
        )
    missing = values.isna().to_numpy()
    hierarchy = from_columns(name, levels, missing=bool(missing.any()))
    known = len(levels[0])
    codes = pd.Index(hierarchy.values[0][:known]).get_indexer(pd.Index(values)).astype(np.int64)
    codes[missing] = hierarchy.leaves - 1
    outside = int((codes < 0).sum())
    if outside:
        raise _not_leaves_error(name, outside)
    return codes, hierarchy


def _not_leaves_error(name: str, records: int) -> InputError:
    """Return the error about records whose values a hierarchy does not list, and say how to find these."""
    has, values = ("has", "a value") if records == 1 else ("have", "values")
    return InputError(
        f"{name}: every value must be a leaf of its hierarchy, {counted_records(records)} {has} {values} "
        f"that it does not list. `anon-pipeline hierarchy DATA {shlex.quote(name)} --policy POLICY "
        "--not-leaves FILE` writes which. Add them to it, or map them to leaves in clean.columns "
        f"({name}: {{values: ...}})."
    )


def _elsewhere(name: str) -> str:
    """Say where values of the data go that look like suppressed ones."""
    return (
        f"map such values in clean.columns, as {name}: {{missing: ['{TOP}']}} if they stand for no value, or "
        "values: {...} for another one"
    )


def _refuse_marks(name: str, codes: NDArray[np.int64], is_mark: NDArray[np.bool_]) -> None:
    """Refuse values that a reader of the release would take for suppressed or masked ones.

    Args:
        codes: (n,) leaf of each record, −1 where its value is missing. is_mark: (D,) of each leaf.
    """
    if not is_mark.any():
        return
    records = int(np.append(is_mark, False)[codes].sum())
    has, values = ("has", "a value") if records == 1 else ("have", "values")
    raise InputError(
        f"{name}: no value must look like a suppressed one ({TOP}), or, where values are masked, contain "
        f"{TOP}: {counted_records(records)} {has} such {values}. In a release nobody could tell them apart; "
        f"{_elsewhere(name)}."
    )


def code_leaves(
    column: pd.Series, levels: _Levels, *, masks: bool = False
) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code texts by levels that are computed from the values that there are.

    Args:
        masks: whether characters are hidden one by one.
    Raises:
        InputError: values that look like suppressed or masked ones.
    """
    codes, leaves = _distinct(to_texts(column))
    present = np.asarray(leaves, dtype=object)
    marks = [TOP in one if masks else looks_suppressed(one) for one in present]
    _refuse_marks(str(column.name), codes, np.array(marks, np.bool_))
    hierarchy = from_columns(str(column.name), levels(present), missing=bool((codes < 0).any()))
    return _own_codes(codes, hierarchy, present)


def _on_line(
    column: pd.Series, values: pd.Series, levels: Callable[[pd.Index], tuple[_Columns, NDArray[np.float64]]]
) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code values that have a place on a line by levels that are computed from those that there are."""
    codes, leaves = _distinct(values)
    found, places = levels(leaves)
    missing = bool((codes < 0).any())
    return _own_codes(
        codes, from_columns(str(column.name), found, missing=missing, coordinates=places), found[0]
    )


def suppress_column(column: pd.Series, spec: object, folder: Path) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code a column whose values are released as they are, or not at all."""
    return code_leaves(column, suppress_levels)


def mask_column(column: pd.Series, spec: Mask, folder: Path) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code a column of texts that are masked from the right."""
    return code_leaves(column, lambda present: mask_levels(present, spec.mask), masks=True)


def table_column(column: pd.Series, spec: Table, folder: Path) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code a column by a hierarchy table."""
    levels = read_table(folder / spec.table, separator=spec.separator)
    return _from_levels(str(column.name), to_texts(column), levels)


def tree_column(column: pd.Series, spec: Tree, folder: Path) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code a column by a taxonomy of the policy."""
    return _from_levels(str(column.name), to_texts(column), tree_levels(str(column.name), spec.tree))


def order_column(column: pd.Series, spec: Order, folder: Path) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code a column by the order that the policy lists."""
    levels = suppress_levels(np.array(spec.order, dtype=object))
    codes, hierarchy = _from_levels(str(column.name), to_texts(column), levels)
    return codes, replace(hierarchy, ordered=True)


def numbers_column(column: pd.Series, spec: object, folder: Path) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code a column of numbers, of which recoders release ranges."""

    def levels(leaves: pd.Index) -> tuple[_Columns, NDArray[np.float64]]:
        """Return the labels of each level by leaf, and where each leaf is on the line, its number."""
        numbers = leaves.to_numpy(np.float64)
        return suppress_levels(np.array([number_text(number) for number in numbers], dtype=object)), numbers

    return _on_line(column, to_finite_numbers(column), levels)


def intervals_column(column: pd.Series, spec: Intervals, folder: Path) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code a column of numbers by intervals of given widths."""
    numbers = to_finite_numbers(column)
    with np.errstate(over="ignore"):
        far = int((np.abs(numbers - spec.anchor) >= spec.intervals[0] * 2.0**53).sum())
    if far:
        raise InputError(
            f"{column.name}: intervals must be wider, got {far} records too far from the anchor to count "
            "their interval"
        )

    def levels(leaves: pd.Index) -> tuple[_Columns, NDArray[np.float64]]:
        """Return the labels of each level by leaf, and where each leaf is on the line, its number."""
        places = leaves.to_numpy(np.float64)
        found = interval_levels(places, spec.intervals, anchor=spec.anchor, bottom=spec.bottom, top=spec.top)
        return [np.array([number_text(number) for number in places], dtype=object), *found[1:]], places

    return _on_line(column, numbers, levels)


def dates_column(column: pd.Series, spec: Dates, folder: Path) -> tuple[NDArray[np.int64], Hierarchy]:
    """Code a column of dates by calendar units."""

    def levels(leaves: pd.Index) -> tuple[_Columns, NDArray[np.float64]]:
        """Return the labels of each level by leaf, and where each leaf is on the line, its day since 1970."""
        days = pd.DatetimeIndex(leaves)
        places = days.to_numpy().astype("datetime64[D]").astype(np.int64).astype(np.float64)
        return date_levels(days, spec.dates), places

    return _on_line(column, to_dates(column), levels)
