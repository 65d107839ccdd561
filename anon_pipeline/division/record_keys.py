"""Numbers that stand for the codes of records on some levels, made for a slice of the records at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.classes import group_columns

_LARGEST_KEY: Final = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Records of which some have a code in each of q columns, generalized when they are asked for.

    columns: q ≥ 1 times (n,) codes, of leaves or on a less general level.
    lookups: q times the code on the wanted level by the code in the column, never falling.
    without: (n,) records that do not count; None: all do.
    weights: (n,) how many records each row stands for; None: one each.
    """

    columns: Sequence[NDArray[np.integer]] = field(repr=False)
    lookups: Sequence[NDArray[np.integer]] = field(repr=False)
    without: NDArray[np.bool_] | None = field(default=None, repr=False)
    weights: NDArray[np.integer] | None = field(default=None, repr=False)

    @property
    def widths(self) -> list[int]:
        """What the codes of each column are below."""
        return [int(lookup[-1]) + 1 for lookup in self.lookups]

    def some(self, part: slice | NDArray[np.int64]) -> list[NDArray[np.integer]]:
        """Return the codes of some records, q times (r,), also of those that do not count."""
        return [lookup.take(own[part]) for own, lookup in zip(self.columns, self.lookups, strict=True)]

    def select(self, values: NDArray[Any], part: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Return the values of those of some records that count; ``values``: (r,), of all of them."""
        return values if self.without is None else values[~self.without[part]]


class Keys:
    """A number for each record that counts, equal where and only where all codes are, in their order.

    Where numbers of 62 bits do not hold the codes, records are grouped as a whole first, in memory.
    """

    def __init__(self, levels: Levels, largest: int) -> None:
        self._levels, self._groups, self._distinct = levels, None, None
        self.space = math.prod(levels.widths)
        if self.space * largest > _LARGEST_KEY:
            columns = levels.some(slice(None))
            first, self._groups, _ = group_columns(columns, len(columns[0]))
            self._distinct = narrow_integers(np.stack([own[first] for own in columns], axis=1))
            self.space = len(first)

    def some(self, part: slice | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of those of some records that count."""
        if self._groups is not None:
            return self._levels.select(self._groups[part], part)
        columns = self._levels.some(part)
        key = columns[0].astype(np.int64)
        for own, width in zip(columns[1:], self._levels.widths[1:], strict=True):
            key *= width
            key += own
        return self._levels.select(key, part)

    def rows(self, keys: NDArray[np.int64]) -> NDArray[np.signedinteger]:
        """Return the codes that numbers stand for, (m, q), in as few bytes as hold them."""
        if self._distinct is not None:
            return self._distinct[keys]
        widths = self._levels.widths
        rows = np.empty((len(keys), len(widths)), narrow_integers(np.array([max(widths)])).dtype)
        left = keys.copy()
        for column in range(len(widths) - 1, -1, -1):
            left, rows[:, column] = np.divmod(left, widths[column])
        return rows
