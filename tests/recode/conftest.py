"""Hierarchies, random tables and brute force for the recoders, written from the definitions alone."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.task import Constraints, Diversity, Task
from tests.recode.asking import Secret, ask, held, limit_of


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


@st.composite
def sensitive_limits(draw: st.DrawFn, n: int, column: str, closeness: bool = True) -> Secret:
    """Draw a sensitive column with t, one of three kinds of l, or both."""
    v = draw(st.integers(1, 4))
    values = draw(st.lists(st.integers(0, v - 1), min_size=n, max_size=n))
    extra = draw(st.lists(st.integers(0, 2), min_size=v, max_size=v))
    distance = draw(st.sampled_from(["equal", "ordered", "hierarchical"]))
    codes = np.array(values, np.int64)
    lookups = (np.arange(v), np.arange(v) // 2, np.zeros(v, np.int64)) if distance == "hierarchical" else None
    kind = draw(st.sampled_from([None, "distinct", "entropy", "recursive"]))
    diversity = None
    if kind is not None:
        least = {"distinct": st.integers(1, 3), "entropy": st.sampled_from([1.0, 1.5, 1.9, 2.0])}
        diversity = Diversity(
            kind, draw(least.get(kind, st.integers(1, 3))), 1.5 if kind == "recursive" else None
        )
    t = draw(st.one_of(st.none(), st.sampled_from([0.05, 0.2, 0.35, 0.5]))) if closeness else None
    whole = np.bincount(codes, minlength=v) + np.array(extra, np.int64)
    return limit_of(column, codes, whole, distance, lookups, t, diversity)


@st.composite
def tasks(draw: st.DrawFn, recoder: str, loss: str, columns: int | None = None) -> Task:
    """Draw a whole question: table, hierarchies, all kinds of constraints, weights, target, records gone."""
    codes, drawn = draw(tables())
    n, q = codes.shape
    limits = [
        draw(sensitive_limits(n, name))
        for name in "st"[: draw(st.integers(0, 2)) if columns is None else columns]
    ]
    weights = draw(
        st.one_of(st.just([]), st.lists(st.sampled_from([0.1, 0.5, 1, 3]), min_size=q, max_size=q))
    )
    target = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), np.int64)
    constraints = Constraints(draw(st.integers(1, min(n, 5))), draw(st.integers(0, n)), tuple(limits))
    return ask(
        codes,
        tuple(drawn),
        constraints,
        recoder,
        loss=loss,
        weights=tuple(weights),
        target=target if loss == "classification" else None,
        gone=draw(st.integers(0, 2)),
        levels=tuple(draw(st.integers(0, hierarchy.height - 1)) for hierarchy in drawn)
        if "levels" in recoder_of(recoder).options
        else (),
    )


@st.composite
def questions(draw: st.DrawFn, limited: bool = True, **how: Any) -> Task:
    """Draw what a full-domain recoder may be asked, with its options; by default a cell-wise loss."""
    loss = how.pop("loss", None) or draw(st.sampled_from(["precision", "granularity"]))
    task = draw(tasks(how.pop("recoder", "ola"), loss, None if limited else 0))
    return replace(task, **how)


def brute_lowest(nodes: Sequence[SimpleNamespace]) -> list[SimpleNamespace]:
    """Of some nodes those that generalize no other."""
    return [
        a for a in nodes if not any(b is not a and all(map(int.__le__, b.levels, a.levels)) for b in nodes)
    ]


def brute_best(task: Task, nodes: Sequence[SimpleNamespace]) -> SimpleNamespace:
    """The node by a preference criterion of [SL]; ties by loss, suppressed, total level, levels."""

    def criterion(node: SimpleNamespace) -> Any:
        relative = sum(
            (
                Fraction(level, h.height - 1)
                for level, h in zip(node.levels, task.hierarchies, strict=True)
                if level
            ),
            Fraction(0),
        )
        return {
            "loss": node.loss,
            "least_absolute_distance": sum(node.levels),
            "least_relative_distance": relative,
            "most_distinct_tuples": -node.distinct,
            "least_suppression": node.suppressed,
        }[task.prefer]

    return min(nodes, key=lambda x: (criterion(x), x.loss, x.suppressed, sum(x.levels), x.levels))


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / max(1, len(values))


def brute_node(
    codes: np.ndarray, drawn: Sequence[Hierarchy], levels: Sequence[int], k: int
) -> SimpleNamespace:
    """Everything about one node, record by record ([methods 3 and 9])."""
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


def brute_labels(task: Any, levels: Sequence[int]) -> np.ndarray:
    """Class of each record at a node."""
    rows = np.stack(
        [h.lookups[lv][c] for h, lv, c in zip(task.hierarchies, levels, task.by_record.codes.T, strict=True)],
        axis=1,
    )
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _bits(count: int) -> int:
    return round(math.log2(count) * 2**30)


def _column_losses(task: Any, levels: Sequence[int], kept: np.ndarray) -> list[tuple[Fraction, Fraction]]:
    """What each column loses, and at most, cell by cell ([methods 9])."""
    found, n = [], len(task.by_record.codes)
    for column, (hierarchy, level) in enumerate(zip(task.hierarchies, levels, strict=True)):
        lookup, leaves = hierarchy.lookups[level], task.by_record.codes[:, column].tolist()
        below, h, d = Counter(lookup.tolist()), hierarchy.height, hierarchy.leaves
        values, groups = Counter(leaves), Counter(int(lookup[leaf]) for leaf in leaves)
        lost = Fraction(0)
        for leaf, stays in zip(leaves, kept.tolist(), strict=True):
            if task.loss == "precision":
                lost += Fraction(level if stays else h - 1, max(h - 1, 1)) / n
            elif task.loss == "granularity":
                lost += Fraction(below[int(lookup[leaf])] - 1 if stays else d - 1, max(d - 1, 1)) / n
            else:
                lost += _bits(groups[int(lookup[leaf])] if stays else n) - _bits(values[leaf])
        most = sum(_bits(n) - _bits(values[leaf]) for leaf in leaves) if task.loss == "entropy" else 1
        found.append((lost, Fraction(most)))
    return found


def brute_loss(task: Any, labels: np.ndarray, kept: np.ndarray, levels: Sequence[int]) -> Fraction:
    """The loss of a node by its definition, records gone included."""
    n, every = len(task.by_record.codes), len(task.by_record.codes) + task.gone
    gone = int((~kept).sum()) + task.gone
    sizes = Counter(labels[kept].tolist())
    if task.loss == "discernibility":
        return Fraction(sum(size * size for size in sizes.values()) + every * gone, every**2)
    if task.loss == "average_class_size":
        return Fraction(every, len(sizes) + (gone > 0)) / every
    if task.loss == "classification":
        pairs = Counter(zip(labels[kept].tolist(), task.by_record.target[kept].tolist(), strict=True))
        best = {group: max(c for (g, _), c in pairs.items() if g == group) for group in sizes}
        return Fraction(sum(sizes.values()) - sum(best.values()) + gone, every)
    weights = [Fraction(str(weight)) for weight in task.weights] or [Fraction(1)] * len(task.hierarchies)
    columns = _column_losses(task, levels, kept)
    lost = sum((w * own for w, (own, _) in zip(weights, columns, strict=True)), Fraction(0))
    most = sum((w * full for w, (_, full) in zip(weights, columns, strict=True)), Fraction(0))
    return (lost / (most or 1) * n + task.gone) / every


def brute_search(task: Any) -> list[SimpleNamespace]:
    """Every node of the lattice with what it suppresses and loses, constraints measured as the gate does."""
    found = []
    for levels in itertools.product(*(range(h.height) for h in task.hierarchies)):
        labels = brute_labels(task, levels)
        gone = broken_classes(task.constraints, held(task, labels))
        kept = ~gone[labels]
        suppressed = int((~kept).sum())
        small = int((np.bincount(labels)[labels] < task.constraints.k).sum())
        limit = min(task.constraints.max_suppressed, len(labels) - 1)
        found.append(
            SimpleNamespace(
                levels=levels,
                suppressed=suppressed,
                small=small,
                feasible=suppressed <= limit,
                anonymous=small <= limit,
                distinct=int((~gone).sum()),
                loss=brute_loss(task, labels, kept, levels),
            )
        )
    return found


@pytest.fixture(scope="session")
def brute() -> SimpleNamespace:
    """Brute force over all nodes, and what a recoding releases."""
    return SimpleNamespace(
        node=brute_node,
        nodes=brute_nodes,
        anonymous=brute_anonymous,
        minimal=brute_minimal,
        lowest=brute_lowest,
        best=brute_best,
        released=released,
        search=brute_search,
        labels=brute_labels,
        loss=brute_loss,
    )


@pytest.fixture(scope="session")
def drawn() -> SimpleNamespace:
    """Strategies for `data.draw`."""
    return SimpleNamespace(hierarchies=hierarchies, tables=tables, tasks=tasks, questions=questions)


@pytest.fixture(scope="session")
def from_rows() -> Callable[..., Hierarchy]:
    """Reader of hierarchy tables."""
    return hierarchy_of_rows


@pytest.fixture(scope="session")
def encode_column() -> Callable[..., np.ndarray]:
    """Leaf codes of a column of values."""
    return leaf_codes
