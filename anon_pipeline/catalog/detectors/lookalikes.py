"""Columns of everyday values that have the form of an identifier, known by what no identifiers have.

Source: ISO 2108 (ISBN-10 has the weights of NHS numbers, and X for a check digit of 10, which the NHS does
not issue); SSA, Social Security Number Randomization (areas are given out evenly up to 899; before 2011 up to
772).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

_SIGNED = re.compile(r"[+-]?\d{1,3}(?:[ ',]?\d{3})*(?:[.,]\d+)?|[+-]?\d+[.,]\d+")
_DRUG = re.compile(r"\d{4}-\d{4}-\d{2}|\d{5}-\d{3}-\d{2}|\d{5}-\d{4}-\d{1,2}")
_FEWEST = 20  # versions, drug codes that are judged as a column
_EVEN = 1.36  # Kolmogorov's limit for one in twenty samples, times the root of their size
_UNEVEN = 0.08  # real areas are not quite even


def are_amounts(texts: Sequence[str], *, numbers: bool) -> bool:
    """Tell whether nine-digit numbers are not spread evenly from 1,000,000, as social security numbers are.

    Args:
        texts: digits.
        numbers: zeros in front were not written; where they were, the texts are no amounts.
    """
    if not numbers or not texts:
        return False
    values = np.sort(np.array([int(text) for text in texts], float))
    small, largest = float((values < 1e8).mean()), float(values[-1])
    if largest < 6e8 or not 0.05 <= small <= 0.25:
        return True
    even = np.clip((values - 1e6) / (largest - 1e6), 0, 1)
    places = np.arange(1, len(values) + 1) / len(values)
    apart = float(np.maximum(np.abs(places - even), np.abs(places - 1 / len(values) - even)).max())
    return apart > max(_UNEVEN, _EVEN / math.sqrt(len(values)))


def are_book_numbers(texts: Sequence[str], *, numbers: bool = False) -> bool:
    """Tell whether as many of the numbers end in a valid X as of ISBN-10 do: one in eleven, at least 3 %."""
    del numbers
    marked = sum(_is_marked(text) for text in texts)
    return marked > 0 and marked >= 0.03 * len(texts)


def _is_marked(text: str) -> bool:
    if len(text) != 10 or text[9] != "X" or not text[:9].isdecimal():
        return False
    return (sum((10 - place) * int(digit) for place, digit in enumerate(text[:9])) + 10) % 11 == 0


def are_drug_codes(texts: Sequence[str], *, numbers: bool = False) -> bool:
    """Tell whether nearly all of many values are NDC codes: groups of 4-4-2, 5-3-2, 5-4-1 or 5-4-2 digits."""
    del numbers
    coded = sum(_DRUG.fullmatch(text) is not None for text in texts)
    return len(texts) >= _FEWEST and coded >= 0.95 * len(texts)


def are_signed_numbers(texts: Sequence[str], *, numbers: bool = False) -> bool:
    """Tell whether all values are numbers and some of them negative: a plus sign is then one, too."""
    del numbers
    return any(text[:1] == "-" for text in texts) and all(_SIGNED.fullmatch(text) for text in texts)


def are_versions(texts: Sequence[str], *, numbers: bool = False) -> bool:
    """Tell whether numbers of four parts are versions: they begin below 10, few parts have three digits."""
    del numbers
    parts = [text.split(".") for text in texts if text.count(".") == 3]
    parts = [four for four in parts if all(part.isdecimal() for part in four)]
    if len(parts) < _FEWEST:
        return False
    short = sum(all(len(part) < 3 for part in four) for four in parts)
    return all(len(four[0]) == 1 for four in parts) and short >= 0.9 * len(parts)
