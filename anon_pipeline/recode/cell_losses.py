"""Losses that add up cells, with a weight w for each column.

* precision: Σ w·loss / Σ w over the columns, a cell on level l loses l/(h − 1), a suppressed one 1.
* granularity: the same; a cell that covers c of D leaves loses (c − 1)/(D − 1), a suppressed one 1.
* entropy: a cell of value v, generalized to g, loses w·log₂(count(g)/count(v)), counted over the whole table;
  a suppressed one as if generalized to the top. Divided by what suppressing every record would lose. A cell
  costs log₂(count(g)); the offset, Σ count(v)·log₂(count(v)), is the same for all nodes. It is counted in
  units of 2^-30, and in larger ones where a table has more than 304,788,810 records (`information_bits`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.loss import CellLoss, information, information_bits
from anon_pipeline.recode.ranges import covered_leaves, lengths, range_information


def _bits(hierarchy: Hierarchy, counts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    bits = information_bits(int(counts.sum()))
    return [
        information(np.bincount(lookup, counts, len(values)).astype(np.int64), bits)
        for lookup, values in zip(hierarchy.lookups, hierarchy.values, strict=True)
    ]


PRECISION = CellLoss(
    levels=lambda hierarchy, counts: [
        np.full(len(values), level, np.int64) for level, values in enumerate(hierarchy.values)
    ],
    suppressed=lambda hierarchy, records: hierarchy.height - 1,
    ranges=lambda axis, low, high, counts: lengths(axis, low, high),
)
GRANULARITY = CellLoss(
    levels=lambda hierarchy, counts: [hierarchy.leaves_below(level) - 1 for level in range(hierarchy.height)],
    suppressed=lambda hierarchy, records: hierarchy.leaves - 1,
    ranges=lambda axis, low, high, counts: covered_leaves(axis, low, high),
)
ENTROPY = CellLoss(
    levels=_bits,
    suppressed=lambda hierarchy, records: int(information(np.array([records]), information_bits(records))[0]),
    ranges=range_information,
    offset=lambda counts: int(counts @ information(counts, information_bits(int(counts.sum())))),
)
