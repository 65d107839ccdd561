"""The patterns by which 0.1.0 looked for identifiers in text columns; they never change again."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

PATTERNS_1: dict[str, re.Pattern[str]] = {
    "e-mail address": re.compile(r"(?<![\w.%+'-])[\w.%+'-]+@[\w-]+(?:\.[\w-]+)+"),
    "social security number": re.compile(r"(?<![\d-])\d{3}[- ]\d{2}[- ]\d{4}(?![\d-])"),
    "telephone number": re.compile(
        r"""(?<![\w+-])(?:
            \+(?!\d+\.\d{1,5}(?![\d(/-]|[ .]\d))  # international, but not +1000000.50
                \d(?:[ .()/-]{0,2}\d){6,14}
            |(?:1[ .-]?)?\(\d{3}\)[ -]?\d{3}[ .-]\d{4}
            |(?:1[ .-])?\d{3}([ .-])\d{3}\1\d{4}
        )(?=x\d|(?![\w-]))""",
        re.VERBOSE,
    ),
}


def matches_1(column: pd.Series) -> dict[str, int]:
    """Count the records of a text column that hold an identifier, per pattern.

    Args:
        column: (n,) texts; other columns have no matches.
    Returns:
        Records per pattern's name, where there is at least one.
    """
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return {}
    counts = column.dropna().astype("str").value_counts()
    found = {name: _records(counts, pattern) for name, pattern in PATTERNS_1.items()}
    return {name: records for name, records in found.items() if records}


def _records(counts: pd.Series, pattern: re.Pattern[str]) -> int:
    values: Iterable[str] = counts.index
    return int(sum(count for value, count in zip(values, counts, strict=True) if pattern.search(value)))
