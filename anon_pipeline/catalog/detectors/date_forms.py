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
_ZONED = r"(.*\d:?\d\d(?:\.\d+)?)( ?Z| ?[+-]\d\d:?\d\d| (?:UTC|GMT|MES?Z|CES?T|Uhr|h))"
"""A time, and what may follow it: a format takes it literally, so that a day is that of the clock there."""
_MOST_FORMATS = 3
_MONTHS_OF_A_YEAR = 12
_LIKE_DATE = (
    r"(?:(?:1[89]|20)\d\d([-/.])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])([-/. ])(?:0?[1-9]|[12]\d|3[01]|[^\W\d_]{3,9})\2(?:(?:1[89]|20)?\d\d))"
    r"(?:(?:T|,? )\d{1,2}[:.h]\d\d.{0,20})?"
)
_NEARLY = 0.9
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
    return _read_zoned(bare) or _read_bare(bare)


def look_like_dates(texts: pd.Series) -> bool:
    """Tell whether nearly all of some texts look like dates, maybe of a form that is not read.

    Args:
        texts: (v,) different texts, none missing.
    """
    first = texts.iloc[:_TRIED].str.strip().str.fullmatch(_LIKE_DATE)
    if not len(texts) or float(first.mean()) < _NEARLY / 2:  # most columns hold none: the rest is not read
        return False
    return float(texts.str.strip().str.fullmatch(_LIKE_DATE).mean()) >= _NEARLY


def _read_zoned(bare: pd.Series) -> tuple[DateForm, pd.Series] | None:
    """Read times before their zone; None where one is none, or of too many formats."""
    if not all_match(bare, _ZONED):
        return None
    parts = bare.str.extract(f"^{_ZONED}$")
    times, zones = parts[0], parts[1]
    own = times.drop_duplicates()
    found = _read_bare(own) if zones.nunique() <= _MOST_FORMATS else None
    if found is None or not all("%M" in form for form in found[0].formats):
        return None
    formats = tuple(
        form + zone
        for form in found[0].formats
        for zone in zones.unique()
        if _read_dates(times[zones == zone], form).notna().any()
    )
    if len(formats) > _MOST_FORMATS:
        return None
    days = pd.Series(found[1].to_numpy(), index=own.to_numpy()).reindex(times)
    return DateForm(formats, found[0].ambiguous), days.set_axis(bare.index)


def _read_bare(bare: pd.Series) -> tuple[DateForm, pd.Series] | None:
    """Read texts as dates and times without a zone."""
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
    return all_match(texts, r"\d{4}-(?:\d{2}|Q[1-4]|W\d{2})") or _read_bare(texts.str.strip()) is not None


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
