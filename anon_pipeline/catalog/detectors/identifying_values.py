"""Whether the values of a column look like what its name says: names, addresses, numbers, dates of birth.

Twenty different values are as many as a column of people has. Fewer may be the few people of a small place,
or a flag (``email``: yes, no) and a kind of product; there the values decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_ENOUGH = 0.9
"""Share of the different values that look so."""

FEW = 3
"""Different values, below which a column is a flag."""

_NAME = re.compile(r"(?:[^\W\d_][\w'’.-]+[ ,]*){1,5}")
_STREET = re.compile(r".*[^\W\d_]{3,}.*\d.*|.*\d.*[^\W\d_]{3,}.*", re.DOTALL)
_PLATE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w -]{4,10}")
_NUMBER = re.compile(r"(?=.*\d)[^\s]{4,34}")
_DAY = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/. ]+\w{1,9}[-/. ]+\d{2,4}")
_PLACE = re.compile(r"[+-]?\d{1,3}[.,]\d{2,}")
_MAYBE = re.compile(r"(?:[^\W\d_a-z]|\d).{2,}", re.DOTALL)


def _is_name(text: str) -> bool:
    return text[:1].isupper() and _NAME.fullmatch(text) is not None


def _has_digits(text: str) -> bool:
    return sum(char.isdigit() for char in text) >= 6


def _fits(form: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: form.fullmatch(text) is not None


_FORMS: dict[str, Callable[[str], bool]] = {
    "names of persons": _is_name,
    "addresses": _fits(_STREET),
    "telephone numbers": _has_digits,
    "e-mail addresses": lambda text: "@" in text,
    "number plates": _fits(_PLATE),
    "numbers of persons or documents": _fits(_NUMBER),
    "numbers of persons": _fits(_NUMBER),
    "numbers of accounts or cards": _fits(_NUMBER),
    "dates of birth": _fits(_DAY),
    "places on a map": _fits(_PLACE),
}
"""What values look like that are what a column's name says (`telling_names`)."""


def looks_like(said: str, values: Sequence[str]) -> bool:
    """Tell whether nearly all of at least three different values look like what a name says.

    Args:
        said: see `identifying_names.telling_name`. values: different, as texts.

    >>> looks_like("names of persons", ["Ann", "Bea", "Cid"])
    True
    >>> looks_like("e-mail addresses", ["yes", "no", "unknown"])
    False
    """
    return _most(_FORMS[said], values)


def may_be(values: Sequence[str]) -> bool:
    """Return whether at least three different values may identify people: no flags, counts or codes.

    >>> may_be(["Ann", "Bea", "Cid"]), may_be(["0", "1", "2"]), may_be(["urban", "rural", "none"])
    (True, False, False)
    """
    return _most(_fits(_MAYBE), values) and not all(value.isdigit() for value in values)


def _most(form: Callable[[str], bool], values: Sequence[str]) -> bool:
    return len(values) >= FEW and sum(map(form, values)) >= _ENOUGH * len(values)
