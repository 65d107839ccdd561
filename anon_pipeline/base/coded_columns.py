"""Columns as codes: different values once, and a narrow number for each record.

What a column has for each record is in memory, or in a file if the deployment has a scratch folder
(`scratch`).
Decision: docs/adr/0082-large-tables-are-packed.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray

from anon_pipeline.base.scratch import ScratchArray, keep_array, load_array

_AT_ONCE = 2**16  # codes that are looked at together, and values that say whether a column has few
_REPEATING = 0.75  # of these, at most so many differ in a column that repeats its values
_NARROW = (np.uint8, np.uint16, np.uint32)

Codes = NDArray[np.unsignedinteger[Any]]
KeptCodes = Codes | ScratchArray


class PackedColumn(ABC):
    """A column of a table, (n,), in less memory than pandas needs for it."""

    __slots__ = ()

    @abstractmethod
    def unpack(self, name: str) -> pd.Series:
        """Return the column, under a name and with the index 0 … n−1; what is written to it stays in it."""

    @abstractmethod
    def cells(self, start: int, stop: int) -> pd.Series:
        """Return the cells at the places start … stop−1, with the type of the column."""

    @property
    @abstractmethod
    def dtype(self) -> Any:
        """The type that pandas has for the column."""

    def numbered_cells(self) -> tuple[Codes, pd.Series] | None:
        """Return the cells that occur, (m,), in the order in which they do, and the number of each record's.

        Returns:
            (n,) numbers 0 … m−1, and (m,) cells, all different; None: not known without unpacking.
        """
        return None

    def has_cells_of(self, other: PackedColumn, rows: NDArray[np.int64]) -> bool:
        """Tell whether these are the cells of another column at some rows, (n,); False: not known so."""
        return False

    @abstractmethod
    def take(self, rows: NDArray[np.int64]) -> PackedColumn:
        """Return the column of some records, (r,), in their order."""


class _Coded(PackedColumn):
    """A column of codes, (n,), and what they stand for; its cells have a type of pandas, ``kind``.

    seen: once they were asked for, the different codes in the order in which they occur, if they are few.
    """

    __slots__ = ()
    kept: KeptCodes
    kind: Any
    seen: list[Codes]

    @property
    def codes(self) -> Codes:
        """The codes, (n,), read anew each time where they are in a file."""
        return load_array(self.kept)

    @property
    def dtype(self) -> Any:
        return self.kind

    def has_cells_of(self, other: PackedColumn, rows: NDArray[np.int64]) -> bool:
        """Tell it of a column that is packed alike, by codes: nothing is unpacked."""
        return type(other) is type(self) and other.dtype == self.kind and self._equals(other.take(rows))

    def unpack(self, name: str) -> pd.Series:
        return self._cells_of(self.codes).rename(name)

    def cells(self, start: int, stop: int) -> pd.Series:
        return self._cells_of(load_array(self.kept, start, stop))

    def numbered_cells(self) -> tuple[Codes, pd.Series] | None:
        """Number the different cells in the order in which they come."""
        codes = self.codes
        if self.seen:
            order = self.seen[0]
        elif not len(codes) or (many := int(codes.max()) + 1) > len(codes):
            return None
        else:
            order = _first_seen(codes, many)
            self.seen[:] = [order] if len(order) <= _AT_ONCE else []
        if np.array_equal(order, np.arange(len(order))):  # the codes are these numbers
            return codes, self._cells_of(order)
        numbers = np.zeros(int(order.max()) + 1, codes.dtype)
        numbers[order] = np.arange(len(order))
        return numbers.take(codes), self._cells_of(order)

    @abstractmethod
    def _cells_of(self, codes: Codes) -> pd.Series:
        """Return the cells that codes stand for."""

    @abstractmethod
    def _equals(self, other: Any) -> bool:
        """Tell whether another column of this class and type has these cells, (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedTexts(_Coded):
    """Texts that repeat.

    kept: codes, (n,), place in ``values`` of each text.
    values: different texts, and at the end a missing one.
    """

    kept: KeptCodes = field(repr=False)
    values: pa.Array = field(repr=False)
    kind: pd.StringDtype
    seen: list[Codes] = field(default_factory=list, repr=False)

    def _equals(self, other: CodedTexts) -> bool:
        places = pc.index_in(other.values, value_set=self.values).fill_null(-1).to_numpy()
        return np.array_equal(places.take(other.codes), self.codes)

    def _cells_of(self, codes: Codes) -> pd.Series:
        cells: ExtensionArray = pd.array(
            pc.take(self.values, pa.array(codes), boundscheck=False), dtype=self.kind
        )
        return pd.Series(cells, copy=False)

    def take(self, rows: NDArray[np.int64]) -> PackedColumn:
        """Return the column of some records by their codes."""
        return CodedTexts(keep_array(self.codes.take(rows)), self.values, self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class CodedNumbers(_Coded):
    """Numbers or times that repeat.

    kept: codes, (n,), place in ``bits`` of each one.
    bits: of the different ones, as integers: NaN and −0.0 stay what they are.
    """

    kept: KeptCodes = field(repr=False)
    bits: NDArray[np.int64] = field(repr=False)
    kind: np.dtype[Any]
    seen: list[Codes] = field(default_factory=list, repr=False)

    def _equals(self, other: CodedNumbers) -> bool:
        return np.array_equal(other.bits.take(other.codes), self.bits.take(self.codes))

    def _cells_of(self, codes: Codes) -> pd.Series:
        return pd.Series(self.bits.take(codes).view(self.kind), copy=False)

    def take(self, rows: NDArray[np.int64]) -> PackedColumn:
        """Return the column of some records by their codes."""
        return CodedNumbers(keep_array(self.codes.take(rows)), self.bits, self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class CodedCounts(_Coded):
    """Integers that are close to each other.

    kept: codes, (n,), how far each is above the least one.
    """

    kept: KeptCodes = field(repr=False)
    least: int = field(repr=False)
    kind: np.dtype[Any]
    seen: list[Codes] = field(default_factory=list, repr=False)

    def _equals(self, other: CodedCounts) -> bool:
        return np.array_equal(other.codes + np.int64(other.least), self.codes + np.int64(self.least))

    def _cells_of(self, codes: Codes) -> pd.Series:
        numbers = codes.astype(self.kind)
        numbers += self.kind.type(self.least)
        return pd.Series(numbers, copy=False)

    def take(self, rows: NDArray[np.int64]) -> PackedColumn:
        """Return the column of some records by their codes."""
        return CodedCounts(keep_array(self.codes.take(rows)), self.least, self.kind)


def pack_texts(series: pd.Series, dtype: pd.StringDtype) -> PackedColumn | None:
    """Pack texts of Arrow, (n,), of a type; None: they repeat too little."""
    texts = _whole(pa.array(series.array, type=pa.large_string()))
    if not repeats(texts):
        return None
    found = texts.dictionary_encode()
    values = pa.concat_arrays([found.dictionary, pa.nulls(1, pa.large_string())])
    codes = narrow_codes(found.indices.fill_null(len(values) - 1).to_numpy(), len(values))
    return CodedTexts(keep_array(codes), values, dtype)


def pack_numbers(numbers: NDArray[Any], dtype: np.dtype[Any]) -> PackedColumn | None:
    """Pack native numbers or times of 64 bits, (n,), of a type; None: they repeat too little."""
    bits = numbers.view(np.int64)
    if dtype.kind == "i" and len(bits):
        least, most = int(bits.min()), int(bits.max())
        if most - least < 2**32:
            return CodedCounts(keep_array(narrow_codes(bits - least, most - least + 1)), least, dtype)
    cells = pa.array(np.ascontiguousarray(bits))
    if not repeats(cells):
        return None
    found = cells.dictionary_encode()
    codes = narrow_codes(found.indices.to_numpy(), len(found.dictionary))
    return CodedNumbers(keep_array(codes), found.dictionary.to_numpy(), dtype)


def number_cells(numbers: Codes, cells: pd.Series) -> PackedColumn | None:
    """Return the column whose records have some cells; None: no column of their type is packed.

    Args:
        numbers: (n,) 0 … m−1, the place of each record's cell.
        cells: (m ≥ 1,) of any values, also equal ones.
    """
    dtype = cells.dtype
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow":
        found = _whole(pa.array(cells.array, type=pa.large_string())).dictionary_encode()
        values = pa.concat_arrays([found.dictionary, pa.nulls(1, pa.large_string())])
        places = narrow_codes(found.indices.fill_null(len(values) - 1).to_numpy(), len(values))
        return CodedTexts(keep_array(places.take(numbers)), values, dtype)
    if not (isinstance(dtype, np.dtype) and dtype.isnative and dtype.itemsize == 8 and dtype.kind in "ifM"):
        return None
    bits = np.ascontiguousarray(cells.to_numpy()).view(np.int64)
    least, most = int(bits.min()), int(bits.max())
    if dtype.kind == "i" and most - least < 2**32:
        return CodedCounts(
            keep_array(narrow_codes(bits - least, most - least + 1).take(numbers)), least, dtype
        )
    order, different = pd.factorize(bits)
    return CodedNumbers(keep_array(narrow_codes(order, len(different)).take(numbers)), different, dtype)


def repeats(values: pa.Array) -> bool:
    """Tell by some of its values whether a column has each value several times."""
    if not len(values):
        return False
    places = np.linspace(0, len(values) - 1, min(len(values), _AT_ONCE)).astype(np.int64)
    different: int = pc.count_distinct(values.take(pa.array(places))).as_py()
    return different <= max(_REPEATING * len(places), 1)


def narrow_codes(codes: NDArray[np.integer[Any]], many: int) -> Codes:
    """Return codes 0 … many−1 in as few bytes as they need."""
    return codes.astype(next(kind for kind in _NARROW if many <= np.iinfo(kind).max + 1))


def _whole(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _first_seen(codes: Codes, many: int) -> Codes:
    """Return the different codes, all below ``many``, in the order in which they occur."""
    seen, left, found = np.zeros(many, np.bool_), many, [codes[:0]]
    for start in range(0, len(codes), _AT_ONCE):
        part = codes[start : start + _AT_ONCE]
        fresh = pd.unique(part[~seen[part]])
        seen[fresh] = True
        left -= len(fresh)
        found.append(fresh)
        if not left:
            break
    return np.concatenate(found)
