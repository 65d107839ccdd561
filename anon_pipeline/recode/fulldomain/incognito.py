"""Incognito: the k-anonymous nodes of ever larger sets of columns, each pruned by the sets within it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.base.errors import InputError
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.fulldomain.candidates import choose_preferred, lowest_feasible
from anon_pipeline.recode.fulldomain.ola import k_anonymous, lowest_nodes
from anon_pipeline.recode.fulldomain.search import NodeScore, Search
from anon_pipeline.recode.task import Progress
from anon_pipeline.recode.tuples import DistinctTuples

_MOST_BYTES = 2**28
"""Bytes of the frequency tables that are kept to be rolled up; beyond, tables are made from the records."""


class Frequencies(NamedTuple):
    """How often each combination of generalized values occurs.

    codes: (c, i) distinct combinations; counts: (c,) records of each.
    """

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]

    def suppressed_count(self, k: int) -> int:
        """Count the records in classes below k."""
        return int(self.counts[self.counts < k].sum())


def _frequencies(codes: NDArray[np.int64], counts: NDArray[np.int64]) -> Frequencies:
    """Add up the records of equal combinations."""
    first, labels, _ = group_rows(codes)
    sums = np.zeros(len(first), np.int64)
    np.add.at(sums, labels, counts)
    return Frequencies(codes[first], sums)


def _generalize(table: Frequencies, maps: Sequence[NDArray[np.int64] | None]) -> Frequencies:
    """Roll a table up: map the codes of each column that has a map."""
    codes = table.codes.copy()
    for column, mapping in enumerate(maps):
        if mapping is not None:
            codes[:, column] = mapping[codes[:, column]]
    return _frequencies(codes, table.counts)


def _parents(hierarchy: Hierarchy, level: int) -> NDArray[np.int64]:
    """Map the codes of one level to those of the level above."""
    below, above = hierarchy.lookups[level : level + 2]
    mapping = np.zeros(int(below[-1]) + 1, np.int64)
    mapping[below] = above
    return mapping


@dataclass(slots=True)
class _Subset:
    """The lattice of some of the columns.

    hierarchies: of these columns.
    base: their ungeneralized frequencies.
    held: tables of nodes that were not anonymous, to be rolled up; ``bytes`` of them, none lower than one
        below ``height``.
    counted: nodes whose classes were counted.
    """

    hierarchies: tuple[Hierarchy, ...]
    base: Frequencies
    held: dict[tuple[int, ...], Frequencies] = field(default_factory=dict)
    bytes: int = 0
    height: int = 0
    counted: int = 0

    def count(self, levels: tuple[int, ...]) -> Frequencies:
        """Make a node's table from the smallest one that is held just below, else from the base."""
        self.counted += 1
        below = [
            (len(self.held[under].counts), column, under)
            for column, level in enumerate(levels)
            if (under := (*levels[:column], level - 1, *levels[column + 1 :])) in self.held
        ]
        maps: list[NDArray[np.int64] | None] = [None] * len(levels)
        if below:
            _, column, under = min(below)
            maps[column] = _parents(self.hierarchies[column], under[column])
            return _generalize(self.held[under], maps)
        for column, (hierarchy, level) in enumerate(zip(self.hierarchies, levels, strict=True)):
            maps[column] = hierarchy.lookups[level] if level else None
        return _generalize(self.base, maps)

    def hold(self, levels: tuple[int, ...], table: Frequencies) -> None:
        """Keep a table for the nodes above, as far as there is room; drop those too low to be of use.

        Nodes must come from the lowest total level upward.
        """
        if sum(levels) > self.height:
            self.height = sum(levels)
            for old in [old for old in self.held if sum(old) < self.height - 1]:
                self.bytes -= self.held.pop(old).codes.nbytes
        if self.bytes + table.codes.nbytes <= _MOST_BYTES:
            self.held[levels] = table
            self.bytes += table.codes.nbytes


def _anonymous(subset: _Subset, candidates: NDArray[np.bool_], *, k: int, limit: int) -> NDArray[np.bool_]:
    """Tell which candidates are k-anonymous, from the bottom up; what is above one that is, is too.

    Args:
        candidates: in its shape; whatever lies above a candidate is one.
        limit: records that may be suppressed.
    """
    found = np.zeros(candidates.shape, np.bool_)
    nodes = np.argwhere(candidates)
    for row in nodes[np.argsort(nodes.sum(axis=1), kind="stable")].tolist():
        levels = tuple(row)
        if found[levels]:
            continue
        table = subset.count(levels)
        if table.suppressed_count(k) <= limit:
            found[tuple(slice(level, None) for level in levels)] = True
        else:
            subset.hold(levels, table)
    return found


def k_anonymous_nodes(
    table: DistinctTuples,
    hierarchies: Sequence[Hierarchy],
    *,
    k: int,
    limit: int,
    told: Callable[[int], None] = lambda counted: None,
) -> tuple[NDArray[np.bool_], int]:
    """Find every k-anonymous node of the lattice.

    A node of a set of columns is looked at only when its projections on all sets of one column less are
    k-anonymous. This subset property holds with a suppression limit too: without a column, classes are unions
    of classes, so a record in a class of at least k records stays in one, and the records in smaller
    classes are at most those that were in smaller classes before. If these were within the limit, so are
    those that are left.

    Args:
        limit: records that may be suppressed, below n.
        told: called with the number of nodes counted, before each set of columns.
    Returns:
        In the lattice's shape; and how many nodes were counted, those of all sets of columns together.
    """
    known: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.ones((), np.bool_)}
    counted = 0
    for size in range(1, len(hierarchies) + 1):
        before, known = known, {}
        for columns in itertools.combinations(range(len(hierarchies)), size):
            own = tuple(hierarchies[column] for column in columns)
            candidates = np.ones([hierarchy.height for hierarchy in own], np.bool_)
            for place in range(size):
                candidates &= np.expand_dims(before[columns[:place] + columns[place + 1 :]], place)
            told(counted)
            tuples = np.ascontiguousarray(table.tuples[:, list(columns)])
            subset = _Subset(own, _frequencies(tuples, table.counts))
            known[columns] = _anonymous(subset, candidates, k=k, limit=limit)
            counted += subset.counted
    return known[tuple(range(len(hierarchies)))], counted


def incognito(search: Search) -> tuple[NodeScore, int]:
    """Find all k-minimal nodes by Incognito; of the minimal nodes that keep all constraints, choose one.

    With k alone these are the k-minimal nodes. The choice is by the task's ``prefer``. t and l are never used
    to prune (not monotone with suppression): the nodes above the k-minimal ones are asked for them, see
    `lowest_feasible`.

    Where the table was too large, the k-anonymous nodes are those of `k_anonymous`: single columns and pairs
    are ruled out before (`floors`), and larger sets would be counted elsewhere, one by one.

    Args:
        search: a table with n ≥ k.
    Returns:
        The node; and how many nodes were counted for k, those of smaller sets of columns included.
    Raises:
        InputError: the lattices of all sets of columns have more nodes together than ``most_nodes``.
        InfeasibleError: no node keeps all constraints.
    Source:
        LeFevre, DeWitt and Ramakrishnan (2005); [DB Algorithm 3]; the generalization, rollup and subset
        properties are [DB Propositions 5.8 to 5.10].
    """
    task = search.task
    together = math.prod(hierarchy.height + 1 for hierarchy in task.hierarchies) - 1
    if together > task.most_nodes:
        raise InputError(
            f"The lattices of all sets of columns must have at most {task.most_nodes:,} nodes together for "
            f"incognito, got {together:,}. Use ola, which finds the same nodes, or generalize fewer columns."
        )
    if search.source.closed is not None or search.source.table is None:
        return choose_preferred(search, lowest_feasible(search, lowest_nodes(k_anonymous(search)))), 0
    anonymous, counted = k_anonymous_nodes(
        search.source.table,
        task.hierarchies,
        k=task.constraints.k,
        limit=search.limit,
        told=lambda counted: task.told(Progress("searching", counted, together - counted)),
    )
    return choose_preferred(search, lowest_feasible(search, lowest_nodes(anonymous))), counted
