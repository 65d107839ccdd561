"""Texts that are days, by formats as `datetime.strptime` has them; read by pandas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.base.month_names import in_english
from anon_pipeline.sources.numerals import is_true

_USUAL = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d"),
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M", "%d %b %Y", "%d %B %Y", "%B %d, %Y"),
    *("%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%d.%m.%Y %H:%M:%S"),
    *("%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%d-%m-%Y %H:%M"),
    *("%m-%d-%Y %H:%M", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S.%f"),
    *("%d. %B %Y", "%d. %b %Y", "%d de %B de %Y"),
)
_DIGITS = {
    **dict.fromkeys("dmHIMS", r"\d{1,2}"),
    **{"Y": r"\d{4}", "y": r"\d{2}", "j": r"\d{1,3}", "f": r"\d{1,6}", "%": "%"},
}
"""What directives stand for, where that is digits."""
_FIRST_DAY = np.datetime64("0001-01-01")  # of Python's days; pandas has a year 0, too
_NEARLY = 0.9  # of the texts must fit a format that is proposed though not all do
_WITHOUT_SIGN = re.compile(r"%[^%]%[^%]")


@dataclass(frozen=True, slots=True, eq=False)
class Days:
    """A column of days.

    values: (n,) of Arrow's type date32; null where a text is missing or none.
    unread: (n,) texts that no format fits.
    doubtful: (n,) texts that are different days by two formats.
    """

    values: pa.Array = field(repr=False)
    unread: NDArray[np.bool_] = field(repr=False)
    doubtful: NDArray[np.bool_] = field(repr=False)


def formats_advice(column: pa.Array, rows: NDArray[np.bool_]) -> str:
    """Say which usual formats fit all of some texts, or the one that fits nearly all.

    Args:
        column: (n,) texts.
        rows: (n,) which of them: no days by the formats that are set.
    """
    texts = column.filter(pa.array(rows))
    unread = {form: int(read_days(texts, (form,)).unread.sum()) for form in _USUAL}
    fit, best = [form for form in _USUAL if not unread[form]], min(_USUAL, key=lambda form: unread[form])
    said, more = "format: with the directives that fit", ""
    if fit:
        said, more = f'format: "{" or ".join(fit)}"', ", whichever is meant" if len(fit) > 1 else ""
    elif len(texts) - unread[best] >= _NEARLY * len(texts):
        said, more = f'format: "{best}"', f", which fits {len(texts) - unread[best]:,} of them"
    return f"Write {said}{more}, or missing: [...] for all texts that stand for no value."


def impossible_days(column: pa.Array, formats: Sequence[str], unread: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark texts that no format fits though they have its digits and signs, (n,), as 31.02.2020 has.

    A text that is a day by a usual format, or with day and month exchanged, is not marked. They are not
    exchanged where the year comes first: nobody writes the day second then.

    Args:
        unread: (n,) texts that no format fits.
    """
    places = np.flatnonzero(unread & _like_days(column, formats))
    texts = column.take(pa.array(places))
    others = [form for form in formats if not form.startswith("%Y")]
    exchanged = [re.sub("%[dm]", lambda one: "%m" if one[0] == "%d" else "%d", form) for form in others]
    for form in (*exchanged, *_USUAL):
        left = read_days(texts, (form,)).unread
        places, texts = places[left], texts.filter(pa.array(left))
    found = np.zeros(len(column), np.bool_)
    found[places] = True
    return found


def _like_days(column: pa.Array, formats: Sequence[str]) -> NDArray[np.bool_]:
    """Mark texts with the digits and signs of a format, (n,), whether or not there is such a day.

    Formats with names of months, and other directives that are not digits alone, are not looked at.
    """
    found = np.zeros(len(column), np.bool_)
    for form in formats:
        parts = re.split(r"%(.)", form)
        if all(directive in _DIGITS for directive in parts[1::2]):
            shape = "".join(_DIGITS[part] if at % 2 else _literally(part) for at, part in enumerate(parts))
            if _WITHOUT_SIGN.search(form):
                shape = shape.replace("{1,", "{")
            found |= is_true(pc.match_substring_regex(column, rf"^\s*{shape}\s*$"))
    return found


def _literally(part: str) -> str:
    """Return a pattern of a text itself: RE2 takes a backslash before signs of ASCII alone."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", part)


def read_days(column: pa.Array, formats: Sequence[str]) -> Days:
    """Read texts as days; a time of day is cut off.

    Args:
        column: (n,) texts; null is missing.
        formats: a text must fit one; where it fits several, they must mean the same day.
    """
    there = column.is_valid().to_numpy(zero_copy_only=False)
    trimmed = pc.utf8_trim_whitespace(column)
    digits = pc.match_substring_regex(trimmed, r"\d")  # else pandas would read "now" and "today"
    none = pa.scalar(None, pa.large_string())
    dated = pd.Series(pc.if_else(digits, trimmed, none).to_pandas(), dtype=object)
    found = np.full(len(column), np.datetime64("NaT"), "datetime64[D]")
    doubtful = np.zeros(len(column), dtype=bool)
    for form in formats:
        days = _by(form, dated)
        days = np.where(days < _FIRST_DAY, np.datetime64("NaT"), days)
        doubtful |= ~np.isnat(days) & ~np.isnat(found) & (days != found)
        found = np.where(np.isnat(found), days, found)
    unread = there & np.isnat(found)
    found = np.where(doubtful, np.datetime64("NaT"), found)
    return Days(pa.array(found), unread, doubtful)


def _by(form: str, texts: pd.Series) -> NDArray[np.datetime64]:
    """Read texts by one format, (n,) days; NaT where one does not fit."""
    texts = in_english(texts, form)
    moments = pd.to_datetime(texts, format=form, errors="coerce", exact=True)
    days = moments.to_numpy().astype("datetime64[D]")
    if _WITHOUT_SIGN.search(form):  # 2020111 is one day by each of two readings
        again = moments.dt.strftime(form)
        days = np.where((again == texts).to_numpy(), days, np.datetime64("NaT"))
    return days
