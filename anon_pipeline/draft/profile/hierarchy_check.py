"""One hierarchy, held against its column: which values it lacks, and what its levels make of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.values import to_texts
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.draft.profile.look import Look
from anon_pipeline.draft.profile.proposed_hierarchies import as_series
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.hierarchy.build import code_column
from anon_pipeline.policy.hierarchies import hierarchy_kind

_SHOWN = 12  # values below one value that are drawn


@dataclass(frozen=True, slots=True, eq=False)
class CheckedHierarchy:
    """What a hierarchy makes of a column: private, but for the counts.

    hierarchy: over the values that are its leaves; None where no value is one.
    records: (D,) records of each leaf.
    not_leaves: values of the column that are no leaf, sorted.
    lacking: records with such a value.
    """

    hierarchy: Hierarchy | None = field(repr=False)
    records: NDArray[np.int64] = field(repr=False)
    not_leaves: tuple[str, ...] = field(repr=False)
    lacking: int

    @property
    def level_sizes(self) -> list[tuple[int, int, int]]:
        """Of each level: values that occur, least and most records of one."""
        if self.hierarchy is None:
            return []
        found = []
        for lookup, names in zip(self.hierarchy.lookups, self.hierarchy.values, strict=True):
            sizes = np.bincount(lookup, weights=self.records, minlength=len(names)).astype(np.int64)
            there = sizes[sizes > 0]
            found.append((len(there), int(there.min()), int(there.max())))
        return found


def check_hierarchy(look: Look, spec: Any, *, folder: Path = Path()) -> CheckedHierarchy:
    """Hold a hierarchy against a column.

    Args:
        look: the column, as it is read.
        spec: the policy's description of the hierarchy.
        folder: what its table is relative to.
    Raises:
        InputError: it is not nested, its table is unreadable, or the column does not hold what it needs.
    """
    column = as_series(look)
    place = hierarchy_kind(spec).leaves
    texts = to_texts(column)
    outside = np.zeros(len(column), np.bool_)
    if place:
        leaves = import_entry(place)(str(look.seen.name), spec, folder)
        outside = texts.notna().to_numpy() & ~texts.isin(leaves).to_numpy()
    missing = tuple(sorted(texts[outside].unique()))
    kept = column[~outside]
    if not kept.notna().any():
        return CheckedHierarchy(None, np.empty(0, np.int64), missing, int(outside.sum()))
    codes, hierarchy = code_column(kept, spec, folder=folder)
    records = np.bincount(codes, minlength=hierarchy.leaves).astype(np.int64)
    return CheckedHierarchy(hierarchy, records, missing, int(outside.sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A value of a hierarchy with what is below it; its name is private.

    name: the value; None for a missing one.
    leaves: that occur below it.
    records: of them.
    below: nodes of the next finer level, the most records first, and how many are not drawn.
    """

    name: str | None = field(repr=False)
    leaves: int
    records: int
    below: tuple[Node, ...]
    more: int = 0


def draw_tree(checked: CheckedHierarchy) -> Node | None:
    """Return the tree above the leaves, its top first, the leaves counted; None without any."""
    hierarchy = checked.hierarchy
    if hierarchy is None:
        return None
    return _node(hierarchy, checked.records, hierarchy.height - 1, np.flatnonzero(checked.records), 0)


def _node(
    hierarchy: Hierarchy, records: NDArray[np.int64], level: int, leaves: NDArray[np.int64], code: int
) -> Node:
    name = hierarchy.values[level][code]
    own = None if name is None else str(name)
    total = int(records[leaves].sum())
    if level <= 1:
        return Node(own, len(leaves), total, ())
    lookup = hierarchy.lookups[level - 1]
    below = [
        _node(hierarchy, records, level - 1, leaves[lookup[leaves] == part], int(part))
        for part in np.unique(lookup[leaves])
    ]
    below.sort(key=lambda node: -node.records)
    return Node(own, len(leaves), total, tuple(below[:_SHOWN]), max(len(below) - _SHOWN, 0))
