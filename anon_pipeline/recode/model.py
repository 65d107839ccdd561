"""What every recoder returns: the generalized table as codes, whatever algorithm chose it.

Belongs here: the result type. Does not belong here: any search.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Recoding"]


@dataclass(frozen=True, slots=True, eq=False)
class Recoding:
    """A generalized value for each cell of n records and q quasi-identifiers.

    codes: (n, q); column j indexes ``values[j]``; a suppressed record is −1 in every column.
    values: q object arrays; the released value of each code; None is a missing value.
    levels: level of each quasi-identifier, for full-domain recodings; None for local ones.
    loss: information loss in [0, 1] by the loss that was asked for.
    suppressed: records suppressed, s.
    checked: lattice nodes whose class sizes were counted; 0 where there is no lattice.
    """

    codes: NDArray[np.int64] = field(repr=False)
    values: tuple[NDArray[np.object_], ...] = field(repr=False)
    levels: tuple[int, ...] | None
    loss: float
    suppressed: int
    checked: int
