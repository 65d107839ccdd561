"""A generalization hierarchy in memory: one lookup array per level over the leaf codes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """How the D leaves of one quasi-identifier generalize over h levels, 0 = the value itself.

    Leaf codes are in hierarchy order: every lookup is non-decreasing, so the leaves below any
    generalized value are neighbors. A missing value is the last leaf; it has a code of its own on every
    level below the top.

    column: the quasi-identifier's name.
    lookups: h arrays (D,); code on that level of each leaf; ``lookups[0]`` is ``arange(D)``, the last is
        all zero.
    values: h object arrays; the released value of each code on that level; None is a missing value.
    coordinates: (D,) position of each leaf on a number line (NaN for missing) where the column is
        numeric (numbers, dates), else None.
    ordered: whether the leaves of a column without coordinates are in an order that means something.
    """

    column: str
    lookups: tuple[NDArray[np.int64], ...] = field(repr=False)
    values: tuple[NDArray[np.object_], ...] = field(repr=False)
    coordinates: NDArray[np.float64] | None = field(default=None, repr=False)
    ordered: bool = False

    def _repr_html_(self) -> str:
        """Show levels and the shape of the tree in a notebook, without values."""
        from anon_pipeline.hierarchy.picture import as_html  # noqa: PLC0415 - it draws what this module holds

        return as_html(self)

    @property
    def height(self) -> int:
        """Levels, the ungeneralized one included."""
        return len(self.lookups)

    @property
    def leaves(self) -> int:
        """Leaves, those not in the data included (D)."""
        return len(self.lookups[0])

    @property
    def places(self) -> NDArray[np.float64] | None:
        """Where each leaf lies on a line, (D,): its number or rank, NaN for missing; None without one."""
        if self.coordinates is not None:
            return self.coordinates.astype(np.float64)
        if not self.ordered:
            return None
        ranks = np.arange(self.leaves, dtype=np.float64)
        if self.has_missing:
            ranks[-1] = np.nan
        return ranks

    @property
    def has_missing(self) -> bool:
        """Whether the last leaf stands for a missing value."""
        return self.leaves > 0 and self.values[0][-1] is None

    def leaves_below(self, level: int) -> NDArray[np.int64]:
        """Return how many leaves each code of a level covers, (codes on that level,)."""
        return np.bincount(self.lookups[level], minlength=len(self.values[level]))
