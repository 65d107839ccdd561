"""What a column holds: kind of values, how many, how different. `Look` has values, `Seen` has none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.values import to_texts
from anon_pipeline.catalog.detectors.date_forms import DateForm, find_dates, look_like_dates
from anon_pipeline.catalog.detectors.forms import (
    NumberForm,
    find_missing,
    find_numbers,
    share_of_forms,
)
from anon_pipeline.catalog.detectors.patterns import matches
from anon_pipeline.draft.profile.repeated_values import share_beyond, usual_rows
from anon_pipeline.draft.profile.shortened_values import has_shortened

_SENTINELS = (-1, -8, -9, -88, -99, -888, -999, -9999, 99, 999, 9999, 99999, 888, 8888)
_WORDY = 4  # words of a value, on average, from which on a text is free
_LONG = 40  # characters, likewise
MOSTLY, SOME = 0.5, 0.05
"""Share of the values from which on a column holds identifiers, or some."""
_MIXED = 0.9  # share of numbers from which on a column of texts is one of numbers with others among them


class Kind(StrEnum):
    """What a column's values are."""

    EMPTY = "nothing"
    SAME = "one value"
    NUMBER = "number"
    DATE = "date"
    CATEGORY = "category"
    TEXT = "free text"


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a column, without any of its values.

    name: of the column.
    records: n.
    missing: records without a value, texts for a missing one included.
    different: number of different values, in the form in which they are read.
    distinction: that, divided by the records with a value; 0 without any.
    commonest: share of the most frequent value among them.
    found: names of the detectors of identifiers that find the column.
    found_share: share of the records with a value that the one which finds most finds.
    missing_texts: texts of the public lists that stand for a missing value.
    number: how numbers are written; None for other kinds, and for numbers of a type of their own.
    date: how dates are written.
    whole: whether all numbers are whole.
    zeros: whether digits begin with zeros, so that they are a code and no number.
    words: mean number of words of a text.
    padded: whether white space surrounds values.
    varied: how many values are another one in other case; all are then in small letters.
    mixed: share of numbers or dates in a column of texts, where it is large but not all have one form.
    dated: whether nearly all of its different texts look like dates, of a form that is not read.
    sentinel: whether a number such as 999 is far from all others, and repeated.
    lost_zeros: whether digits also occur without the zero that they begin with, or postal codes are one digit
        shorter than the others.
    shortened: whether words also occur shortened, as m and male.
    rows: records of one value that 95 % of the values do not exceed.
    beyond: share of the records that are beyond so many of their value.
    consecutive: whether whole numbers are counted on, record by record, in the order of the file.
    """

    name: str
    kind: Kind
    records: int
    missing: int = 0
    different: int = 0
    distinction: float = 0.0
    commonest: float = 0.0
    found: tuple[str, ...] = ()
    found_share: float = 0.0
    missing_texts: tuple[str, ...] = ()
    number: NumberForm | None = None
    date: DateForm | None = None
    whole: bool = False
    zeros: bool = False
    words: float = 0.0
    padded: bool = False
    varied: int = 0
    mixed: float = 0.0
    dated: bool = False
    sentinel: bool = False
    lost_zeros: bool = False
    shortened: bool = False
    rows: int = 1
    beyond: float = 0.0
    consecutive: bool = False

    @property
    def of_texts(self) -> bool:
        """Whether the cells are texts, also those that are read as numbers or dates."""
        dates = self.date is not None and bool(self.date.formats)
        return dates or self.number is not None or self.kind in (Kind.CATEGORY, Kind.TEXT)

    @property
    def missing_share(self) -> float:
        """Share of the records without a value."""
        return self.missing / self.records


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Look:
    """A column as it is read: private.

    values: (v,) different values: floats, datetimes or texts.
    counts: (v,) records of each.
    codes: (n,) position of each record's value, −1 where it is missing.
    """

    seen: Seen
    values: pd.Series = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    codes: NDArray[np.int64] = field(repr=False)


def look_at(column: pd.Series, *, decimal: str = ".") -> Look:
    """Look at a column.

    Args:
        column: (n,) cells, named: texts of a CSV file, or values with types.
        decimal: mark that numbers of this file have, where both fit.
    """
    name, records = str(column.name), len(column)
    there = matches(column)
    blank = Seen(
        name,
        Kind.CATEGORY,
        records,
        found=tuple(there),
        found_share=max(there.values(), default=0) / max(int(column.notna().sum()), 1),
    )
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        codes, values = pd.factorize(column.astype(np.float64))
        return _numbers(replace(blank, kind=Kind.NUMBER), pd.Series(values), codes)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        codes, values = pd.factorize(column)
        return _count(replace(blank, kind=Kind.DATE, date=DateForm()), pd.Series(values), codes)
    return _texts(blank, to_texts(column), decimal)


def _texts(seen: Seen, column: pd.Series, decimal: str) -> Look:
    raw_codes, raw = pd.factorize(column)
    texts = pd.Series(list(raw), dtype="str")
    stripped = texts.str.strip()
    anywhere, beside = find_missing(stripped.tolist())
    for words in (anywhere, [*anywhere, *beside]):
        there = ~stripped.isin([*words, ""])
        own = stripped[there].drop_duplicates()
        read = _read_texts(own, decimal) if len(own) else None
        if read is not None or not beside:
            break
    if read is None:
        words, there = anywhere, ~stripped.isin([*anywhere, ""])
    codes, values = _recode(stripped.where(there), raw_codes)
    told = replace(
        seen,
        missing_texts=tuple(words),
        padded=bool((texts != stripped)[there].any()),
        mixed=_mixed_share(stripped[there]),
    )
    if read is None:
        return _categories(replace(told, dated=look_like_dates(stripped[there])), values, codes)
    form, found = read
    parsed = pd.Series(found.to_numpy(), index=own.to_numpy()).reindex(values).reset_index(drop=True)
    codes, parsed = _recode(parsed, codes)
    if isinstance(form, DateForm):
        return _count(replace(told, kind=Kind.DATE, date=form, mixed=0.0), pd.Series(parsed), codes)
    return _numbers(replace(told, kind=Kind.NUMBER, number=form, mixed=0.0), pd.Series(parsed), codes)


def _read_texts(texts: pd.Series, decimal: str) -> tuple[DateForm | NumberForm, pd.Series] | None:
    """Read different texts as dates, else as numbers; digits that begin with zeros are neither."""
    if bool(texts.str.fullmatch(r"0\d+").any()) and bool(texts.str.fullmatch(r"\d+").all()):
        return None
    return find_dates(texts) or find_numbers(texts, prefer=decimal)


def _recode(values: pd.Series, codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], pd.Series]:
    """Number values anew, equal ones alike, and translate codes; missing stays −1."""
    own, distinct = pd.factorize(values)
    return np.append(own, -1)[codes].astype(np.int64), pd.Series(distinct)


def _mixed_share(texts: pd.Series) -> float:
    """Return the share of numbers or dates among texts, where it is large but not all have one form.

    Args:
        texts: (v,) that were not read as numbers or dates.
    """
    share = float(texts.str.contains(r"^[^A-Za-z]*\d[^A-Za-z]*$", regex=True).mean()) if len(texts) else 0.0
    if share < 1:
        return share if share >= _MIXED else 0.0
    different = texts.drop_duplicates()
    if different.str.fullmatch(r"\d+").all():  # codes that begin with zeros
        return 0.0
    share = share_of_forms(different)
    return share if share >= _MIXED else 0.0


def _count(seen: Seen, values: pd.Series, codes: NDArray[np.int64]) -> Look:
    """Add how many values there are, of which kind none or one are."""
    codes = codes.astype(np.int64)
    counts = np.bincount(codes[codes >= 0], minlength=len(values)).astype(np.int64)
    there = int(counts.sum())
    kind = Kind.EMPTY if not there else Kind.SAME if len(values) == 1 and there == seen.records else seen.kind
    rows = usual_rows(counts)
    told = replace(
        seen,
        kind=kind,
        rows=rows,
        beyond=share_beyond(counts, rows),
        missing=seen.records - there,
        different=len(values),
        distinction=len(values) / there if there else 0.0,
        commonest=float(counts.max(initial=0)) / there if there else 0.0,
    )
    return Look(told, values.reset_index(drop=True), counts, codes)


def _numbers(seen: Seen, values: pd.Series, codes: NDArray[np.int64]) -> Look:
    look = _count(seen, values, codes)
    numbers = values.to_numpy(np.float64)
    whole = bool(len(numbers)) and bool((numbers == np.floor(numbers)).all())
    rows = numbers[look.codes] if whole and (look.codes >= 0).all() else np.empty(0)
    told = replace(
        look.seen,
        whole=whole,
        sentinel=_has_sentinel(numbers, look.counts),
        consecutive=len(rows) > 1 and bool((np.diff(rows) == 1).all()),
    )
    return Look(told, look.values, look.counts, look.codes)


def _has_sentinel(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> bool:
    for place in np.flatnonzero(np.isin(numbers, _SENTINELS) & (counts > 1)):
        others = np.delete(numbers, place)
        span = float(np.ptp(others)) if len(others) > 1 else 0.0
        value = numbers[place]
        if len(others) > 2 and (value > others.max() + 0.2 * span or (value < 0 <= others.min())):
            return True
    return False


def _categories(seen: Seen, values: pd.Series, codes: NDArray[np.int64]) -> Look:
    texts = pd.Series(values, dtype="str")
    varied = len(texts) - texts.str.lower().nunique()
    if varied:
        codes, lowered = _recode(texts.str.lower(), codes)
        texts = pd.Series(lowered, dtype="str")
    look = _count(seen, texts, codes)
    if look.seen.kind in (Kind.EMPTY, Kind.SAME):
        return look
    words = float(texts.str.count(r"\S+").mean())
    long = float(texts.str.len().mean()) >= _LONG and words > 1
    free = (words >= _WORDY or long) and look.seen.different > 20 and look.seen.distinction > 0.1
    told = replace(
        look.seen,
        kind=Kind.TEXT if free else Kind.CATEGORY,
        words=words,
        zeros=bool(texts.str.fullmatch(r"\d+").all()),
        lost_zeros=bool(texts.isin("0" + texts[texts.str.fullmatch(r"\d+")]).any()),
        shortened=not free and has_shortened(texts.str.lower().tolist()),
        varied=varied,
    )
    return Look(told, look.values, look.counts, look.codes)
