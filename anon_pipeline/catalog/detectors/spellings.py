"""The different values of a column as detectors look at them: normalized, and as identifiers are written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.catalog.detectors import Form
from anon_pipeline.catalog.detectors.normal_form import UNEVEN, Characters, normalize

_SHORT = 16  # so few values are looked at one by one: asking Arrow takes longer
_FEW = 1_000  # so few records are counted one by one: asking pandas takes longer
_LONGEST = 60  # characters of a cell that is an identifier as a whole
_SMALLEST, _LARGEST = 10**7, 10**18  # a column of smaller numbers holds none that has a check digit
_UNEVEN = re.compile(UNEVEN)
_LABEL = re.compile(r"(?:[A-Za-z][A-Za-z.-]{0,15}[ :#.]+){1,3}|#")
_WHOLE = re.compile(r"(\d+)\.0+")
_RANGE = re.compile(r"\[([^\[\],]+), ([^\[\],]+)[\])]")
_DECIMAL = re.compile(r"[+-]?\d+\.\d+")
_KNOWN = re.compile(r"[1-9]\d{0,2}(?:([ .'])\d{3})(?:\1\d{3})*|\d{5}-\d{4}")  # thousands, ZIP+4
_BETWEEN = str.maketrans("", "", " .-/")
_AROUND = str.maketrans("", "", " .-/()")


def is_short(values: int) -> bool:
    """Tell whether values are so few that they are looked at one by one: asking Arrow takes longer."""
    return values <= _SHORT


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The different values of a column, normalized, and how many records have each.

    whole: the cells, (v,).
    records: (v,).
    texts: the cells for Arrow, (v,); None where they are numbers.
    """

    whole: Sequence[str] = field(repr=False)
    records: NDArray[np.int64] = field(repr=False)
    texts: pa.Array | None = field(default=None, repr=False)


def read_cells(column: pd.Series) -> Cells:
    """Return the different values of a column; numbers that are too small or too large are none of it.

    Args:
        column: (n,) texts, numbers, categories; missing values are none.
    """
    if len(column) <= _FEW and isinstance(column.dtype, pd.StringDtype):
        return _of_texts(*_count_texts([text for text in column.tolist() if isinstance(text, str)]))
    plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf"
    if plain and not _has_large(column.to_numpy()):
        return Cells([], np.empty(0, np.int64))
    present = column.dropna()
    if pd.api.types.is_numeric_dtype(present.dtype):
        large = present[(present.abs() >= _SMALLEST) & (present.abs() < _LARGEST)]
        if not len(large):
            return Cells([], np.empty(0, np.int64))
        counts = present[present.abs() < _LARGEST].value_counts()
        written = [str(int(value)) if value == int(value) else str(value) for value in counts.index.tolist()]
        return Cells(_pad(written), counts.to_numpy().astype(np.int64))
    texts = present.astype("str")
    if len(texts) <= _FEW:
        return _of_texts(*_count_texts(texts.tolist()))
    counts = texts.value_counts()
    counts = counts[counts > 0]
    return _of_texts(counts.index.to_numpy(object).tolist(), counts.to_numpy().astype(np.int64))


def _has_large(numbers: NDArray[Any]) -> bool:
    """Tell whether a number has as many digits as one that has a check digit; missing ones have none."""
    sizes = np.abs(numbers)
    return bool(((sizes >= _SMALLEST) & (sizes < _LARGEST)).any())


def _of_texts(texts: list[str], records: NDArray[np.int64]) -> Cells:
    """Normalize different texts; those that are all digits count as numbers."""
    written = _normalize_uneven(texts)
    whole = [_WHOLE.sub(r"\1", text) if text.endswith(".0") else text for text in written]
    digits = all(map(_is_number, whole))
    return Cells(_pad(whole), records) if digits else Cells(written, records, _array(written))


def _count_texts(texts: Iterable[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the different ones of a few texts, and how many records have each."""
    counted = Counter(texts)
    return list(counted), np.fromiter(counted.values(), np.int64, len(counted))


def _is_number(text: str) -> bool:
    return text.isdigit() and text[0] != "0"


def _pad(digits: Sequence[str]) -> list[str]:
    """Give numbers back the zeros that they began with as texts, if most have one length."""
    longest = max(map(len, digits), default=0)
    most = 2 * sum(len(text) == longest for text in digits) >= len(digits)
    return [text.zfill(longest) for text in digits] if most else list(digits)


def _normalize_uneven(texts: list[str]) -> list[str]:
    """Normalize those texts that are not in one spelling already."""
    written, characters = list(texts), Characters()
    for place in _uneven(texts):
        written[place] = normalize(texts[place], characters)
    return written


def _uneven(texts: list[str]) -> Iterable[int]:
    """Return the places of texts that normalizing may change."""
    if len(texts) <= _SHORT:
        return [place for place, text in enumerate(texts) if not text.isascii() or _UNEVEN.search(text)]
    array = _array(texts)
    even = pc.and_(pc.string_is_ascii(array), pc.invert(pc.match_substring_regex(array, UNEVEN)))
    return map(int, np.flatnonzero(~even.to_numpy(zero_copy_only=False)))


def _array(texts: Sequence[str]) -> pa.Array:
    return pa.array(texts, pa.large_string())


@dataclass(frozen=True, slots=True, eq=False)
class Spellings:
    """A cell, or both ends of a range, as an identifier may be written there.

    exact: as it is.
    bare: without what stands between digits, and without a label in front.
    loose: as `bare`, but none of numbers whose separators say what they are, as thousands set apart.
    """

    exact: tuple[str, ...] = field(repr=False)
    bare: tuple[str, ...] = field(repr=False)
    loose: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, cell: str) -> Spellings:
        """Spell a normalized cell; a long text is none."""
        if len(cell) > _LONGEST:
            return cls((), (), ())
        ends = _RANGE.fullmatch(cell) if cell.startswith("[") else None
        exact = tuple(_WHOLE.sub(r"\1", text) for text in (ends.groups() if ends else (cell,)))
        bare = [text for text in exact if not _DECIMAL.fullmatch(text)]
        unlabeled = [_LABEL.sub("", text, count=1) for text in bare if text[:1].isalpha() or text[:1] == "#"]
        compact = dict.fromkeys(text.translate(_BETWEEN).upper() for text in (*bare, *unlabeled))
        joined = [text.translate(_AROUND) for text in (*bare, *unlabeled) if not _KNOWN.fullmatch(text)]
        return cls(exact, tuple(compact), tuple(dict.fromkeys(joined)))

    def texts_of_form(self, form: Form) -> list[str]:
        """Return the spellings that have a form's shape."""
        texts = self.loose if form.loose else self.exact if form.share else self.bare
        return [text for text in texts if form.shape.fullmatch(text)]
