"""Records that are no people: lines without values, or nearly so, and totals. They are counted alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.draft.profile.look import Kind, Look
from anon_pipeline.draft.profile.whole_table import says_total

_FILLED = 0.9  # share of values from which on a column is one that each person has
_NEARLY = 0.2  # share of such columns up to which a record with values is nearly empty
_FEWEST_COLUMNS = 4  # of that kind; in fewer a value or two may be all there is
_LONGEST = 60  # letters of a total, at most
_HINTS = r"(?i:total|totaal|sum|som|all|gesamt|ergebnis)"  # one of them is in each word for a total
_LACKING = 2  # of them without a value, in a total


@dataclass(frozen=True, slots=True)
class OddRecords:
    """How many records are probably none; a record is of one kind.

    empty: without a value.
    nearly: with values in very few of the columns that other records have.
    totals: whose first text is a word for a total, while values of other columns are missing.
    """

    empty: int = 0
    nearly: int = 0
    totals: int = 0

    def __bool__(self) -> bool:
        """Tell whether there are some."""
        return any(astuple(self))


def find_odd_records(looks: Sequence[Look]) -> OddRecords:
    """Count records that are probably none.

    Args:
        looks: the columns of a table of n records, in their order, at least one.
    """
    empty = np.logical_and.reduce([look.codes < 0 for look in looks])
    usual = [look for look in looks if look.counts.sum() >= _FILLED * max(int((~empty).sum()), 1)]
    filled = np.zeros(len(empty), np.int64)
    for look in usual:
        filled += look.codes >= 0
    totals = _first_text_says_total(looks) & (len(usual) - filled >= _LACKING)
    nearly = ~empty & ~totals & (filled <= _NEARLY * len(usual)) & (len(usual) >= _FEWEST_COLUMNS)
    return OddRecords(int(empty.sum()), int(nearly.sum()), int(totals.sum()))


def _first_text_says_total(looks: Sequence[Look]) -> NDArray[np.bool_]:
    """Tell of which records the first text, column by column, is a word for a total, (n,)."""
    found = np.zeros(len(looks[0].codes), np.bool_)
    seen = np.zeros_like(found)
    for look in looks:
        if look.seen.kind in (Kind.CATEGORY, Kind.TEXT) and not seen.all():
            found |= ~seen & np.append(_totals(look), False)[look.codes]
            seen |= look.codes >= 0
    return found


def _totals(look: Look) -> NDArray[np.bool_]:
    """Tell which values are words for a total, (v,); most are ruled out together, which takes less time."""
    texts = look.values.astype("str")
    may_be = (texts.str.len() <= _LONGEST) & texts.str.contains(_HINTS, regex=True)
    found = np.zeros(len(texts), np.bool_)
    places = np.flatnonzero(may_be.to_numpy(np.bool_))
    found[places] = [says_total(text) for text in texts.iloc[places]]
    return found
