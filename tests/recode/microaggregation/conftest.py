"""Random tasks with sensitive limits, and distances written from the definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.task import Constraints, Diversity, Task
from tests.recode.asking import Secret, ask, limit_of

STEPS = 2**26


def numbers_hierarchy(values: Sequence[float], *, missing: bool = False) -> Hierarchy:
    """Numbers, their values and `*`, and perhaps a missing leaf."""
    leaves: list[Any] = [str(int(value)) if float(value).is_integer() else repr(value) for value in values]
    coordinates = [float(value) for value in values] + [math.nan] * missing
    leaves += [None] * missing
    array, top = np.empty(len(leaves), object), np.array(["*"], object)
    array[:] = leaves
    lookups = np.arange(len(leaves)), np.zeros(len(leaves), np.int64)
    return Hierarchy("x", lookups, (array, top), np.array(coordinates))


def ancestors(hierarchy: Hierarchy, level: int, code: int) -> set[tuple[int, int]]:
    """φ of (9.6): a concept and everything above it."""
    leaf = int(np.flatnonzero(hierarchy.lookups[level] == code)[0])
    return {(above, int(hierarchy.lookups[above][leaf])) for above in range(level, hierarchy.height)}


def delta(hierarchy: Hierarchy, one: tuple[int, int], other: tuple[int, int]) -> float:
    """Semantic distance (9.6)."""
    a, b = ancestors(hierarchy, *one), ancestors(hierarchy, *other)
    return math.log2(1 + (len(a | b) - len(a & b)) / len(a | b))


def marginal_centroid(hierarchy: Hierarchy, leaves: Sequence[int]) -> tuple[int, int]:
    """(9.4): the node of the records' own taxonomy with the least marginality; the lowest, first of equal."""
    meeting = next(
        level for level, lookup in enumerate(hierarchy.lookups) if len(set(lookup[list(leaves)])) == 1
    )
    candidates = sorted(
        {(level, int(hierarchy.lookups[level][leaf])) for leaf in leaves for level in range(meeting + 1)}
    )
    sums = [math.fsum(delta(hierarchy, (0, leaf), node) for leaf in leaves) for node in candidates]
    least = min(sums)
    return next(node for node, found in zip(candidates, sums, strict=True) if found <= least + 1e-9)


def positions(hierarchy: Hierarchy, column: np.ndarray) -> list[float]:
    """Numbers over the table's range, on the grid of 2⁻²⁶."""
    numbers = hierarchy.coordinates[column]
    known = [x for x in numbers if not math.isnan(x)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return [
        x if math.isnan(x) else (round((x - low) / (high - low) * STEPS) / STEPS if high > low else 0.0)
        for x in numbers
    ]


class SlowSpace:
    """Distance (9.7) and centroids of the records of one task, one pair at a time."""

    def __init__(self, codes: np.ndarray, drawn: Sequence[Hierarchy]) -> None:
        self.codes, self.drawn = codes, drawn
        self.numeric = [j for j, x in enumerate(drawn) if x.coordinates is not None]
        self.nominal = [j for j, x in enumerate(drawn) if x.coordinates is None]
        self.numbers = {j: positions(drawn[j], codes[:, j]) for j in self.numeric}
        self.greatest = {
            j: max(delta(h, (0, 0), (0, leaf)) for leaf in range(h.leaves)) if (h := drawn[j]) else 0.0
            for j in self.nominal
        }

    def point(self, record: int) -> dict[int, Any]:
        own = {j: self.numbers[j][record] for j in self.numeric}
        return own | {j: (0, int(self.codes[record, j])) for j in self.nominal}

    def center(self, records: Sequence[int]) -> dict[int, Any]:
        found: dict[int, Any] = {}
        for j in self.numeric:
            known = [self.numbers[j][i] for i in records if not math.isnan(self.numbers[j][i])]
            found[j] = sum(known) / len(known) if 2 * len(known) >= len(records) else math.nan
        for j in self.nominal:
            found[j] = marginal_centroid(self.drawn[j], [int(self.codes[i, j]) for i in records])
        return found

    def square(self, one: dict[int, Any], other: dict[int, Any]) -> float:
        total = 0.0
        for j in self.numeric:
            a, b = one[j], other[j]
            if math.isnan(a) or math.isnan(b):
                total += float(math.isnan(a) != math.isnan(b))
            else:
                total += (a - b) * (a - b)
        for j in self.nominal:
            if self.greatest[j] > 0:
                total += (delta(self.drawn[j], one[j], other[j]) / self.greatest[j]) ** 2
        return total


@st.composite
def limits(draw: st.DrawFn, n: int) -> tuple[Secret, ...]:
    """Draw up to two sensitive columns with limits of every kind."""
    found = []
    for name in draw(st.sampled_from([(), ("s",), ("s", "u")])):
        width = draw(st.integers(1, 4))
        codes = np.array(draw(st.lists(st.integers(0, width - 1), min_size=n, max_size=n)), np.int64)
        gone = np.array(draw(st.lists(st.integers(0, 1), min_size=width, max_size=width)), np.int64)
        diversity = draw(
            st.sampled_from(
                [
                    None,
                    Diversity("distinct", 2),
                    Diversity("entropy", 1.5),
                    Diversity("recursive", 2, 3.0),
                ]
            )
        )
        distance = draw(st.sampled_from(["equal", "ordered", "hierarchical"]))
        lookups = (np.arange(width), np.arange(width) // 2, np.zeros(width, np.int64))
        t = draw(st.sampled_from([None, 0.1, 0.3, 0.6]))
        whole = np.bincount(codes, minlength=width) + gone
        found.append(
            limit_of(
                name, codes, whole, distance, lookups if distance == "hierarchical" else None, t, diversity
            )
        )
    return tuple(found)


@st.composite
def tasks(draw: st.DrawFn, tables: Any, recoder: str, *, most: int = 20) -> Task:
    """Draw a task that fits the recoder."""
    if recoder == "univariate":
        values = draw(st.lists(st.integers(0, 30), min_size=1, max_size=8, unique=True).map(sorted))
        missing = draw(st.booleans())
        drawn = [numbers_hierarchy(values, missing=missing)]
        leaves = st.integers(0, len(values) - 1 + missing)
        codes = np.array(draw(st.lists(leaves, min_size=1, max_size=most)), np.int64).reshape(-1, 1)
    else:
        codes, drawn = draw(tables(most=most))
    wanted = draw(limits(len(codes)))
    if recoder == "tclose_first":
        values = np.array(
            draw(st.lists(st.integers(0, 9), min_size=len(codes), max_size=len(codes))), np.int64
        )
        t = draw(st.sampled_from([0.0, 0.1, 0.25, 1.0]))
        own = limit_of("pay", values, np.bincount(values, minlength=10), "ordered", None, t)
        others = (x for x in wanted if x.limit.t is None or x.limit.distance != "ordered")
        wanted = (own, *others)
    k = draw(st.integers(1, max(1, len(codes) // 2)))
    suppressible = draw(st.integers(0, len(codes)))
    loss = draw(st.sampled_from(["precision", "granularity"]))
    return ask(
        codes, tuple(drawn), Constraints(k, suppressible, wanted), recoder, loss, gone=draw(st.integers(0, 2))
    )


@pytest.fixture(scope="session")
def micro() -> SimpleNamespace:
    """Strategies and definitions for microaggregation."""
    return SimpleNamespace(
        tasks=tasks,
        numbers=numbers_hierarchy,
        delta=delta,
        concept=marginal_centroid,
        slow=SlowSpace,
    )
