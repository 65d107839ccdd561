"""How many records are compared in whole numbers of 63 bits, and what takes their place beyond.

Belongs here: bounds for what is measured of classes. Does not belong here: bounds of losses
(`recode.capacity`).
Decision: docs/adr/0076-the-search-counts-tuples.md.
"""

from __future__ import annotations

from typing import Final

from anon_pipeline.base.errors import InputError

WORD: Final = 2**63
"""What a signed whole number of 64 bits stays below."""

MOST_SQUARED: Final = 3_037_000_499
"""Records whose square is below `WORD`."""


def share_unit(records: int, *, height: int = 1) -> int:
    """Return the unit in which shares of a class and of the whole table are compared.

    As long as height · records² is below 2^63, a share p of a class of m records is the whole number
    p · m · records, and differences are exact. Beyond, it is rounded to 53 bits and to a part of 1, so that
    a distance is right to 2^-52 and one part for each value: less than the tolerance of t (1e-12).

    Args:
        records: of the whole table.
        height: largest number that a difference is multiplied with.
    Returns:
        0 where whole numbers hold everything; else into how many parts 1 is divided.

    >>> share_unit(10**6), share_unit(10**10) == 2**61
    (0, True)
    """
    most = max(1, height)
    return 0 if most * records**2 < WORD else 2 ** (62 - most.bit_length())


def refuse_areas(records: int, values: int) -> None:
    """Refuse an ordered column whose cumulative counts do not add up in 63 bits.

    Args:
        records: of the whole table.
        values: distinct ones that occur.
    Raises:
        InputError: records · values is 2^63 or more.
    """
    if records * values >= WORD:
        raise InputError(
            f"A column with distance: ordered and {records:,} records must have fewer than "
            f"{-(-WORD // records):,} distinct values, got more. Make it coarser (round) or declare "
            "distance: equal."
        )
