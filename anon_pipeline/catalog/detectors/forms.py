"""How the cells of a column are written: texts for a missing value, numbers; for dates see `date_forms`.

A form is found if all cells that are there have it. Found are forms, never values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anon_pipeline.catalog.detectors.date_forms import all_match, are_dates

MISSING_ANYWHERE = (
    *("-", "--", "---", "–", "—", "?", "??", ".", "..", "...", "n/a", "N/A", "n.a.", "N.A.", "#N/A", "#NA"),
    *("<NA>", "NaN", "nan", "NULL", "null", "(null)", "(blank)", "(leer)", "k.A.", "k. A.", "s/d", "#NULL!"),
    *("#N/V", "#NV", "#N/D", "#ND", "#WERT!", "#VALEUR!", "#VALORE!"),
    *("#BEZUG!", "#REF!", "#DIV/0!", "#NAME?"),
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

_LONG_UNITS_FIRST = sorted(UNITS, key=len, reverse=True)
_BARE = r"[-+(]?\d[\d.,'’ ]*(?:[-–—]{1,2})?\)?"  # an amount without a currency
_MOSTLY = 0.5  # of the different amounts have the currency
_MANY = 0.05  # of the different numbers with a mark
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
        """Whether numbers need no settings under `clean`: a decimal point at most, and not ambiguous."""
        found = (self.decimal, self.thousands, self.currency, self.percent, self.ambiguous)
        return found == (".", "", None, False, False)


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
    fitting = [pair for pair in order if all_match(bare, _number_pattern(*pair))]
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
        if all_match(bare, rf"(?:{named}|{_BARE})") and bare.str.fullmatch(named).mean() >= _MOSTLY:
            return _fill_cents(bare.str.replace(currency, "", regex=False).str.strip()), currency, False
    for unit in _LONG_UNITS_FIRST:
        if all_match(bare, rf"(?!-?0\d).*\d ?{re.escape(unit)}"):  # a code begins with 0, and no quantity
            return bare.str[: -len(unit)].str.strip(), unit, False
    if all_match(bare, r".+%"):
        return bare.str[:-1].str.strip(), None, True
    return bare, None, False


def _fill_cents(amounts: pd.Series) -> pd.Series:
    """Write a dash in place of cents (``1'200.-``) as zero, so that the decimal mark stays to be seen."""
    return amounts.str.replace(r"([.,])[-–—]{1,2}$", r"\g<1>0", regex=True)


def _number_pattern(decimal: str, thousands: str) -> str:
    whole = rf"(?:[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+|\d+)" if thousands else r"\d+"
    exponent = r"(?:[eE][-+]?\d{1,3})?" if not thousands and decimal == "." else ""
    return rf"[-+]? ?(?:{whole}(?:{re.escape(decimal)}\d+)?|{re.escape(decimal)}\d+){exponent}"


def share_of_forms(texts: pd.Series) -> float:
    """Return the share of different values that are numbers, or dates, of any usual form, which may differ.

    Args:
        texts: (v,) different texts, none missing.
    """
    bare, _, _ = _strip_signs(texts)
    numbers = np.zeros(len(texts), np.bool_)
    for pair in DECIMALS_FIRST:
        numbers |= bare.str.fullmatch(_number_pattern(*pair)).to_numpy(np.bool_)
    return max(float(numbers.mean()), float(are_dates(texts).mean()))
