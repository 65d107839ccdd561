"""Cells that list several values, such as "flu; hiv", which limits on classes take for one value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import pandas as pd

from anon_pipeline.base.values import to_texts
from anon_pipeline.base.word_forms import plain_word
from anon_pipeline.evidence.evidence import Evidence

SEPARATORS = (";", "|", "\n", ",", "/", "+")
"""What lists are separated by. The last three stand in numbers, too, so that parts must have letters."""

_OF_WORDS = frozenset({",", "/", "+"})
_TEXTS = 50_000  # different ones that are looked at, the most frequent ones


def list_cells(evidence: Evidence, name: str) -> float:
    """Return the share of the released records whose cell of a column lists several values, in [0, 1].

    A cell lists values if it can be split into two different parts or more, and other cells show that each of
    them is a value: one consists of it, or it is the first part of one cell and a later part of another. So
    "Pneumonia, unspecified" is one value, for nothing begins with "unspecified". Numbers and days are
    no lists. Of several separators, the one of the most cells counts.

    Args:
        name: of a sensitive column.
    """
    series = evidence.released[name]
    if not len(series) or not (series.dtype == object or pd.api.types.is_string_dtype(series.dtype)):
        return 0.0
    counts = to_texts(series).value_counts().head(_TEXTS)
    listed = (_list_texts(counts.index, separator) for separator in SEPARATORS)
    return max(int(counts[texts].sum()) for texts in listed) / len(series)


def _list_texts(texts: Iterable[str], separator: str) -> list[str]:
    """Return the texts that list values."""
    word, texts = cache(plain_word), list(texts)
    parts = {text: [word(part) for part in _parts(text, separator)] for text in texts if separator in text}
    several = {text: split for text, split in parts.items() if len(set(split)) > 1}
    alone = {word(text) for text in texts if text not in several}
    first, later = {split[0] for split in several.values()}, set(_later(several.values()))
    values = alone | (first & later)
    return [text for text, split in several.items() if values.issuperset(split)]


def _later(cells: Iterable[Sequence[str]]) -> Iterator[str]:
    for split in cells:
        yield from split[1:]


def _parts(text: str, separator: str) -> list[str]:
    """Split a text; where the separator may be part of a number, into parts that all have letters, or not."""
    parts = [part.strip() for part in text.split(separator) if part.strip()]
    worded = all(any(char.isalpha() for char in part) for part in parts)
    return parts if worded or separator not in _OF_WORDS else [text]
