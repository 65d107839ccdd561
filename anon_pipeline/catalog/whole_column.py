"""What a mechanism does that changes a column as a whole: part of its entry, see `entries.Mechanism`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AmountKind = Literal["none", "share", "factor", "count", "step"]
"""What ``amount`` of a column is: a share of the records, in (0, 1]; a factor above 0, up to 10; a whole
number from 2 to 1,000; a step in the column's unit, a multiple of its resolution.
"""

CategoryKind = Literal["none", "any", "ordered"]
"""Which columns of categories a mechanism changes, too: none, any, or those whose values have an order."""


@dataclass(frozen=True, slots=True)
class WholeColumn:
    """What a mechanism does that changes a column as a whole, instead of drawing noise for each value.

    runs: place of the function, from `perturb.whole_column.columns_to_change.Columns` to released values.
    amount: what ``amount`` is; ``none``: it takes none.
    says: the amount for people, with {} for it.
    together: whether it changes several columns together, which then have the same amount.
    keeps: what follows for people, a sentence; empty: nothing.
    categories: which columns of categories it changes, too, by the codes of their values.
    joint: whether a policy can let the values of several columns move together; all of these columns then
        get the same random words.
    """

    runs: str
    amount: AmountKind = "none"
    says: str = ""
    together: bool = False
    keeps: str = ""
    categories: CategoryKind = "none"
    joint: bool = False
