"""The classes that a node of the lattice makes of the table, spelled out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.tuples import DistinctTuples


def node_classes(
    table: DistinctTuples, hierarchies: Sequence[Hierarchy], levels: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group distinct tuples by their values on a node's levels.

    Args:
        table: the records.
        hierarchies: q hierarchies.
        levels: (q,) level of each.
    Returns:
        Codes of each class on those levels, (m, q), in lexicographic order; class of each tuple, (t,).
        Nothing is suppressed.
    """
    codes = np.empty_like(table.tuples)
    for column, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
        codes[:, column] = hierarchy.lookups[level][table.tuples[:, column]]
    first, labels, _ = group_rows(codes)
    return codes[first], labels
