"""How the dates of a column are written: the formats of its cells, never their values.

A form is found if all cells that are there have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.month_names import in_english, names_months

DAY_FORMATS = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d"),
    *("%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y.%m.%d"),
    *("%d. %B %Y", "%d. %b %Y", "%d de %B de %Y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S", "T%H:%M", " %H:%M:%S.%f", "T%H:%M:%S.%f")
_MOST_FORMATS = 3
_MONTHS_OF_A_YEAR = 12
_SHORTEST_DATE = 8  # letters
_TRIED = 200  # values that a form is tried on before all are read
_EARLIEST, _LATEST = 1870, 2060  # years of people and what happens to them


@dataclass(frozen=True, slots=True)
class DateForm:
    """How dates are written.

    formats: as in `datetime.strptime`, those that occur; none for dates of a type of their own.
    ambiguous: whether all cells could also be read with day and month exchanged.
    """

    formats: tuple[str, ...] = ()
    ambiguous: bool = False

    @property
    def plain(self) -> bool:
        """Whether they are read as they are written (ISO 8601)."""
        return all(form == DAY_FORMATS[0] for form in self.formats)


def all_match(texts: pd.Series, pattern: str) -> bool:
    """Tell whether all texts have a form; of most columns the first ones show that they have not."""
    head = texts.iloc[:_TRIED]
    return bool(head.str.fullmatch(pattern).all()) and bool(texts.str.fullmatch(pattern).all())


def find_dates(texts: pd.Series) -> tuple[DateForm, pd.Series] | None:
    """Read different values as dates, of one format or of up to three that exclude each other.

    Args:
        texts: (v,) different texts, none missing.
    Returns:
        The form and (v,) datetimes; None where some value has none of the formats, or is read as two days.
    """
    bare = texts.str.strip()
    if not all_match(bare, r"(?=.*\d).{8,32}") or not bare.str.contains(r"[-/. ]|^\d{8}$", regex=True).all():
        return None
    read = {form: found for form in _formats(bare) if (found := _read_dates(bare, form)).notna().any()}
    whole = next((form for form, found in read.items() if found.notna().all()), None)
    if whole is not None:
        other = whole.replace("%d", "%0").replace("%m", "%d").replace("%0", "%m")
        clear = whole.startswith("%Y") or names_months(whole)
        return DateForm((whole,), not clear and bool(_read_dates(bare, other).notna().all())), read[whole]
    return _mix_formats(read)


def are_dates(texts: pd.Series) -> NDArray[np.bool_]:
    """Tell which texts are dates of any usual format, which may differ, (v,).

    Args:
        texts: (v,) different texts, none missing.
    """
    bare = texts.str.strip()
    bare = bare.where(bare.str.len() >= _SHORTEST_DATE, "")  # else 1.5 would be a day of a month
    found = np.zeros(len(texts), np.bool_)
    for form in _formats(bare):
        found |= _read_dates(bare, form).notna().to_numpy(np.bool_)
    return found


def holds_days(values: pd.Series) -> bool:
    """Tell whether a column holds days, or weeks, months or quarters of a year, and more than one of them.

    Args:
        values: (n,) of a table; missing ones are left out.
    """
    different = values.drop_duplicates().dropna()
    if pd.api.types.is_datetime64_any_dtype(different):
        return len(different) > 1
    if len(different) < 2 or pd.api.types.is_numeric_dtype(different):
        return False
    texts = different.astype(str).reset_index(drop=True)
    return all_match(texts, r"\d{4}-(?:\d{2}|Q[1-4]|W\d{2})") or find_dates(texts) is not None


def _formats(texts: pd.Series) -> Iterator[str]:
    """Yield formats that fit at least one of the first values."""
    head = texts.iloc[:_TRIED]
    named = bool(head.str.contains(r"[^\W\d_]{3}", regex=True).any())
    days = [day for day in DAY_FORMATS if named or not names_months(day)]
    for form in (day + time for time in TIMES for day in days):
        if pd.to_datetime(in_english(head, form), format=form, errors="coerce").notna().any():
            yield form


def _mix_formats(read: dict[str, pd.Series]) -> tuple[DateForm, pd.Series] | None:
    """Choose formats that together read all values, each value as one day alone."""
    chosen: list[str] = []
    days: pd.Series | None = None
    while read and len(chosen) < _MOST_FORMATS and (days is None or days.isna().any()):
        left = None if days is None else days.isna()
        gained = {f: int((s.notna() if left is None else s.notna() & left).sum()) for f, s in read.items()}
        best = max(gained, key=lambda form: gained[form])
        if not gained[best]:
            return None
        chosen.append(best)
        days = read[best] if days is None else days.fillna(read[best])
    if days is None or days.isna().any():
        return None
    if any((read[form].notna() & (read[form] != days)).any() for form in chosen):
        return None
    return DateForm(tuple(chosen), any(_exchangeable(form, read[form]) for form in chosen)), days


def _exchangeable(form: str, days: pd.Series) -> bool:
    """Tell whether all days that one of several formats reads could have day and month exchanged."""
    if form.startswith("%Y") or names_months(form):
        return False
    own = days.dropna()
    return bool((own.dt.day <= _MONTHS_OF_A_YEAR).all())


def _read_dates(texts: pd.Series, form: str) -> pd.Series:
    """Read texts by one format, (v,); missing where it does not fit, or the year is none of people."""
    read = pd.to_datetime(in_english(texts, form), format=form, errors="coerce")
    return read.where(read.dt.year.between(_EARLIEST, _LATEST))
