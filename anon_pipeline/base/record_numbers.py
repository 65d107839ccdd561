"""Which records of the input have one kind of mistake: private, as a cell is.

In a sorted register the number of a record is a person. So these go along with an error and are in no
message: a terminal that asks for them sees the first ones, a private file has all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_FIRST = 10


@dataclass(frozen=True, slots=True, eq=False)
class RecordNumbers:
    """The records with one kind of mistake.

    where: the column or file, and the kind: "balance, without a digit".
    numbers: (m,) of the records, from 1.
    """

    where: str
    numbers: Sequence[int] | NDArray[np.int64] = field(repr=False)

    @property
    def first(self) -> str:
        """Name the first ten records, and how many more there are, for a terminal.

        >>> RecordNumbers("age, without a digit", range(1, 13)).first
        'age, without a digit: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more'
        """
        left = len(self.numbers) - _FIRST
        more = f" and {left:,} more" if left > 0 else ""
        return f"{self.where}: {', '.join(map(str, self.numbers[:_FIRST]))}{more}"

    @property
    def every(self) -> str:
        """Name all records, for a file.

        >>> RecordNumbers("age, without a digit", [7, 9]).every
        'age, without a digit: 7, 9'
        """
        return f"{self.where}: {', '.join(map(str, self.numbers))}"
