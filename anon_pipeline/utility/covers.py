"""Which leaves of its hierarchy a released value covers, by the hierarchy and never by reading text.

A value on a level covers the leaves below it, whatever levels others are on. A range covers what lies
between the least and the greatest original that released it; the range that these two make must be the text
that was released. A microaggregated value covers the originals of its class, and says a number, or a node of
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.values import to_dates, to_finite_numbers
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.policy.hierarchies import HierarchySpec, hierarchy_kind
from anon_pipeline.recode.ranges import make_axis, release_ranges
from anon_pipeline.utility.records import Generalized

_MISSING = object()
"""Key of a missing value among texts."""


class Recoded(NamedTuple):
    """One column of n records, before and after recoding.

    hierarchy: of the column; ``spec``: what the policy says of it.
    own: (n,) leaves. texts: (n,) released values. labels: (n,) class; −1 for records without one.
    """

    hierarchy: Hierarchy
    spec: HierarchySpec | None
    own: NDArray[np.int64]
    texts: pd.Series
    labels: NDArray[np.int64]


def find_covers(column: Recoded, recoder: str) -> Generalized:
    """Find what each released value of a column covers.

    Returns:
        The column; codes are by what is covered, whatever the order of the records.
    Raises:
        InputError: a released value that neither the hierarchy nor a range of originals makes; with the
            count.
    """
    found = _BY_FORM[recoder_of(recoder).family.releases](column)
    table = np.stack([found.low, found.high, found.levels, found.first, found.last, found.means], axis=1)
    keys, ranks = np.unique(np.where(np.isnan(table), np.inf, table), axis=0, return_inverse=True)
    means = np.where(np.isinf(keys[:, 5]), np.nan, keys[:, 5])
    low, high, levels, first, last = keys[:, :5].T.astype(np.int64)
    codes = np.append(ranks.reshape(-1), -1)[found.codes]
    return Generalized(column.hierarchy, column.own, codes, low, high, levels, first, last, means)


def _key(value: object) -> object:
    return _MISSING if value is None else str(value)


def _nodes(hierarchy: Hierarchy, level: int) -> dict[object, int]:
    """Code of each value of a level, by its text."""
    return {_key(value): code for code, value in enumerate(hierarchy.values[level])}


def _ends(hierarchy: Hierarchy, level: int, code: int) -> tuple[int, int]:
    """First and last leaf below a node."""
    lookup = hierarchy.lookups[level]
    return int(np.searchsorted(lookup, code)), int(np.searchsorted(lookup, code, side="right")) - 1


def _distinct(column: Recoded, rows: NDArray[np.bool_]) -> tuple[NDArray[np.int64], list[object]]:
    """Number the released texts of some records: codes (n,), −1 for others; and the texts."""
    codes = np.full(len(rows), -1, np.int64)
    found, texts = pd.factorize(column.texts[rows].astype(object), use_na_sentinel=False)
    codes[rows] = found
    return codes, [_MISSING if pd.isna(text) else str(text) for text in texts]


def _extremes(
    codes: NDArray[np.int64], own: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least and greatest own leaf of each code, (count,)."""
    kept = codes >= 0
    least = np.full(count, np.iinfo(np.int64).max)
    most = np.full(count, -1, np.int64)
    np.minimum.at(least, codes[kept], own[kept])
    np.maximum.at(most, codes[kept], own[kept])
    return least, most


def _assemble(column: Recoded, codes: NDArray[np.int64], found: list[tuple[int, int, int]]) -> Generalized:
    """Return values that say what they cover."""
    low, high, levels = np.array(found, np.int64).reshape(-1, 3).T
    return Generalized(
        column.hierarchy, column.own, codes, low, high, levels, low, high, np.full(len(low), np.nan)
    )


def _refuse(column: Recoded, strangers: int) -> InputError:
    return InputError(
        f"{column.hierarchy.column}: every released value must be one that its hierarchy or a range of its "
        f"originals makes, got {strangers} values that are not"
    )


def _of_levels(column: Recoded) -> Generalized:
    """Values of a full-domain recoding: all on the lowest level that makes them, blanked cells on top."""
    hierarchy = column.hierarchy
    codes, texts = _distinct(column, column.labels >= 0)
    own, which = np.unique(np.stack([column.own, codes])[:, codes >= 0], axis=1)
    top, strangers = hierarchy.height - 1, len(texts)
    place = {text: code for code, text in enumerate(texts)}
    for level in range(hierarchy.height):
        made = np.array([place.get(_key(value), -1) for value in hierarchy.values[level]], np.int64)
        blank = place.get(_key(hierarchy.values[top][0]), -1)
        here = made[hierarchy.lookups[level][own]] == which
        if not (here | (which == blank)).all() or not (here.any() or level == top):
            strangers = min(strangers, len(np.unique(which[~here & (which != blank)])))
            continue
        nodes = _nodes(hierarchy, level)
        on = dict.fromkeys(which[here].tolist(), level)
        found = []
        for code, text in enumerate(texts):
            at = on.get(code, top)
            found.append((*_ends(hierarchy, at, nodes[text] if at == level else 0), at))
        return _assemble(column, codes, found)
    raise _refuse(column, strangers)


def _of_mixed_levels(column: Recoded) -> Generalized:
    """Values on several levels: each the largest node of its name, which is what a reader must assume."""
    return _of_nodes(column, ranges=False)


def _of_values(column: Recoded) -> Generalized:
    """Values of a local recoding: each the smallest node of its name that has its originals, or a range."""
    return _of_nodes(column, ranges=True)


def _of_nodes(column: Recoded, *, ranges: bool) -> Generalized:
    """Values that are nodes of the hierarchy, or ranges if these are released."""
    hierarchy = column.hierarchy
    codes, texts = _distinct(column, column.labels >= 0)
    low, high = _extremes(codes, column.own, len(texts))
    made = _range_texts(column, low, high) if ranges else [None] * len(texts)
    nodes = [_nodes(hierarchy, level) for level in range(hierarchy.height)]
    found, strangers = [], 0
    for code, text in enumerate(texts):
        fitting = _find_nodes(hierarchy, nodes, text, (int(low[code]), int(high[code])))
        size = min if ranges else max
        node = size(fitting, key=lambda own: own[1] - own[0]) if fitting else None
        if node is None and made[code] != text:
            node = _around(hierarchy, nodes, text, np.unique(column.own[codes == code]))
        if node is None and made[code] != text:
            strangers += 1
        found.append(node or (int(low[code]), int(high[code]), -1))
    if strangers:
        raise _refuse(column, strangers)
    return _assemble(column, codes, found)


def _range_texts(column: Recoded, low: NDArray[np.int64], high: NDArray[np.int64]) -> list[object]:
    """Return what the range from one leaf to another releases, for each of m ranges."""
    axis = make_axis(column.hierarchy, column.own)
    ranges = release_ranges(axis, axis.positions[low], axis.positions[high])
    return [_key(ranges.values[code]) for code in ranges.codes.tolist()]


def _around(
    hierarchy: Hierarchy, nodes: Sequence[dict[object, int]], text: object, leaves: NDArray[np.int64]
) -> tuple[int, int, int] | None:
    """Find the leaves from the first to the last of all groups of one name; None if it does not have them."""
    spans = [_ends(hierarchy, level, named[text]) for level, named in enumerate(nodes) if text in named]
    inside = np.zeros(len(leaves), np.bool_)
    for first, last in spans:
        inside |= (first <= leaves) & (leaves <= last)
    if not spans or not inside.all():
        return None
    return min(first for first, _ in spans), max(last for _, last in spans), -1


def _find_nodes(
    hierarchy: Hierarchy, nodes: Sequence[dict[object, int]], text: object, within: tuple[int, int]
) -> list[tuple[int, int, int]]:
    """Find the nodes of a name that cover two leaves: first and last leaf, level; the lowest level first."""
    found = []
    for level, named in enumerate(nodes):
        if text in named:
            first, last = _ends(hierarchy, level, named[text])
            if first <= within[0] and within[1] <= last:
                found.append((first, last, level))
    return found


def _lowest_common(hierarchy: Hierarchy, low: int, high: int) -> tuple[int, int, int]:
    """Find the lowest node above two leaves: first and last leaf, level."""
    level = next(i for i, lookup in enumerate(hierarchy.lookups) if lookup[low] == lookup[high])
    return (*_ends(hierarchy, level, int(hierarchy.lookups[level][low])), level)


def _of_classes(column: Recoded) -> Generalized:
    """Values of microaggregation, one for each class: what its originals span, and what it says."""
    hierarchy, labels = column.hierarchy, column.labels
    count = int(labels.max(initial=-1)) + 1
    low, high = _extremes(labels, column.own, count)
    rows = np.full(count, -1, np.int64)
    rows[labels[labels >= 0]] = np.flatnonzero(labels >= 0)
    texts = column.texts.iloc[rows].reset_index(drop=True)
    if hierarchy.places is None:
        spans = [_lowest_common(hierarchy, *ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
        first, last = _named_leaves(column, texts)
        return replace(_assemble(column, labels, spans), first=first, last=last)
    mixed = (low != high) & np.isnan(hierarchy.places[high])  # as `recode.ranges` has it: covers everything
    low, high = np.where(mixed, 0, low), np.where(mixed, hierarchy.leaves - 1, high)
    levels = np.full(count, -1, np.int64)
    if hierarchy.coordinates is None:
        first, last = _named_leaves(column, texts)
        means = np.full(count, np.nan)
        return Generalized(hierarchy, column.own, labels, low, high, levels, first, last, means)
    means = _numbers(column.spec, texts)
    absent = np.isnan(means)
    if (absent & ~hierarchy.has_missing).any():
        raise _refuse(column, int(absent.sum()))
    missing = hierarchy.leaves - 1
    first, last = np.where(absent, missing, low), np.where(absent, missing, high)
    return Generalized(hierarchy, column.own, labels, low, high, levels, first, last, means)


def _named_leaves(column: Recoded, texts: pd.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last leaf of the lowest node that has each text as its name."""
    hierarchy = column.hierarchy
    nodes: Mapping[object, tuple[int, int]] = {
        text: _ends(hierarchy, level, code)
        for level in reversed(range(hierarchy.height))
        for text, code in _nodes(hierarchy, level).items()
    }
    keys = [_MISSING if pd.isna(text) else str(text) for text in texts]
    strangers = {key for key in keys if key not in nodes}
    if strangers:
        raise _refuse(column, len(strangers))
    first, last = np.array([nodes[key] for key in keys], np.int64).reshape(-1, 2).T
    return first, last


def _numbers(spec: HierarchySpec | None, texts: pd.Series) -> NDArray[np.float64]:
    """Return released means as the numbers that they are, dates as days since 1970; NaN for missing."""
    if hierarchy_kind(spec).days:
        days = to_dates(texts).to_numpy().astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    return to_finite_numbers(texts).to_numpy(np.float64)


_BY_FORM: Mapping[str, Callable[[Recoded], Generalized]] = {
    "means": _of_classes,
    "levels": _of_levels,
    "mixed levels": _of_mixed_levels,
    "ranges": _of_values,
}
"""How values of each form are read, by what families of recoders release."""
