"""Packing a column that comes in parts, so that it is never in memory as a whole before it is packed.

Decision: docs/adr/0095-large-tables-in-parts.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.base.coded_columns import (
    CodedCounts,
    CodedNumbers,
    CodedTexts,
    Codes,
    PackedColumn,
    narrow_codes,
    repeats,
)
from anon_pipeline.base.scratch import keep_array

_MOST: Final = 2**20  # different values: each part is looked up among them
_SPAN: Final = 2**32  # whole numbers of a wider span are not counted from the least one


def pack_parts(parts: Iterable[pd.Series]) -> PackedColumn | None:
    """Pack a column as `pack_column` does.

    Args:
        parts: at least one, each (r,) of the column; they are taken until it is known that they do not fit.
    Returns:
        None: the column repeats too little, its parts have several types, or one that is packed otherwise.
    """
    packer: _Packer | None = None
    for part in parts:
        packer = packer or _packer_of(part)
        if packer is None or part.dtype != packer.dtype or (len(part) and not packer.add(part)):
            return None
    return None if packer is None else packer.finish()


class _Packer(ABC):
    """Takes the parts of a column of one type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    @abstractmethod
    def add(self, part: pd.Series) -> bool:
        """Take a part, (r ≥ 1,); whether the column can still be packed."""

    @abstractmethod
    def finish(self) -> PackedColumn | None:
        """Return the column; None: it cannot be packed."""


class _Values(_Packer):
    """Texts or numbers that repeat: different values, and the place of each cell among them.

    Places count from 1; those of missing texts are 0.
    """

    def __init__(self, dtype: Any, kind: pa.DataType) -> None:
        super().__init__(dtype)
        self._values = pa.array([], kind)
        self._places: list[Codes] = []

    def add(self, part: pd.Series) -> bool:
        """Look its different values up, and add those that are new; whether there are not too many."""
        cells = pa.array(part.array, type=self._values.type) if self._texts else _bits(part)
        cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        if not self._places and not repeats(cells):
            return False
        found = cells.dictionary_encode()
        known = pc.index_in(found.dictionary, value_set=self._values)
        fresh = known.is_null().to_numpy(zero_copy_only=False)
        places = known.fill_null(0).to_numpy().astype(np.int64)
        places[fresh] = len(self._values) + np.arange(int(fresh.sum()))
        self._values = pa.concat_arrays([self._values, found.dictionary.filter(pa.array(fresh))])
        places = np.append(places + 1, 0)
        own = places[found.indices.fill_null(len(places) - 1).to_numpy()]
        self._places.append(narrow_codes(own, len(self._values) + 1))
        return len(self._values) <= _MOST

    @property
    def _texts(self) -> bool:
        return isinstance(self.dtype, pd.StringDtype)

    def finish(self) -> PackedColumn:
        """Put the places together, in as few bytes as the last number of values needs."""
        many = len(self._values)
        codes = narrow_codes(np.zeros(sum(map(len, self._places)), np.uint8), many + 1)
        begin = 0
        while self._places:
            places = self._places.pop(0)
            own = codes[begin : begin + len(places)]
            np.copyto(own, places, casting="same_kind")
            own -= own.dtype.type(1)  # of a missing one it wraps
            own[places == 0] = many
            begin += len(places)
        if self._texts:
            values = pa.concat_arrays([self._values, pa.nulls(1, self._values.type)])
            return CodedTexts(keep_array(codes), values, self.dtype)
        return CodedNumbers(keep_array(codes), self._values.to_numpy(), self.dtype)


class _Counts(_Packer):
    """Whole numbers that are close to each other: how far each is above the least one of its part."""

    def __init__(self, dtype: Any) -> None:
        super().__init__(dtype)
        self._parts: list[tuple[Codes, int, int]] = []

    def add(self, part: pd.Series) -> bool:
        """Note how far each number is above the least of the part; whether they are close enough."""
        numbers: NDArray[np.int64] = part.to_numpy()
        least, most = int(numbers.min()), int(numbers.max())
        if most - least >= _SPAN:
            return False
        self._parts.append((narrow_codes(numbers - least, most - least + 1), least, most))
        return True

    def finish(self) -> PackedColumn | None:
        """Count all from the least of all parts; None: they are too far apart, or there are none."""
        least = min((own for _, own, _ in self._parts), default=0)
        span = max((most for _, _, most in self._parts), default=-1) - least + 1
        if not 0 < span <= _SPAN:
            return None
        codes = narrow_codes(np.zeros(sum(len(part) for part, _, _ in self._parts), np.uint8), span)
        begin = 0
        while self._parts:
            part, own, _ = self._parts.pop(0)
            above = codes[begin : begin + len(part)]
            above[:] = part
            above += above.dtype.type(own - least)
            begin += len(part)
        return CodedCounts(keep_array(codes), least, self.dtype)


def _packer_of(part: pd.Series) -> _Packer | None:
    """Return what packs columns of this type, as `pack_column` would."""
    dtype = part.dtype
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow":
        return _Values(dtype, pa.large_string())
    if isinstance(dtype, np.dtype) and dtype.isnative and dtype.itemsize == 8:
        if dtype.kind == "i":
            return _Counts(dtype)
        if dtype.kind in "fM":
            return _Values(dtype, pa.int64())
    return None


def _bits(part: pd.Series) -> pa.Array:
    return pa.array(np.ascontiguousarray(part.to_numpy()).view(np.int64))
