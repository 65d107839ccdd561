"""Local suppression: some cells of records that would go whole are blanked instead, so that fewer go.

The classes that a node breaks are the units. A blanked cell is released as its hierarchy's top. Units that
agree when the same columns are blanked become one class, if that keeps all constraints. Records in classes
that the node keeps are never touched; others may join such a class only where its own values are the top
already, and only if it still keeps all constraints.

Decision: docs/adr/0019-comparable-recoders-and-cells.md.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.contents import ClassContents, contents_of_tuples, merge_contents
from anon_pipeline.recode.task import Constraints, Task
from anon_pipeline.recode.tuples import DistinctTuples, node_classes

_MOST_SUBSETS = 4096
"""Sets of columns that are tried; beyond them the set of all columns alone."""

_LEFT, _PLACED, _FIXED = 0, 1, 2
_NO_CODE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Blanked:
    """The c classes of one node, with single cells at the top of their hierarchies.

    nodes: (c, q) codes of each class on the node's levels; ``labels``: (t,) class of each tuple.
    codes: (c, q) what is released of it; column j indexes ``values[j]``; −1 in every column of one that is
        suppressed.
    values: q object arrays: those of the node's level, and the top's value if the level lacks it.
    blank: (c, q) which cells were blanked, of classes that are released.
    """

    nodes: NDArray[np.int64] = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)
    codes: NDArray[np.int64] = field(repr=False)
    values: tuple[NDArray[np.object_], ...] = field(repr=False)
    blank: NDArray[np.bool_] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """u classes of a node: those that it breaks, and those that a blanked record might join.

    constraints: of every class.
    contents: records and values of each unit.
    stars: (q,) code of a blanked cell; −1 where the node is at the top already.
    now: (u, q) what is released so far; state: (u,) _LEFT, _PLACED or _FIXED.
    """

    constraints: Constraints
    contents: ClassContents
    stars: NDArray[np.int64]
    now: NDArray[np.int64]
    state: NDArray[np.int64]

    def keep(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which of some classes keep all constraints, (m,).

        Args:
            labels: (u,) class of each unit, 0 … m−1 without gaps; −1 for none.
        """
        return ~broken_classes(self.constraints, merge_contents(self.contents, labels))

    def blank(self, columns: Sequence[int], which: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return what would be released if these columns were blanked in some of the units, (u, q)."""
        rows = self.now.copy()
        for column in columns:
            rows[which, column] = self.stars[column]
        return rows


def cheapest_subsets(costs: Sequence[Fraction]) -> Iterator[tuple[int, ...]]:
    """Give the non-empty subsets of 0 … q−1 by increasing sum of their costs, in a fixed order.

    >>> list(cheapest_subsets([Fraction(2), Fraction(1)]))
    [(1,), (0,), (0, 1)]
    """
    ranked = sorted(range(len(costs)), key=lambda item: (costs[item], item))
    waiting: list[tuple[Fraction, tuple[int, ...]]] = [(costs[ranked[0]], (0,))] if ranked else []
    while waiting:
        cost, places = heapq.heappop(waiting)
        yield tuple(sorted(ranked[place] for place in places))
        following = places[-1] + 1
        if following < len(ranked):
            more = costs[ranked[following]]
            heapq.heappush(waiting, (cost + more, (*places, following)))
            less = costs[ranked[places[-1]]]
            heapq.heappush(waiting, (cost + more - less, (*places[:-1], following)))


def _star(hierarchy: Hierarchy, level: int) -> tuple[int, NDArray[np.object_]]:
    """Return the code of a blanked cell on a level, and the level's values with the top's among them.

    On the top level nothing is left to blank. Classes are by released value: where the level has the top's
    text already, a blanked cell has its code.
    """
    values, top = hierarchy.values[level], hierarchy.values[-1][:1]
    if level == hierarchy.height - 1:
        return _NO_CODE, values
    same = [code for code, value in enumerate(values) if value is not None and str(value) == str(top[0])]
    return (same[0], values) if same else (len(values), np.concatenate([values, top]))


def star_codes(task: Task, levels: Sequence[int]) -> NDArray[np.int64]:
    """Return the code of a blanked cell of each column, (q,); −1 where the node is at the top already."""
    found = zip(task.hierarchies, levels, strict=True)
    return np.array([_star(hierarchy, level)[0] for hierarchy, level in found], np.int64)


def count_subsets(task: Task, levels: Sequence[int]) -> int:
    """Return how many sets of columns are tried at most at a node."""
    at = zip(task.hierarchies, levels, strict=True)
    open_ = sum(level < hierarchy.height - 1 for hierarchy, level in at)
    return int(min(2**open_ - 1, _MOST_SUBSETS + 1))


def _subsets(task: Task, levels: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the sets of columns to blank, cheapest first: a cell costs the levels it goes up, by weight."""
    open_ = [j for j, level in enumerate(levels) if level < task.hierarchies[j].height - 1]
    costs = []
    for j in open_:
        top = task.hierarchies[j].height - 1
        weight = Fraction(str(task.weights[j])) if task.weights else Fraction(1)
        costs.append(weight * Fraction(top - levels[j], top))
    chosen = list(itertools.islice(cheapest_subsets(costs), _MOST_SUBSETS))
    everything = tuple(range(len(open_)))
    if open_ and everything not in chosen:
        chosen.append(everything)
    return [tuple(open_[place] for place in subset) for subset in chosen]


def _units(
    task: Task, codes: NDArray[np.int64], classes: ClassContents, stars: NDArray[np.int64]
) -> tuple[_Units, NDArray[np.int64]]:
    """Lay out the classes that matter, and say which they are, (u,)."""
    against = broken_classes(task.constraints, classes)
    used = np.flatnonzero(against | (codes == stars).any(axis=1))
    place = np.full(len(codes), -1, np.int64)
    place[used] = np.arange(len(used))
    units = _Units(
        constraints=task.constraints,
        contents=merge_contents(classes, place),
        stars=stars,
        now=codes[used],
        state=np.where(against[used], _LEFT, _FIXED),
    )
    return units, used


def _together(units: _Units, rows: NDArray[np.int64], which: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Group some units by what they would release; −1 for classes without a unit that is left, (u,)."""
    labels = np.full(len(rows), -1, np.int64)
    groups = group_rows(rows[which])[1]
    touched = np.zeros(int(groups.max(initial=-1)) + 1, np.bool_)
    touched[groups[units.state[which] == _LEFT]] = True
    labels[which] = np.where(touched, np.cumsum(touched) - 1, -1)[groups]
    return labels


def _place(units: _Units, columns: Sequence[int]) -> None:
    """Blank these columns in the units that are left, wherever that makes classes that keep everything."""
    rows = units.blank(columns, units.state == _LEFT)
    labels = _together(units, rows, np.ones(len(rows), np.bool_))
    good = units.keep(labels)[labels] & (labels >= 0) & (units.state == _LEFT)
    units.now[good] = rows[good]
    units.state[good] = _PLACED


def _rescue(units: _Units, columns: Sequence[int]) -> None:
    """Blank these columns in units that are left, and in as many classes made so far as that needs."""
    rows = units.blank(columns, units.state != _FIXED)
    labels = _together(units, rows, np.ones(len(rows), np.bool_))
    for label in np.flatnonzero(units.keep(labels)).tolist():
        inside = labels == label
        joined = inside & ((units.state != _PLACED) | (units.now == rows).all(axis=1))
        for members in _companies(units, inside & ~joined):
            if units.keep(np.where(joined, 0, -1))[0]:
                break
            joined = joined | members
        moved = joined & (units.state != _FIXED)
        units.now[moved] = rows[moved]
        units.state[moved] = _PLACED


def _companies(units: _Units, which: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """Return the classes made before that some units form, (u,) each: smallest first, then by their codes."""
    found = []
    for row in np.unique(units.now[which], axis=0):
        members = which & (units.now == row).all(axis=1)
        found.append((int(units.contents.sizes[members].sum()), row.tolist(), members))
    return [members for _, _, members in sorted(found, key=lambda each: each[:2])]


def blank_cells(task: Task, table: DistinctTuples, levels: Sequence[int]) -> Blanked:
    """Blank cells of records that a node would suppress, so that fewer of them go whole.

    Greedy: the sets of columns are taken by increasing cost (the share of the hierarchy that a cell goes up,
    by the column's weight). All units left that agree with these columns blanked are one class if it keeps
    all constraints. Then, in the same order, what is left looks for company: a class made so far is blanked
    further, the smallest first, where that lets it in. What is left then goes whole; with k alone that is
    nothing, or all of them where they are fewer than k.

    The released classes keep all constraints, those that the node keeps have lost no record, and no more
    records are suppressed than without. A loss that adds up cells does not grow: a blanked cell costs what a
    suppressed one does.

    Args:
        levels: (q,) of the node.
    """
    codes, labels = node_classes(table, task.hierarchies, levels)
    found = [_star(hierarchy, level) for hierarchy, level in zip(task.hierarchies, levels, strict=True)]
    stars = np.array([code for code, _ in found], np.int64)
    units, used = _units(task, codes, contents_of_tuples(table, labels), stars)
    subsets = _subsets(task, levels)
    for step in (_place, _rescue):
        for columns in subsets:
            if not (units.state == _LEFT).any():
                break
            step(units, columns)
    after = codes.copy()
    after[used] = np.where((units.state == _LEFT)[:, None], -1, units.now)
    blank = (after != codes) & (after >= 0)
    return Blanked(codes, labels, after, tuple(values for _, values in found), blank)
