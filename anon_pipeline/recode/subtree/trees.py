"""A hierarchy as a tree, in which each value is kept or replaced by the values below it.

A *front* is what is released of a column: values of the tree such that each leaf is below exactly one of
them. A full-domain recoding is the front of one level; a front may take some values from a lower level.

Decision: docs/adr/0087-fronts-of-hierarchies.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The v values of a hierarchy that cover different leaves, the top first, each before those below it.

    Of values that cover the same leaves the lowest is taken, which loses least.

    levels: (v,) of each value. codes: (v,) on its level.
    first, last: (v,) the leaves below it: from the first one to before the last one.
    parents: (v,) the least value above it; −1 for the top.
    inner: (w,) values that have others below them: those that can be opened.
    """

    levels: NDArray[np.int64] = field(repr=False)
    codes: NDArray[np.int64] = field(repr=False)
    first: NDArray[np.int64] = field(repr=False)
    last: NDArray[np.int64] = field(repr=False)
    parents: NDArray[np.int64] = field(repr=False)
    inner: NDArray[np.int64] = field(repr=False)

    @property
    def values(self) -> int:
        """Number of values (v)."""
        return len(self.levels)


def make_tree(hierarchy: Hierarchy) -> Tree:
    """Make the tree of a hierarchy with at least one leaf."""
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for level, lookup in enumerate(hierarchy.lookups):
        starts = np.flatnonzero(np.diff(lookup, prepend=-1))
        ends = np.append(starts[1:], len(lookup))
        for code, span in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            spans.setdefault(span, (level, code))
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
    above: list[int] = []
    parents = []
    for place, (start, _) in enumerate(ordered):
        while above and ordered[above[-1]][1] <= start:
            above.pop()
        parents.append(above[-1] if above else -1)
        above.append(place)
    inner = sorted({parent for parent in parents if parent >= 0})
    levels, codes = np.array([spans[span] for span in ordered], np.int64).reshape(-1, 2).T
    first, last = np.array(ordered, np.int64).reshape(-1, 2).T
    return Tree(
        levels=levels,
        codes=codes,
        first=first,
        last=last,
        parents=np.array(parents, np.int64),
        inner=np.array(inner, np.int64),
    )


@kernel
def write_front(
    inner: NDArray[np.int64],
    parents: NDArray[np.int64],
    spans: tuple[NDArray[np.int64], NDArray[np.int64]],
    opened: NDArray[np.bool_],
    front: NDArray[np.int64],
    reached: NDArray[np.bool_],
) -> None:
    """Find the value that is released for each leaf.

    Args:
        inner, parents: of `Tree`. spans: (v,) first leaf, (v,) last leaf.
        opened: (w,) whether each inner value is replaced by those below it.
        front: (D,) out: value of each leaf.
        reached: (v,) out: whether a value is in the front, or above it.
    """
    first, last = spans
    wide = np.zeros(len(parents), np.bool_)
    for place in range(len(inner)):
        wide[inner[place]] = opened[place]
    for value in range(len(parents)):
        above = parents[value]
        reached[value] = above < 0 or (reached[above] and wide[above])
        if reached[value] and not wide[value]:
            front[first[value] : last[value]] = value


def front_of(tree: Tree, opened: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return what is released where some values are opened.

    Args:
        opened: (w,) whether each inner value is replaced by those below it; one below a value that is not
            opened does not matter.
    Returns:
        Number of the released value of each leaf, (D,), never decreasing; whether each inner value is in the
        front or above it, (w,), so that opening or closing it changes the front.
    """
    front, reached = np.empty(int(tree.last[0]), np.int64), np.empty(tree.values, np.bool_)
    write_front(tree.inner, tree.parents, (tree.first, tree.last), opened, front, reached)
    return front, reached[tree.inner]


def opened_to(tree: Tree, level: int) -> NDArray[np.bool_]:
    """Return which inner values are opened where one level of the hierarchy is released, (w,)."""
    opened: NDArray[np.bool_] = tree.levels[tree.inner] > level
    return opened
