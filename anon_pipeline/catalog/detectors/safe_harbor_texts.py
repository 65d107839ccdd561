"""What texts show that HIPAA's Safe Harbor has a rule for: dates, spans of numbers, ZIP codes, states.

Source: 45 CFR 164.514(b)(2)(i).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from anon_pipeline.base.month_names import ANY_PATTERN, CLEAR_PATTERN, NAME_PATTERN

_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:1[89]|2[01])\d\d"
MORE_THAN_YEARS = re.compile(
    rf"""(?<![\d.-]){_YEAR}(?:-(?:0[1-9]|1[0-2])(?!\d)(?!-\d{{4}})|/{_MONTH}/{_DAY}(?!\d)|\.{_MONTH}\.{_DAY}(?!\d)|-?Q[1-4](?!\w))
    |(?<![\d./-])(?:{_DAY}[./-]{_MONTH}|{_MONTH}[/-]{_DAY})[./-](?:{_YEAR}|\d\d)(?![\d./-]*\d)
    |(?<![\w./-]){_MONTH}/{_YEAR}(?!\d)
    |(?<!\w)(?:{CLEAR_PATTERN})\.?[ -](?:de[ ])?(?:{_DAY}(?:st|nd|rd|th)?,?[ ])?{_YEAR}(?!\d)
    |(?<![\d.-]){_DAY}\.?[ -](?:de[ ])?(?:{ANY_PATTERN})\.?[ -](?:de[ ])?{_YEAR}(?!\d)
    |(?<!\w)Q[1-4][ /-]{_YEAR}(?!\d)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Finds a day, a month or a quarter of a year in a text, in the usual ways to write them."""
_WEEKDAYS = (
    "(?:mon|tues|wednes|thurs|fri|satur|sun)day|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|"
    "sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|mi[eé]rcoles|jueves|viernes|"
    "s[aá]bado|domingo|(?:lune|marte|mercole|giove|vener)d[iì]|sabato|domenica|"
    "(?:segunda|ter[cç]a|quarta|quinta|sexta)(?:-feira)?|(?:maan|dins|woens|donder|vrij|zater|zon)dag"
)
_NAMED = re.compile(f"{NAME_PATTERN}|{_WEEKDAYS}", re.IGNORECASE)
_COMPACT = re.compile(rf"{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_FEWEST = 3  # different values from which on eight digits are days


def are_days(texts: Sequence[str]) -> bool:
    """Tell whether all different values of a column are days as eight digits, or names of months or weekdays.

    >>> are_days(["20200103", "20210405", "20191231"]), are_days(["March", "May"]), are_days(["3"])
    (True, True, False)
    """
    compact = len(texts) >= _FEWEST and all(map(_COMPACT.fullmatch, texts))
    return compact or all(map(_NAMED.fullmatch, texts))


_WHOLE_YEAR = re.compile(rf"{_YEAR}s?|[<>≥≤]=? ?{_YEAR}|\[{_YEAR}, {_YEAR}[\])]|{_YEAR}(?:-{_YEAR}|\+)")


def is_year(text: str) -> bool:
    """Tell whether a text is a year, or several years.

    >>> [is_year(text) for text in ("1970", "1970s", "[1970, 1980)", "< 1940", "1970-05", "12")]
    [True, True, True, True, False, False]
    """
    return _WHOLE_YEAR.fullmatch(text) is not None


class Span(NamedTuple):
    """The numbers that a text stands for, from ``low`` to ``high``, which may be infinite.

    closed: whether ``high`` is one of them.
    """

    low: float
    high: float
    closed: bool = True

    def ends_below(self, limit: float) -> bool:
        """Tell whether all of them are below a limit."""
        return self.high < limit or (self.high == limit and not self.closed)

    def opens_above(self, limit: float) -> bool:
        """Tell whether it is a group without an end that holds all from a limit on."""
        return math.isinf(self.high) and self.low <= limit

    def opens_below(self, limit: float) -> bool:
        """Tell whether it is a group without a beginning that holds all below a limit."""
        return math.isinf(self.low) and self.high >= limit

    def is_just(self, number: float | None) -> bool:
        """Tell whether it is one number, to which a policy moves all beyond it."""
        return number is not None and self.low == self.high == number


_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"\[{_NUMBER}, {_NUMBER}([\])])")
_SPANS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Span]], ...] = (
    (re.compile(_NUMBER), lambda m: Span(float(m[1]), float(m[1]))),
    (_RANGE, lambda m: Span(float(m[1]), float(m[2]), m[3] == "]")),
    (re.compile(r"(\d{3}0)s"), lambda m: Span(float(m[1]), float(m[1]) + 9)),
    (re.compile(rf"{_NUMBER} ?(?:-|–|to|bis) ?{_NUMBER}"), lambda m: Span(float(m[1]), float(m[2]))),
    (
        re.compile(rf"(?:<|under|below|unter) ?{_NUMBER}", re.IGNORECASE),
        lambda m: Span(-math.inf, float(m[1]), closed=False),
    ),
    (re.compile(rf"(?:≤|<=) ?{_NUMBER}"), lambda m: Span(-math.inf, float(m[1]))),
    (
        re.compile(rf"(?:≥|>=|>|over|above|über) ?{_NUMBER}", re.IGNORECASE),
        lambda m: Span(float(m[1]), math.inf),
    ),
    (
        re.compile(rf"{_NUMBER} ?(?:\+|(?:and|or|und) (?:above|over|older|more|mehr))", re.IGNORECASE),
        lambda m: Span(float(m[1]), math.inf),
    ),
)


def read_span(text: str) -> Span | None:
    """Read which numbers a text stands for; None where it cannot be read.

    >>> read_span("[80, 90)"), read_span("90+"), read_span("old")
    (Span(low=80.0, high=90.0, closed=False), Span(low=90.0, high=inf, closed=True), None)
    >>> read_span("1930s"), read_span("< 1930")
    (Span(low=1930.0, high=1939.0, closed=True), Span(low=-inf, high=1930.0, closed=False))
    """
    for form, read in _SPANS:
        if found := form.fullmatch(text):
            return read(found)
    return None


_FULL_ZIP = re.compile(r"\d{5}-\d{4}")
_MASKED_ZIP = re.compile(r"(\d*)(\**)(?:-\**)?")


def is_full_zip(text: str) -> bool:
    """Tell whether a text is a ZIP code of nine digits."""
    return _FULL_ZIP.fullmatch(text) is not None


def read_zip(text: str) -> frozenset[str] | None:
    """Return the first three digits of the ZIP codes that a text stands for; none where there are many.

    A zero in front that a number has lost is put back.

    Returns:
        None where the text shows more than three digits, or is no ZIP code.

    >>> read_zip("021**"), read_zip("36"), read_zip("02***"), read_zip("0213*"), read_zip("[2100, 2200)")
    (frozenset({'021'}), frozenset({'036'}), frozenset(), None, frozenset({'021'}))
    """
    if found := _RANGE.fullmatch(text):
        low, high = float(found[1]), float(found[2])
        if found[3] == "]" or low % 100 or high % 100 or not 0 <= low < high <= 100_000:
            return None
        return frozenset(f"{area:03d}" for area in range(int(low) // 100, int(high) // 100))
    masked = _MASKED_ZIP.fullmatch(text)
    if masked is None or not text:
        return None
    digits, hidden = masked.groups()
    if not hidden:
        return frozenset({digits.zfill(3)}) if len(digits) <= 3 else _areas_of_hundred(digits)
    shown = digits.zfill(5 - len(hidden)) if len(hidden) < 5 else digits
    if len(shown) > 3:
        return None
    return frozenset({shown}) if len(shown) == 3 else frozenset()


def _areas_of_hundred(digits: str) -> frozenset[str] | None:
    """Return the area of 00000, which stands for areas of few people; any other code shows all digits."""
    return frozenset({"000"}) if digits == "00000" else None


_STATES = """
Alabama AL|Alaska AK|Arizona AZ|Arkansas AR|California CA|Colorado CO|Connecticut CT|Delaware DE|
District of Columbia DC|Florida FL|Georgia GA|Hawaii HI|Idaho ID|Illinois IL|Indiana IN|Iowa IA|Kansas KS|
Kentucky KY|Louisiana LA|Maine ME|Maryland MD|Massachusetts MA|Michigan MI|Minnesota MN|Mississippi MS|
Missouri MO|Montana MT|Nebraska NE|Nevada NV|New Hampshire NH|New Jersey NJ|New Mexico NM|New York NY|
North Carolina NC|North Dakota ND|Ohio OH|Oklahoma OK|Oregon OR|Pennsylvania PA|Rhode Island RI|
South Carolina SC|South Dakota SD|Tennessee TN|Texas TX|Utah UT|Vermont VT|Virginia VA|Washington WA|
West Virginia WV|Wisconsin WI|Wyoming WY|Puerto Rico PR|Guam GU|American Samoa AS|
United States US|United States of America USA
"""
_KNOWN_STATES = {
    name.casefold() for one in _STATES.replace("\n", "").split("|") for name in one.strip().rsplit(" ", 1)
}


def is_state(text: str) -> bool:
    """Tell whether a text is a state of the United States, its two letters, or the country.

    >>> is_state("Ohio"), is_state("NY"), is_state("Boston")
    (True, True, False)
    """
    return text.casefold() in _KNOWN_STATES


_URL = re.compile(r"(?<!\w)(?:https?|ftp)://\S|(?<![\w.])www\.[\w-]+\.\w", re.IGNORECASE)
_MAC = re.compile(r"(?<![\w:-])(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?![\w:-])", re.IGNORECASE)
_VIN = re.compile(r"[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}")
_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def _is_vin(text: str) -> bool:
    """Tell whether a text is a vehicle's number (ISO 3779) with the check digit of North America."""
    if not _VIN.fullmatch(text) or text.isdigit():
        return False
    total = sum(
        weight * (int(char) if char.isdigit() else _VIN_VALUES[char])
        for char, weight in zip(text, _VIN_WEIGHTS, strict=True)
    )
    return text[8] == ("X" if total % 11 == 10 else str(total % 11))


def _are_vins(texts: Sequence[str]) -> bool:
    return sum(map(_is_vin, texts)) * 2 > len(texts)


OTHER_IDENTIFIERS: Mapping[str, Callable[[Sequence[str]], bool]] = {
    "web addresses": lambda texts: any(map(_URL.search, texts)),
    "addresses of devices": lambda texts: any(map(_MAC.search, texts)),
    "numbers of vehicles": _are_vins,
}
"""Kinds of identifiers of Safe Harbor without a detector; each judges a column's different texts."""
