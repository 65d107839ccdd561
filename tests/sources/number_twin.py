"""Slow twins of the readers of numbers and dates, with Python's Decimal and strptime."""

from __future__ import annotations

import datetime
from decimal import Decimal

DIGITS = set("0123456789")


def _digits(text: str) -> bool:
    return bool(text) and set(text) <= DIGITS


def decimal_of(text: str, *, decimal: str = ".", thousands: str | None = None) -> Decimal | None:
    """Return the number that a text is, None if it is none."""
    text = text.strip(" \u00a0\u2009\u202f\t\n\r\x0b\x0c")
    minus = text[:1] in ("-", "\u2212")
    if text[:1] in ("+", "-", "\u2212"):
        text = text[1:].lstrip(" \u00a0\u2009\u202f")
    whole, sign, fraction = text.partition(decimal)
    if sign and not _digits(fraction):
        return None
    if not whole:
        if not sign:
            return None
        whole = "0"
    elif thousands is not None and thousands in whole:
        first, *others = whole.split(thousands)
        if not (_digits(first) and len(first) <= 3 and first[0] != "0"):
            return None
        if not all(_digits(other) and len(other) == 3 for other in others):
            return None
        whole = "".join([first, *others])
    if not _digits(whole):
        return None
    return Decimal(f"{'-' if minus else ''}{whole}.{fraction or '0'}")


def day_of(text: str, form: str) -> datetime.date | None:
    """Return the day that a text is by one format, None if it is none."""
    try:
        return datetime.datetime.strptime(text.strip(), form).date()
    except ValueError:
        return None
