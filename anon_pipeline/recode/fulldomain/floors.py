"""Nodes that break k whatever the other columns hold: found from single columns and pairs of columns alone.

A class of a node lies within one class of any of its columns. So records in a class below k of one column, or
of two, are in a class below k of the node; where these are more than may be suppressed, the node, and every
node below it in these columns, is out (the subset property of Incognito, which holds with suppression).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import add_values
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.fulldomain.lattice import Lattice

PairCounts = Callable[[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]]
"""From two columns to the pairs of their leaves that occur, (c, 2), and the records of each, (c,)."""


def _small_alone(hierarchy: Hierarchy, leaves: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Count the records in classes below k on each level of one column, (h,)."""
    found = []
    for lookup in hierarchy.lookups:
        sizes = np.bincount(lookup, leaves).astype(np.int64)
        found.append(int(sizes[sizes < k].sum()))
    return np.array(found, np.int64)


def _small_together(
    hierarchies: tuple[Hierarchy, Hierarchy],
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    k: int,
    closed: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Count the records in classes below k on each pair of levels, (h, h'); those of closed ones are unknown.

    Rolled up along the first column, and from each of these along the second.
    """
    found = np.zeros(closed.shape, np.int64)
    (one, other), (codes, counts) = hierarchies, pairs
    for first, lookup in enumerate(one.lookups):
        for second, second_lookup in enumerate(other.lookups):
            if not closed[first, second]:
                width = int(second_lookup[-1]) + 1
                keys = lookup[codes[:, 0]] * width + second_lookup[codes[:, 1]]
                _, sizes = add_values(keys, counts, (int(lookup[-1]) + 1) * width)
                found[first, second] = sizes[sizes < k].sum()
    return found


def marginal_floors(
    hierarchies: Sequence[Hierarchy],
    leaves: Sequence[NDArray[np.int64]],
    pairs: PairCounts,
    nodes: Lattice,
    *,
    rule: tuple[int, int],
) -> NDArray[np.bool_]:
    """Tell which nodes are out.

    Args:
        leaves: q times (D,) records of each leaf.
        pairs: counts the pairs of two columns; it is asked once for each pair of which something is open.
        nodes: the lattice.
        rule: k, and the records that may be suppressed.
    Returns:
        In the lattice's shape. Every node that is not out may keep k, or not.
    Source:
        LeFevre, DeWitt and Ramakrishnan (2005); [DB Proposition 5.10]; with suppression, [methods 4].
    """
    k, limit = rule
    out = np.zeros(nodes.shape, np.bool_)
    alone = []
    for column, (hierarchy, own) in enumerate(zip(hierarchies, leaves, strict=True)):
        alone.append(_small_alone(hierarchy, own, k) > limit)
        out |= _broadcast(nodes, (column,), alone[-1])
    for one, other in itertools.combinations(range(len(hierarchies)), 2):
        closed = alone[one][:, None] | alone[other][None, :]
        if not closed.all():
            both = (hierarchies[one], hierarchies[other])
            small = _small_together(both, pairs(one, other), k, closed)
            out |= _broadcast(nodes, (one, other), small > limit)
    return out


def _broadcast(nodes: Lattice, columns: tuple[int, ...], values: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Shape a value for each combination of levels of some columns so that it spreads over the lattice."""
    shape = [height if axis in columns else 1 for axis, height in enumerate(nodes.shape)]
    return values.reshape(shape)
