"""Classes that were counted are kept as rows: more general levels are counted from these, not from records.

There are fewer of them than records, often many times fewer, so a search goes through the records a few times
only. See `recode.fulldomain.elsewhere` for the classes that are few enough for a table of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.division.grouped_records import GroupedRecords
from anon_pipeline.division.record_keys import Levels

_SHARE = 2  # at most one row is kept for so many records


class Rows(NamedTuple):
    """r rows, each of which stands for records that have the same codes.

    levels: of the codes, (q,).
    columns: q times (r,) codes on these levels.
    weights: (r,) records of each row.
    """

    levels: tuple[int, ...]
    columns: tuple[NDArray[np.integer], ...]
    weights: NDArray[np.integer]

    def on(self, lookups: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> Levels:
        """Return the rows with their codes on more general levels.

        Args:
            lookups: q pairs: the code of each leaf, (D,), on the level of the rows, and on the wanted level.
        """
        found = []
        for own, wanted in lookups:
            lookup = np.empty(int(own[-1]) + 1, np.int64)
            lookup[own] = wanted
            found.append(narrow_integers(lookup))
        return Levels(self.columns, found, weights=self.weights)


class KeptRows:
    """The kept rows of some nodes of a lattice, together at most half as many as the table has records.

    Args:
        records: how many the table has.
    """

    def __init__(self, records: int) -> None:
        self._most = records // _SHARE
        self._kept: list[Rows] = []

    def below(self, levels: Sequence[int]) -> Rows | None:
        """Return the fewest rows that a node can be counted from; None: it must be counted from records."""
        fit = [
            rows
            for rows in self._kept
            if all(own <= other for own, other in zip(rows.levels, levels, strict=True))
        ]
        return min(fit, key=lambda rows: len(rows.weights), default=None)

    def keep(self, levels: Sequence[int], found: GroupedRecords) -> None:
        """Keep all classes of a node if they are few enough; the oldest are dropped until there is room."""
        classes = len(found.sizes)
        if classes > self._most or any(rows.levels == tuple(levels) for rows in self._kept):
            return
        while sum(len(rows.weights) for rows in self._kept) + classes > self._most:
            self._kept.pop(0)
        columns = tuple(narrow_integers(own) for own in found.codes.T)
        self._kept.append(Rows(tuple(levels), columns, narrow_integers(found.sizes)))
