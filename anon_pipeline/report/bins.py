"""Bins of which none shows fewer than k records: of numbers, of categories, of class sizes.

What is too small is joined with a neighbor (numbers, sizes) or with the rarest values (categories), so that
the counts still add up to all records and nothing can be had by subtraction.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING, OTHERS, ALL = "missing", "other values", "all values"
_OWN = re.compile(rf"“*({MISSING}|{OTHERS}|{ALL}|value \d+)”*")
"""The report's own words for bins, also in quotes."""
_MOST = 12
"""Bins of a column at most, a rest not counted."""


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin: its label, its records in each table (the release alone, or the input and the release)."""

    label: str
    counts: tuple[int, ...]


def quoted_category(name: str) -> str:
    """Return a category's name as it is shown: in quotes if it is one of the report's own words.

    >>> quoted_category("missing"), quoted_category("Cork")
    ('“missing”', 'Cork')
    """
    return f"“{name}”" if _OWN.fullmatch(name) else name


def nice_edges(least: float, most: float, *, bins: int = _MOST) -> NDArray[np.float64]:
    """Return multiples of 1, 2 or 5 times a power of ten that cut a range into about so many bins.

    Args:
        least, most: ends of the range, finite.
        bins: at most so many, and one more at each end.
    Returns:
        Inner edges, ascending; none for a range of one number.

    >>> nice_edges(3, 47, bins=5).tolist()
    [10.0, 20.0, 30.0, 40.0]
    """
    width = most / bins - least / bins
    if not width > 0:
        return np.empty(0)
    unit = 10.0 ** math.floor(math.log10(width))
    step = next((unit * f for f in (1, 2, 5) if unit * f >= width * (1 - 1e-9)), unit * 10)
    places = np.arange(math.floor(least / step) + 1, math.ceil(most / step))
    edges = np.array([float(f"{place * step:.10g}") for place in places.tolist()])  # 0.3, not 3 · 0.1
    return np.unique(edges[(edges > least) & (edges < most)])


def number_bins(tables: Sequence[NDArray[np.float64]], *, k: int) -> list[Bin]:
    """Count numbers in neighboring bins of at least k records in every table; NaN is missing.

    Edges are round numbers between the 1 % and 99 % quantiles; the outermost bins are open, so that no
    extreme is shown.

    Args:
        tables: arrays of numbers, each of at least k.
        k: records of the smallest bin.
    Raises:
        ValueError: a table of fewer than k records, of which no bin can be shown.
    """
    _refuse_small(tables, k)
    known = np.concatenate([table[np.isfinite(table)] for table in tables])
    edges = np.empty(0)
    if len(known):
        edges = nice_edges(*np.quantile(known, [0.01, 0.99]).tolist())
    counts = np.stack([_count(table, edges) for table in tables], axis=1)
    kept, joined = _join(counts[:-1], k)
    inner = [float(edges[i]) for i in kept]
    labels = _interval_labels(inner)
    missing = counts[-1]
    if missing.max() == 0:
        return _bins(labels, joined)
    if missing.min() >= k and joined[0].min() >= k:
        return _bins([*labels, MISSING], np.vstack([joined, missing]))
    joined[-1] += missing
    return _bins([*labels[:-1], f"{labels[-1]} or {MISSING}"], joined)


def _bins(labels: Sequence[str], counts: NDArray[np.int64]) -> list[Bin]:
    return [Bin(label, tuple(map(int, row))) for label, row in zip(labels, counts, strict=True)]


def _refuse_small(tables: Sequence[NDArray[Any]], k: int) -> None:
    if min(len(table) for table in tables) < k:
        raise ValueError(f"tables must have at least {k} records to be shown in bins, got one with fewer.")


def _count(table: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count the values below the first edge, between edges, from the last edge on; then missing ones."""
    missing = np.isnan(table)
    places = np.searchsorted(edges, table[~missing], side="right")
    return np.append(np.bincount(places, minlength=len(edges) + 1), missing.sum()).astype(np.int64)


def _join(counts: NDArray[np.int64], k: int) -> tuple[list[int], NDArray[np.int64]]:
    """Join neighboring rows until each has k in every column; return the edges that stay, and the sums."""
    kept: list[int] = []
    rows = [counts[0].copy()]
    for edge, row in enumerate(counts[1:]):
        if rows[-1].min() >= k:
            kept.append(edge)
            rows.append(row.copy())
        else:
            rows[-1] += row
    while len(rows) > 1 and rows[-1].min() < k:
        kept.pop()
        last = rows.pop()
        rows[-1] += last
    return kept, np.stack(rows)


def _interval_labels(inner: Sequence[float]) -> list[str]:
    if not inner:
        return [ALL]
    texts = [f"{edge:,.10g}" for edge in inner]
    between = [f"{low} to below {high}" for low, high in pairwise(texts)]
    return [f"below {texts[0]}", *between, f"{texts[-1]} or more"]


def category_bins(
    labels: Sequence[str | None], counts: NDArray[np.int64], *, k: int, rest: NDArray[np.int64]
) -> list[Bin]:
    """Show the most frequent categories, and all others together; each bin has k records in every table.

    Args:
        labels: c names; None for a value that has none to be shown: it becomes "value 1", "value 2" by rank.
        counts: (c, tables) records of each.
        k: records of the smallest bin.
        rest: (tables,) records of further values, which are not shown by themselves.
    Raises:
        ValueError: a table of fewer than k records.
    """
    whole = counts.sum(axis=0) + rest
    if whole.min() < k:
        raise ValueError(f"tables must have at least {k} records to be shown in bins, got one with fewer.")
    order = sorted(range(len(labels)), key=lambda i: (*(-counts[i, ::-1]).tolist(), labels[i] or ""))
    shown = [i for i in order if counts[i].min() >= k][:_MOST]
    rest = whole - counts[shown].sum(axis=0)
    while shown and rest.max() > 0 and rest.min() < k:
        rest = rest + counts[shown.pop()]
    shown.sort(key=lambda i: _natural(labels[i] or ""))  # those without a name stay in order of rank
    rows = [counts[i] for i in shown]
    names = [labels[i] or f"value {rank}" for rank, i in enumerate(shown, 1)]
    if rest.max() > 0:
        rows.append(rest)
        names.append(OTHERS if shown else ALL)
    return _bins(names, np.stack(rows))


def _natural(label: str) -> list[tuple[float, str]]:
    """Return a key that sorts numbers in texts by their value."""
    parts = re.split(r"((?<!\w)-?\d+(?:\.\d+)?)", label)
    return [(float(part), "") if i % 2 else (math.inf, part) for i, part in enumerate(parts)]


def size_edges(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cut class sizes at 1, 2 and 5 times powers of ten, so that no bin is empty.

    Args:
        sizes: (m,) records of each class, each ≥ 1.
    Returns:
        (b,) least size of each bin, ascending; the first is the smallest size.

    >>> size_edges(np.array([10, 12, 35, 400])).tolist()
    [10, 20, 200]
    """
    powers = 10.0 ** np.arange(0, math.ceil(math.log10(int(sizes.max()) + 1)) + 1)
    round_sizes = (np.array([1.0, 2.0, 5.0])[None, :] * powers[:, None]).ravel().astype(np.int64)
    starts = np.unique(np.append(round_sizes[round_sizes > sizes.min()], sizes.min()))
    filled = np.unique(np.searchsorted(starts, sizes, side="right") - 1)
    return starts[filled]
