"""How the cells of a column are written: texts for a missing value, numbers, dates.

A form is found if all cells that are there have it. Found are forms, never values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anon_pipeline.base.month_names import in_english, names_months

MISSING_ANYWHERE = (
    *("-", "--", "---", "–", "—", "?", "??", ".", "..", "...", "n/a", "N/A", "n.a.", "N.A.", "#N/A", "#NA"),
    *("<NA>", "NaN", "nan", "NULL", "null", "(null)", "(blank)", "(leer)", "k.A.", "k. A.", "s/d", "#NULL!"),
)
"""Texts that stand for a missing value in any column: a public list, not from the data."""

MISSING_BESIDE_OTHERS = (
    *(
        "NA",
        "na",
        "none",
        "None",
        "NONE",
        "nil",
        "Nil",
        "unknown",
        "Unknown",
        "UNKNOWN",
        "missing",
        "Missing",
    ),
    *("not available", "Not available", "not known", "unbekannt", "Unbekannt", "inconnu", "desconocido", "x"),
    *("X", "tbd", "TBD", "nicht bekannt", "keine Angabe", "Keine Angabe", "refused", "Refused", "#VALUE!"),
)
"""Texts that do so where all other cells are numbers or dates: elsewhere they may be categories."""

CURRENCIES = (
    *("CHF", "EUR", "USD", "GBP", "JPY", "SEK", "NOK", "DKK", "PLN", "CZK", "CAD", "AUD", "INR", "BRL"),
    *("Fr.", "SFr.", "€", "$", "£", "¥", "₹"),
)
UNITS = (
    *("kg", "mg", "µg", "lb", "lbs", "cm", "mm", "km", "ft", "ml", "dl", "mmHg", "bpm", "mmol/l", "mg/dl"),
    *("g/dl", "°C", "°F", "kcal", "kWh", "km/h", "min", "years", "yrs", "Jahre", "Std.", "Tage", "days"),
    *("ans", "años", "Punkte", "points", "Stk."),
)
"""What may stand behind all numbers of a column; a policy calls it `currency`, too. No single letters, which
codes end with as well (`12m`, `1001 h`)."""
DECIMALS_FIRST = (
    (".", ""),
    (".", ","),
    (",", ""),
    (",", "."),
    (".", "'"),
    (".", "’"),
    (",", " "),
    (".", " "),
)
"""Decimal mark and sign of thousands, in the order in which they are tried."""

DAY_FORMATS = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d"),
    *("%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y.%m.%d"),
    *("%d. %B %Y", "%d. %b %Y", "%d de %B de %Y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S", "T%H:%M", " %H:%M:%S.%f", "T%H:%M:%S.%f")
_LONG_UNITS_FIRST = sorted(UNITS, key=len, reverse=True)
_MOST_FORMATS = 3
_MONTHS_OF_A_YEAR = 12
_BARE = r"[-+(]?\d[\d.,'’ ]*(?:[-–—]{1,2})?\)?"  # an amount without a currency
_MOSTLY = 0.5  # of the different amounts have the currency
_SHORTEST_DATE = 8  # letters
_MANY = 0.05  # of the different numbers with a mark
_TRIED = 200  # values that a form is tried on before all are read
_EARLIEST, _LATEST = 1870, 2060  # years of people and what happens to them
_SPACES = re.compile("[\u00a0\u2007\u2009\u202f]")


@dataclass(frozen=True, slots=True)
class NumberForm:
    """How numbers are written.

    decimal: mark before the fraction.
    thousands: sign between groups of three digits; empty: none.
    currency: text before or after all numbers (a unit) or most of them (a currency); None: none.
    percent: whether a percent sign follows; numbers are read as shares.
    ambiguous: whether another decimal mark reads all cells, too: ``1.234``; or many of those with a mark,
        and no cell shows that it is the decimal mark: ``12,50`` among many ``14,100``.
    """

    decimal: str = "."
    thousands: str = ""
    currency: str | None = None
    percent: bool = False
    ambiguous: bool = False

    @property
    def plain(self) -> bool:
        """Whether a number is read as it is written."""
        return (self.decimal, self.thousands, self.currency, self.percent) == (".", "", None, False)


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


def find_missing(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Find texts that stand for a missing value among a column's different values.

    Returns:
        Those that do anywhere; those that do where all others are numbers or dates.
    """
    found = {text.strip() for text in texts}
    return (
        [text for text in MISSING_ANYWHERE if text in found],
        [text for text in MISSING_BESIDE_OTHERS if text in found],
    )


def find_numbers(texts: pd.Series, *, prefer: str = ".") -> tuple[NumberForm, pd.Series] | None:
    """Read different values as numbers.

    Args:
        texts: (v,) different texts, none missing.
        prefer: decimal mark where two fit.
    Returns:
        The form and (v,) floats; None where some value has none of the forms.
    """
    bare, currency, percent = _strip_signs(texts)
    order = sorted(DECIMALS_FIRST, key=lambda pair: pair[0] != prefer) if prefer != "." else DECIMALS_FIRST
    fitting = [pair for pair in order if _all(bare, _number_pattern(*pair))]
    if not fitting:
        return None
    decimal, thousands = fitting[0]
    plain = bare.str.replace(thousands, "", regex=False) if thousands else bare
    numbers = pd.to_numeric(plain.str.replace(decimal, ".", regex=False), errors="coerce")
    if numbers.isna().any() or not np.isfinite(numbers.to_numpy(np.float64)).all():
        return None
    numbers = numbers / 100 if percent else numbers
    other = len({pair[0] for pair in fitting}) > 1 and bool(bare.str.contains("[.,]", regex=True).any())
    other = other or (not thousands and _are_perhaps_thousands(bare, decimal))
    return NumberForm(decimal, thousands, currency, percent, other), numbers.astype(np.float64)


def _are_perhaps_thousands(bare: pd.Series, decimal: str) -> bool:
    """Tell whether a mark taken for the decimal one stands before three digits so often that it may be none.

    Digits such as ``0,125``, ``1234,567`` or ``1,2345`` are no thousands: there it is the decimal mark.
    """
    mark = re.escape(decimal)
    marked = bare[bare.str.contains(decimal, regex=False)]
    if not len(marked) or marked.str.fullmatch(rf".*(?:(?:\b0|\d{{4}}|^){mark}\d{{3}}|{mark}\d{{4,}})").any():
        return False
    return float(marked.str.fullmatch(rf"[-+]? ?[1-9]\d{{0,2}}{mark}\d{{3}}").mean()) >= _MANY


def _strip_signs(texts: pd.Series) -> tuple[pd.Series, str | None, bool]:
    """Take white space, a unit or a percent sign away, if all numbers have it, or one currency.

    The currency may be missing where the others are plain amounts: they are read as amounts in it.
    """
    bare = texts.str.replace(_SPACES, " ", regex=True).str.strip()
    for currency in CURRENCIES:
        sign = re.escape(currency)
        named = rf"[-+(]?{sign} ?.+|.+ ?{sign}\)?"
        if _all(bare, rf"(?:{named}|{_BARE})") and bare.str.fullmatch(named).mean() >= _MOSTLY:
            return _fill_cents(bare.str.replace(currency, "", regex=False).str.strip()), currency, False
    for unit in _LONG_UNITS_FIRST:
        if _all(bare, rf"(?!-?0\d).*\d ?{re.escape(unit)}"):  # a code begins with 0, and no quantity
            return bare.str[: -len(unit)].str.strip(), unit, False
    if _all(bare, r".+%"):
        return bare.str[:-1].str.strip(), None, True
    return bare, None, False


def _fill_cents(amounts: pd.Series) -> pd.Series:
    """Write a dash in place of cents (``1'200.-``) as zero, so that the decimal mark stays to be seen."""
    return amounts.str.replace(r"([.,])[-–—]{1,2}$", r"\g<1>0", regex=True)


def _number_pattern(decimal: str, thousands: str) -> str:
    whole = rf"(?:[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+|\d+)" if thousands else r"\d+"
    exponent = r"(?:[eE][-+]?\d{1,3})?" if not thousands and decimal == "." else ""
    return rf"[-+]? ?(?:{whole}(?:{re.escape(decimal)}\d+)?|{re.escape(decimal)}\d+){exponent}"


def _all(texts: pd.Series, pattern: str) -> bool:
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
    if not _all(bare, r"(?=.*\d).{8,32}") or not bare.str.contains(r"[-/. ]|^\d{8}$", regex=True).all():
        return None
    read = {form: found for form in _formats(bare) if (found := _read_dates(bare, form)).notna().any()}
    whole = next((form for form, found in read.items() if found.notna().all()), None)
    if whole is not None:
        other = whole.replace("%d", "%0").replace("%m", "%d").replace("%0", "%m")
        clear = whole.startswith("%Y") or names_months(whole)
        return DateForm((whole,), not clear and bool(_read_dates(bare, other).notna().all())), read[whole]
    return _mix_formats(read)


def share_of_forms(texts: pd.Series) -> float:
    """Return the share of different values that are numbers, or dates, of any usual form, which may differ.

    Args:
        texts: (v,) different texts, none missing.
    """
    bare, _, _ = _strip_signs(texts)
    numbers, days = np.zeros((2, len(texts)), np.bool_)
    for pair in DECIMALS_FIRST:
        numbers |= bare.str.fullmatch(_number_pattern(*pair)).to_numpy(np.bool_)
    stripped = texts.str.strip()
    stripped = stripped.where(stripped.str.len() >= _SHORTEST_DATE, "")  # else 1.5 would be a day of a month
    for form in _formats(stripped):
        days |= _read_dates(stripped, form).notna().to_numpy(np.bool_)
    return max(float(numbers.mean()), float(days.mean()))


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
    return _all(texts, r"\d{4}-(?:\d{2}|Q[1-4]|W\d{2})") or find_dates(texts) is not None


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
