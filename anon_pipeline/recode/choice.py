"""A recoding that was chosen and not yet applied: the classes, and how a record's class is found.

To choose takes distinct tuples and counts; to apply takes leaf codes, a batch at a time. So the records can
be anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.recode.task import Recoding

_LARGEST_KEY: Final = 2**62


class Finder(Protocol):
    """Finds classes: arrays alone, so that it can be written down and read elsewhere."""

    def find(self, leaves: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the class of each record, (b,); −1 for one that is suppressed.

        Args:
            leaves: (b, q) leaf codes.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What a recoder chose for every record that its table counts.

    finder: finds the class of leaf codes.
    codes: (m, q) what each class releases; column j indexes ``values[j]``. Rows differ, in lexicographic
        order.
    sizes: (m,) records of each class.
    values: q object arrays; the released value of each code; None is a missing value.
    labels: (t,) class of each distinct tuple of the table, −1 for a suppressed one; None where the table was
        not in memory.
    levels, loss, suppressed, checked, cells: as in `Recoding`.
    """

    finder: Finder = field(repr=False)
    codes: NDArray[np.signedinteger] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    values: tuple[NDArray[np.object_], ...] = field(repr=False)
    labels: NDArray[np.int64] | None = field(repr=False)
    levels: tuple[int, ...] | None
    loss: float
    suppressed: int
    checked: int = 0
    cells: int = 0


def _released_codes(choice: Choice, classes: NDArray[np.int64]) -> NDArray[np.signedinteger]:
    """Return what classes release, (b, q); −1 in every column of one that is suppressed."""
    q = choice.codes.shape[1]
    return np.concatenate([choice.codes, np.full((1, q), -1, choice.codes.dtype)])[classes]


def apply(choice: Choice, leaves: NDArray[np.integer]) -> NDArray[np.signedinteger]:
    """Recode a batch of records.

    Args:
        leaves: (b, q) leaf codes of records that the choice's table has counted.
    Returns:
        (b, q) codes, as in `Recoding`; −1 in every column of a suppressed record.
    """
    return _released_codes(choice, choice.finder.find(leaves))


def recoding_of(choice: Choice, labels: NDArray[np.int64]) -> Recoding:
    """Recode all records of a table in memory; the same as `apply`, without looking for any class.

    Args:
        labels: (n,) distinct tuple of each record.
    """
    assert choice.labels is not None  # noqa: S101 - the table was in memory
    narrow = replace(choice, codes=narrow_integers(choice.codes))
    return Recoding(
        codes=_released_codes(narrow, choice.labels[labels]),
        values=choice.values,
        levels=choice.levels,
        loss=choice.loss,
        suppressed=choice.suppressed,
        checked=choice.checked,
        cells=choice.cells,
    )


@dataclass(frozen=True, slots=True, eq=False)
class KeyedClasses:
    """Classes by their codes on some level of each column: packed into one whole number, and looked up.

    lookups: q arrays (D,): code of each leaf, in the order of the leaves.
    prefixes: q arrays: where the numbers would not fit with one more column, the distinct ones of the columns
        before it, ascending, by whose places they are replaced; empty elsewhere.
    keys: (c,) ascending; ``classes``: (c,) class of each.
    """

    lookups: tuple[NDArray[np.int64], ...] = field(repr=False)
    prefixes: tuple[NDArray[np.int64], ...] = field(repr=False)
    keys: NDArray[np.int64] = field(repr=False)
    classes: NDArray[np.int64] = field(repr=False)

    def find(self, leaves: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the class of each record, (b,); −1 for one that is in none.

        Args:
            leaves: (b, q) leaf codes.
        """
        packed, known = np.zeros(len(leaves), np.int64), np.ones(len(leaves), np.bool_)
        for column, (lookup, prefixes) in enumerate(zip(self.lookups, self.prefixes, strict=True)):
            if len(prefixes):
                packed, known = _places(prefixes, packed, known)
            packed = packed * (int(lookup[-1]) + 1) + lookup[leaves[:, column]]
        place, known = _places(self.keys, packed, known)
        found: NDArray[np.int64] = np.where(known, self.classes[place], -1)
        return found


def _places(
    among: NDArray[np.int64], numbers: NDArray[np.int64], known: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the place of each number among some, and whether it is one of them and was known before."""
    place = np.minimum(np.searchsorted(among, numbers), len(among) - 1)
    return place, known & (among[place] == numbers)


def key_classes(
    lookups: Sequence[NDArray[np.int64]], rows: NDArray[np.int64], classes: NDArray[np.int64]
) -> KeyedClasses:
    """Make classes findable.

    Args:
        lookups: q arrays (D,): code of each leaf on the level of the rows, which never falls.
        rows: (c ≥ 1, q) codes on these levels, all different.
        classes: (c,) class of each row.
    """
    packed, space = np.zeros(len(rows), np.int64), 1
    prefixes = []
    for column, lookup in enumerate(lookups):
        width, distinct = int(lookup[-1]) + 1, np.zeros(0, np.int64)
        if space * width > _LARGEST_KEY:
            distinct, packed = np.unique(packed, return_inverse=True)
            space = len(distinct)
        prefixes.append(distinct)
        packed = packed * width + rows[:, column]
        space *= width
    order = np.argsort(packed)
    return KeyedClasses(tuple(lookups), tuple(prefixes), packed[order], classes[order])
