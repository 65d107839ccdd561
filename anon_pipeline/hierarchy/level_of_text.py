"""On which level of its hierarchy a released column is, as its texts show it.

The form of a text shows its level: ``[1970, 1980)``, ``1970s``, ``021**``, a node's name. What several levels
release alike fits each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.packed_tables import Table as ReleasedTable
from anon_pipeline.base.packed_tables import counted_cells
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.hierarchy.levels import TOP
from anon_pipeline.hierarchy.levels_of_values import date_levels, interval_levels, number_text
from anon_pipeline.hierarchy.table_files import read_table, tree_levels
from anon_pipeline.policy.hierarchies import Dates, Intervals, Mask, Order, Table, Tree, hierarchy_kind
from anon_pipeline.policy.model import Policy


class Seen(NamedTuple):
    """How the texts of a hierarchy show their level.

    height: levels of the hierarchy.
    fits: whether a text may be on a level.
    top: text of the highest level.
    """

    height: int
    fits: Callable[[str, int], bool]
    top: str = TOP


def broken_levels(
    frame: ReleasedTable, policy: Policy, levels: Mapping[str, int], *, cells: int | None, hierarchies: Path
) -> list[str]:
    """List the generalize columns whose released texts are not on the level in the facts.

    Args:
        frame: (r, columns) the released table.
        cells: blanked cells according to the facts; only with ``suppress: cells`` is there any. None: not
            told.
    Raises:
        InputError: a hierarchy table that cannot be read.
    """
    wrong, blank = [], 0
    if cells is None:
        cells = len(frame) * len(frame.columns) if policy.anonymize.suppress == "cells" else 0
    for name, level in levels.items():
        spec = policy.generalized[name].hierarchy
        height, fits, top = import_entry(hierarchy_kind(spec).recognizes)(name, spec, hierarchies)
        texts, counts = _texts(frame, name)
        blanks = int(counts[texts == top].sum()) if level < height - 1 else 0
        distinct = set(texts) - ({top} if cells or level >= height - 1 else set())
        on = level < height and all(fits(text, level) for text in distinct)
        if not on or (level < height - 1 and not distinct and cells < int(counts.sum())):
            wrong.append(f"{name}: its values must be on the level that the facts name")
        blank += blanks
    if policy.anonymize.suppress == "cells" and blank > cells:
        wrong.append("suppressed cells must be as many as the table shows, or more")
    return wrong


def _texts(frame: ReleasedTable, name: str) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
    """Return each text of a column at least once, (m,), and of how many records each entry is, (m,)."""
    cells, counts = counted_cells(frame, name)
    is_there = cells.notna().to_numpy(bool)
    return cells[is_there].astype(str).to_numpy(object), counts[is_there]


def intervals_texts(name: str, spec: Intervals, folder: Path) -> Seen:
    """Recognize numbers and intervals."""
    return Seen(len(spec.intervals) + 2, lambda text, level: _interval(text, level, spec))


def dates_texts(name: str, spec: Dates, folder: Path) -> Seen:
    """Recognize days and calendar units."""
    return Seen(len(spec.dates) + 2, lambda text, level: _date(text, level, spec))


def mask_texts(name: str, spec: Mask, folder: Path) -> Seen:
    """Recognize masked texts."""
    return Seen(len(spec.mask) + 2, lambda text, level: _is_masked(text, level, spec.mask))


def table_texts(name: str, spec: Table, folder: Path) -> Seen:
    """Recognize the nodes of a hierarchy table."""
    return _from_lists(read_table(folder / spec.table, separator=spec.separator))


def tree_texts(name: str, spec: Tree, folder: Path) -> Seen:
    """Recognize the nodes of a taxonomy."""
    return _from_lists(tree_levels(name, spec.tree))


def order_texts(name: str, spec: Order, folder: Path) -> Seen:
    """Recognize the values of an order."""
    return Seen(2, lambda text, level: text in spec.order if level == 0 else text == TOP)


def numbers_texts(name: str, spec: object, folder: Path) -> Seen:
    """Recognize numbers."""
    return Seen(2, lambda text, level: _number(text) is not None if level == 0 else text == TOP)


def suppress_texts(name: str, spec: object, folder: Path) -> Seen:
    """Recognize a value that is there, or is not."""
    return Seen(2, lambda text, level: (text == TOP) == (level == 1))


def _from_lists(named: list[NDArray[np.object_]]) -> Seen:
    values = [set(level) for level in named]
    return Seen(len(values), lambda text, level: text in values[level], str(named[-1][0]))


def _is_masked(text: str, level: int, hidden: tuple[int, ...]) -> bool:
    """Tell whether just as many characters from the right are hidden as on this level."""
    if level > len(hidden):
        return text == TOP
    seen = max(len(text) - (0, *hidden)[level], 0)
    return set(text[seen:]) <= {"*"} and not text[:seen].endswith("*")


def _number(text: str) -> float | None:
    try:
        value = float(text)
        return value if np.isfinite(value) and number_text(value) == text else None
    except (ValueError, OverflowError):
        return None


def _interval(text: str, level: int, spec: Intervals) -> bool:
    """Tell whether a number that the text may stand for is released as this text on this level."""
    if text.startswith("[") and ", " in text:
        value = _number(text[1:].partition(", ")[0])
    elif text == f"< {number_text(spec.bottom)}" if spec.bottom is not None else False:
        value = float(np.nextafter(float(spec.bottom or 0), -np.inf))
    elif text == f"≥ {number_text(spec.top)}" if spec.top is not None else False:
        value = spec.top
    else:
        value = _number(text)
    if level == 0 or value is None:
        return level == 0 and _number(text) is not None
    leaf = np.array([value], np.float64)
    try:
        named = interval_levels(leaf, spec.intervals, anchor=spec.anchor, bottom=spec.bottom, top=spec.top)
    except (ValueError, OverflowError):
        return False
    return str(named[level][0]) == text


_QUARTERS = {f"Q{i + 1}": f"{3 * i + 1:02d}" for i in range(4)}


def _date(text: str, level: int, spec: Dates) -> bool:
    """Tell whether a day that the text may stand for is released as this text on this level."""
    first = text.removesuffix("s") if text.endswith("s") else text
    if first[4:] in _QUARTERS:
        first = f"{first[:4]}-{_QUARTERS[first[4:]]}"
    try:
        day = pd.DatetimeIndex([np.datetime64(first, "D")])
        return str(date_levels(day, spec.dates)[level][0]) == text
    except (ValueError, OverflowError):
        return False
