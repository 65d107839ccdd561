"""Hierarchies that a rule computes from the values in the data: intervals, masking, calendar, suppression."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.hierarchy.levels import TOP


def number_text(value: float) -> str:
    """Write a number without a trailing ``.0``.

    >>> number_text(1970.0), number_text(0.5)
    ('1970', '0.5')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def suppress_levels(leaves: NDArray[np.object_]) -> list[NDArray[np.object_]]:
    """Return the value itself, then ``*``: two arrays (D,)."""
    return [leaves, np.full(len(leaves), TOP, dtype=object)]


def interval_levels(
    leaves: NDArray[np.float64],
    widths: Sequence[float],
    *,
    anchor: float = 0,
    bottom: float | None = None,
    top: float | None = None,
) -> list[NDArray[np.object_]]:
    """Generalize numbers to half-open intervals, then ``*``.

    Args:
        leaves: (D,) distinct finite numbers, within 2^53 intervals of the anchor.
        widths: each a multiple of the one before.
        anchor: a point where an interval of every width begins.
        bottom: values below share one open-ended interval on every level above the leaves; ``top``: values
            from there on. An interval that holds a bound is cut there.
    Returns:
        One array (D,) per level: the number, ``[a, b)`` for each width, ``*``.

    >>> [str(level[0]) for level in interval_levels(np.array([1973.0]), [2, 4])]
    ['1973.0', '[1972, 1974)', '[1972, 1976)', '*']
    """
    levels: list[NDArray[np.object_]] = [leaves.astype(object)]
    cells, span = _cells(leaves, widths[0], anchor), 1
    for width, finer in zip(widths, [widths[0], *widths], strict=False):
        span *= round(width / finer)
        names = _interval_names(cells // span, width, anchor, bottom, top)
        if bottom is not None:
            names[leaves < bottom] = f"< {number_text(bottom)}"
        if top is not None:
            names[leaves >= top] = f"≥ {number_text(top)}"
        levels.append(names)
    return [*levels, np.full(len(leaves), TOP, dtype=object)]


def _cells(leaves: NDArray[np.float64], width: float, anchor: float) -> NDArray[np.float64]:
    """Return which interval of the finest width holds each leaf, (D,); coarser ones are made of these.

    0.3/0.1 is 2.9999999999999996: a quotient that is a whole number but for rounding is that number.
    """
    position = (leaves - anchor) / width
    nearest = np.rint(position)
    rounding = np.minimum(2.0**-50 * (np.abs(leaves) + abs(anchor)) / width, 1e-6)
    return np.where(np.abs(position - nearest) <= rounding, nearest, np.floor(position))


def _interval_names(
    cells: NDArray[np.float64], width: float, anchor: float, bottom: float | None, top: float | None
) -> NDArray[np.object_]:
    """Write ``[a, b)`` for each cell, (D,), cut at the bounds; sums are exact in decimals."""
    origin, step = Fraction(repr(float(anchor))), Fraction(repr(float(width)))
    distinct, inverse = np.unique(cells, return_inverse=True)
    names = np.empty(len(distinct), dtype=object)
    for i, index in enumerate(distinct):
        low, high = float(origin + int(index) * step), float(origin + (int(index) + 1) * step)
        low = low if bottom is None else max(low, bottom)
        high = high if top is None else min(high, top)
        names[i] = f"[{number_text(low)}, {number_text(high)})"
    return names[inverse]


def mask_levels(leaves: NDArray[np.object_], hidden: Sequence[int]) -> list[NDArray[np.object_]]:
    """Hide characters from the right, then all of them.

    Args:
        leaves: (D,) distinct texts.
        hidden: characters hidden, level by level, increasing.
    Returns:
        One array (D,) per level. A text of at most that many characters becomes ``*`` of its own length.

    >>> [str(level[0]) for level in mask_levels(np.array(["94139"], dtype=object), [1, 2])]
    ['94139', '9413*', '941**', '*']
    """
    masked = []
    for n in hidden:
        stars = "*" * n
        texts = [text[: len(text) - n] + stars if len(text) > n else "*" * len(text) for text in leaves]
        masked.append(np.array(texts, dtype=object))
    return [leaves, *masked, np.full(len(leaves), TOP, dtype=object)]


_UNITS = {"month": "M", "quarter": "Q", "year": "Y"}


def date_levels(leaves: pd.DatetimeIndex, units: Sequence[str]) -> list[NDArray[np.object_]]:
    """Generalize dates to calendar units, then ``*``.

    Args:
        leaves: (D,) distinct dates.
        units: of month, quarter, year, decade; each coarser than the one before.
    Returns:
        One array (D,) per level: ``1970-05-17``, ``1970-05``, ``1970Q2``, ``1970``, ``1970s``, ``*``.
    """
    levels = [np.asarray(leaves.strftime("%Y-%m-%d"), dtype=object)]
    for unit in units:
        if unit == "decade":
            names = np.array([f"{year // 10 * 10}s" for year in leaves.year], dtype=object)
        else:
            names = np.asarray(leaves.to_period(_UNITS[unit]).astype(str), dtype=object)
        levels.append(names)
    return [*levels, np.full(len(leaves), TOP, dtype=object)]
