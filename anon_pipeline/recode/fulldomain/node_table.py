"""The classes of one node of the lattice, as keys and sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class KeyField(NamedTuple):
    """The bits of a key that hold the code of one attribute: their word, their place in it, their mask."""

    word: int
    shift: int
    mask: int


Histograms = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """The m classes of one node.

    levels: (q,).
    keys: (w, m); the code of each attribute in bits of its own.
    sizes: (m,) records.
    histograms: (m·a + 1,) where the values of a class and column begin; (d,) values, ascending; (d,) records
        of each. The a columns are those with limits, and the target last.
    """

    levels: tuple[int, ...]
    keys: NDArray[np.int64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    histograms: Histograms | None = field(repr=False)

    @property
    def bytes(self) -> int:
        """Size in memory."""
        arrays = (self.keys, self.sizes, *(self.histograms or ()))
        return sum(array.nbytes for array in arrays)
