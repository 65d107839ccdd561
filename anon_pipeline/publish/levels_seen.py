"""On which level of its hierarchy a released column is, as its texts show it.

A text tells its level by its form: ``[1970, 1980)``, ``1970s``, ``021**``, a node's name. What several levels
release alike fits each of them.
Belongs here: whether texts can be of a level. Does not belong here: what they cover (`covers`, `population`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from anon_pipeline.hierarchy.computed import date_levels, interval_levels, number_text
from anon_pipeline.hierarchy.levels import TOP
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
from anon_pipeline.policy.model import Policy

__all__ = ["broken_levels"]

_Fits = Callable[[str, int], bool]


def broken_levels(
    frame: pd.DataFrame,
    policy: Policy,
    levels: Mapping[str, int],
    *,
    cells: int,
    hierarchies: Path,
) -> list[str]:
    """List the generalize columns whose released texts are not on the level that facts tell.

    Args:
        frame: (r, columns) the released table.
        policy: names the hierarchies.
        levels: level of each generalize column.
        cells: blanked cells that facts tell; only with ``suppress: cells`` is there any.
        hierarchies: folder of the hierarchy tables.
    Raises:
        InputError: a hierarchy table that cannot be read.
    """
    wrong, blank = [], 0
    for name, level in levels.items():
        height, fits, top = _hierarchy(name, policy.generalized[name].hierarchy, hierarchies)
        texts = frame[name].dropna().astype(str)
        blanks = int((texts == top).sum()) if level < height - 1 else 0
        distinct = set(texts.unique()) - ({top} if cells or level >= height - 1 else set())
        on = level < height and all(fits(text, level) for text in distinct)
        if not on or (level < height - 1 and not distinct and cells < len(texts)):
            wrong.append(f"{name}: its values must be on the level that the facts tell")
        blank += blanks
    if policy.anonymize.suppress == "cells" and blank > cells:
        wrong.append("suppressed cells must be as many as the table shows, or more")
    return wrong


def _hierarchy(  # noqa: PLR0911 - one for each kind
    name: str, spec: HierarchySpec | None, folder: Path
) -> tuple[int, _Fits, str]:
    """Return a hierarchy's height, whether a text may be on one of its levels, and its top's text."""
    if isinstance(spec, Intervals):
        return len(spec.intervals) + 2, lambda text, level: _interval(text, level, spec), TOP
    if isinstance(spec, Dates):
        return len(spec.dates) + 2, lambda text, level: _date(text, level, spec), TOP
    if isinstance(spec, Mask):
        return len(spec.mask) + 2, lambda text, level: _masked(text, level, spec.mask), TOP
    if isinstance(spec, (Table, Tree)):
        named = (
            read_table(folder / spec.table, separator=spec.separator)
            if isinstance(spec, Table)
            else tree_levels(name, spec.tree)
        )
        values = [set(level) for level in named]
        return len(values), lambda text, level: text in values[level], str(named[-1][0])
    if isinstance(spec, Order):
        return 2, lambda text, level: text in spec.order if level == 0 else text == TOP, TOP
    if isinstance(spec, Numbers):
        return 2, lambda text, level: _number(text) is not None if level == 0 else text == TOP, TOP
    return 2, lambda text, level: (text == TOP) == (level == 1), TOP


def _masked(text: str, level: int, hidden: tuple[int, ...]) -> bool:
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
