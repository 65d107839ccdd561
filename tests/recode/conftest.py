"""Hierarchies, random tables and brute force for the recoders, written from the definitions alone."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from anon_pipeline.hierarchy.model import Hierarchy


def objects(values: Sequence[object]) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = list(values)
    return array


def hierarchy_of_rows(column: str, rows: Sequence[Sequence[Any]], *, numeric: bool = False) -> Hierarchy:
    """Read a hierarchy table (leaf, level 1, …, top), its leaves sorted so that every lookup is monotone."""
    heights = range(len(rows[0]))
    seen: list[dict[Any, int]] = [{} for _ in heights]
    for row in rows:
        for level in heights:
            seen[level].setdefault(row[level], len(seen[level]))
    ordered = sorted(rows, key=lambda row: [seen[level][row[level]] for level in reversed(heights)])
    names: list[dict[Any, int]] = [{} for _ in heights]
    lookups = [
        np.array([names[level].setdefault(row[level], len(names[level])) for row in ordered], np.int64)
        for level in heights
    ]
    assert all((np.diff(lookup) >= 0).all() for lookup in lookups)
    coordinates = np.array([float(row[0]) for row in ordered]) if numeric else None
    return Hierarchy(column, tuple(lookups), tuple(objects(list(name)) for name in names), coordinates)


def leaf_codes(column: Sequence[Any], hierarchy: Hierarchy) -> np.ndarray:
    leaf = {value: code for code, value in enumerate(hierarchy.values[0])}
    return np.array([leaf[value] for value in column], np.int64)


@st.composite
def hierarchies(draw: st.DrawFn, column: str = "x") -> Hierarchy:
    """Draw up to six leaves, up to four levels, with or without numbers and a missing value."""
    leaves, missing, numeric = draw(st.integers(1, 6)), draw(st.booleans()), draw(st.booleans())
    lookups = [np.arange(leaves)]
    for _ in range(draw(st.integers(0, 2))):
        codes = int(lookups[-1][-1]) + 1
        starts = draw(st.lists(st.booleans(), min_size=codes - 1, max_size=codes - 1))
        if missing and codes > 1:
            starts[-1] = True
        lookups.append(np.concatenate(([0], np.cumsum(starts))).astype(np.int64)[lookups[-1]])
    if lookups[-1][-1] > 0 or draw(st.booleans()):
        lookups.append(np.zeros(leaves, np.int64))
    steps = draw(st.lists(st.integers(1, 4), min_size=leaves, max_size=leaves))
    coordinates = np.cumsum(steps).astype(float) + 20
    values = [
        [f"{column}{level}.{code}" for code in range(lookup[-1] + 1)] for level, lookup in enumerate(lookups)
    ]
    values[-1][0] = "*"
    values[0] = (
        [int(value) for value in coordinates] if numeric else [f"{column}{code}" for code in range(leaves)]
    )
    if missing:
        coordinates[-1] = np.nan
        for level in range(max(1, len(lookups) - 1)):
            values[level][-1] = None
    return Hierarchy(column, tuple(lookups), tuple(map(objects, values)), coordinates if numeric else None)


@st.composite
def tables(draw: st.DrawFn, least: int = 1, most: int = 14) -> tuple[np.ndarray, list[Hierarchy]]:
    """Draw records as leaf codes, with their hierarchies."""
    q = draw(st.integers(1, 3))
    drawn = [draw(hierarchies(column="abc"[column])) for column in range(q)]
    record = st.tuples(*(st.integers(0, hierarchy.leaves - 1) for hierarchy in drawn))
    rows = draw(st.lists(record, min_size=least, max_size=most))
    return np.array(rows, np.int64).reshape(-1, q), drawn


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / max(1, len(values))


def brute_node(
    codes: np.ndarray, drawn: Sequence[Hierarchy], levels: Sequence[int], k: int
) -> SimpleNamespace:
    """Everything about one node, record by record (METHODS 3 and 9)."""
    n = len(codes)
    rows = [
        tuple(int(h.lookups[lv][c]) for h, lv, c in zip(drawn, levels, row, strict=True)) for row in codes
    ]
    sizes = Counter(rows)
    kept = [row for row in rows if sizes[row] >= k]
    s = n - len(kept)
    precision, granularity = [], []
    for column, (hierarchy, level) in enumerate(zip(drawn, levels, strict=True)):
        h, d = hierarchy.height, hierarchy.leaves
        precision.append(Fraction((n - s) * level + s * (h - 1), n * (h - 1)) if h > 1 else Fraction(0))
        below = Counter(hierarchy.lookups[level].tolist())
        shares = sum((Fraction(below[row[column]], d) for row in kept), Fraction(s))
        granularity.append((shares - Fraction(n, d)) / (n - Fraction(n, d)) if d > 1 else Fraction(0))
    return SimpleNamespace(
        levels=tuple(levels),
        suppressed=s,
        classes=len(sizes),
        precision=mean(precision),
        granularity=mean(granularity),
    )


def brute_nodes(codes: np.ndarray, drawn: Sequence[Hierarchy], k: int) -> list[SimpleNamespace]:
    """All nodes of the lattice, in lexicographic order."""
    return [
        brute_node(codes, drawn, levels, k) for levels in itertools.product(*(range(h.height) for h in drawn))
    ]


def brute_anonymous(nodes: Sequence[SimpleNamespace], limit: int, records: int) -> list[SimpleNamespace]:
    return [node for node in nodes if node.suppressed <= limit and node.suppressed < records]


def brute_minimal(nodes: Sequence[SimpleNamespace], limit: int, records: int) -> list[tuple[int, ...]]:
    found = [node.levels for node in brute_anonymous(nodes, limit, records)]
    return [a for a in found if not any(b != a and all(map(int.__le__, b, a)) for b in found)]


def released(recoding: Any) -> list[tuple[object, ...] | None]:
    """What is published for each record; None where it is suppressed."""
    return [
        None if row[:1] == [-1] else tuple(v[c] for v, c in zip(recoding.values, row, strict=True))
        for row in recoding.codes.tolist()
    ]


@pytest.fixture(scope="session")
def brute() -> SimpleNamespace:
    """Brute force over all nodes, and what a recoding releases."""
    return SimpleNamespace(
        node=brute_node,
        nodes=brute_nodes,
        anonymous=brute_anonymous,
        minimal=brute_minimal,
        released=released,
    )


@pytest.fixture(scope="session")
def drawn() -> SimpleNamespace:
    """Strategies for `data.draw`."""
    return SimpleNamespace(hierarchies=hierarchies, tables=tables)


@pytest.fixture(scope="session")
def from_rows() -> Callable[..., Hierarchy]:
    """Reader of hierarchy tables."""
    return hierarchy_of_rows


@pytest.fixture(scope="session")
def encode_column() -> Callable[..., np.ndarray]:
    """Leaf codes of a column of values."""
    return leaf_codes
