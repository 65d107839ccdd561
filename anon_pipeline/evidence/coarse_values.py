"""Values that are different, but one secret: subcodes of one illness, numbers at one end of the table.

What a column's values have in common is read from their form and their order; what classes reveal by it is
measured in `homogeneous_values`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.packed_tables import Table, different_cells
from anon_pipeline.base.word_forms import plain_word
from anon_pipeline.catalog.detectors.date_forms import holds_days

END = 0.2
"""Share of the records with a number that is among the largest of a table, or among the smallest, at most."""

CODED = 0.5
"""Least share of the different texts of a column, and of the records with a text, that look like codes."""

Integers = NDArray[np.int64]

_PARTED = re.compile(r"(?=[a-z]*\d)(?P<stem>[a-z\d]{2,6})[./-][a-z\d][a-z\d./-]{0,9}")
_PLAIN = re.compile(r"(?P<stem>[a-z]\d\d)[a-z\d]{0,4}")
_BLOCK = re.compile(r"[a-z]\d")


_YES_OR_NO = frozenset({"yes", "no", "y", "n", "true", "false", "t", "f", "1", "0", "x", "ja", "nein"})
_YES_OR_NO |= {"j", "nee", "oui", "non", "o", "si", "s", "nao", "sim", "ano", "ne", "da"}


def holds_yes_or_no(frame: Table, name: str) -> bool:
    """Tell whether the values of a column are two, or one and missing ones, and mean yes and no.

    >>> holds_yes_or_no(pd.DataFrame({"fired": ["Ja", "nein", None]}), "fired")
    True
    """
    cells = different_cells(frame, name).dropna().unique()
    words = {plain_word(f"{cell:g}" if isinstance(cell, float) else str(cell)) for cell in cells}
    return len(words) in (1, 2) and words <= _YES_OR_NO


def stem_of(text: str) -> str | None:
    """Return what the subcodes of a code have in common; None of a text that does not look like a code.

    It is the part before the first point, hyphen or slash, if it has a digit after its letters; of a code
    without them the first letter and two digits.

    >>> [stem_of(code) for code in ("B20.1", "b201", "A10BA02", "11-1011", "J45", "type-2", "self-employed")]
    ['b20', 'b20', 'a10', '11', 'j45', None, None]
    """
    folded = text.strip().casefold()
    found = _PARTED.fullmatch(folded) or _PLAIN.fullmatch(folded)
    return None if found is None else found["stem"]


def block_of(stem: str) -> str:
    """Return the letter and the digit that a stem begins with; a stem without them is a block by itself.

    >>> [block_of(stem) for stem in ("b20", "b24", "11")]
    ['b2', 'b2', '11']
    """
    return stem[:2] if _BLOCK.match(stem) else stem


def code_groups(codes: Integers, texts: Sequence[str]) -> list[Integers]:
    """Number the stems of a column of codes, and the blocks of neighboring stems.

    Args:
        codes: (n,) which text each record has; −1 for a missing one.
        texts: (v,) different ones.
    Returns:
        (n,) each: stems, if some have several texts, and blocks, if some have several stems. A text that is
        no code and a missing one are groups by themselves. None of a column of words, numbers or days.
    """
    stems = [stem_of(text) for text in texts]
    coded = np.array([stem is not None for stem in stems], np.bool_)
    present = codes[codes >= 0]
    if not len(present) or coded.mean() < CODED or coded[present].mean() < CODED:
        return []
    if all(stem is None or stem.isdigit() for stem in stems) and holds_days(pd.Series(texts)):
        return []
    found, before = [], len({plain_word(text) for text in texts})
    for name in (str, block_of):
        groups = _number_groups(stems, texts, name)
        number = int(groups.max()) + 1
        if number < before:
            found.append(np.append(groups, number)[codes])
        before = number
    return found


def _number_groups(stems: Sequence[str | None], texts: Sequence[str], name: Callable[[str], str]) -> Integers:
    """Number the groups of texts, (v,)."""
    keys = [
        ("word", plain_word(text)) if stem is None else ("code", name(stem))
        for stem, text in zip(stems, texts, strict=True)
    ]
    ranks = {key: rank for rank, key in enumerate(dict.fromkeys(keys))}
    return np.array([ranks[key] for key in keys], np.int64)


def end_marks(ranks: Integers, *, missing: bool) -> Integers:
    """Mark the records with one of the smallest, or of the largest numbers of a table.

    Records with one number are marked all or none: of a column in which half are 0, no record is among the
    smallest.

    Args:
        ranks: (n,) of each record's number among the different ones.
        missing: whether the last rank is of records without a number.
    Returns:
        (n,) 1 for the smallest, 2 for the largest, at most `END` of those with a number; 0 for the others.

    >>> end_marks(np.array([0, 0, 0, 1, 2, 3, 4, 5, 6, 7]), missing=False).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 2, 2]
    """
    counts = np.bincount(ranks)
    marks = np.zeros(len(counts), np.int64)
    counts = counts[:-1] if missing else counts
    most = END * counts.sum() + 1e-9
    marks[: np.searchsorted(np.cumsum(counts), most, side="right")] = 1
    largest = np.searchsorted(np.cumsum(counts[::-1]), most, side="right")
    marks[len(counts) - largest : len(counts)] = 2
    return marks[ranks]
