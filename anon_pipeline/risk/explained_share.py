"""How much of a column's variation within classes another column explains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import count_values, rank_values, sort_keys

LEAST = 50
"""Records beyond the number of groups without which nothing is said: fewer agree by chance."""

_BINS = 10  # of a column within a class
_NOTHING = 1e-9  # mean square that is a rounding error

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


def explained_share(values: Integers, told: Integers, classes: Integers, *, ordered: bool) -> float:
    """Return the share of the differences within classes that another column explains.

    It is the adjusted R² of the analysis of variance within those classes that have several values: of
    ranks, or of categories, where the differences are pairs with different values. It is adjusted for the
    number of groups, so that columns that have nothing to do with each other are near 0, however small the
    groups are. The other column is taken by its values, by tenths of each class, and by its ranks; the
    largest share counts.

    Args:
        values: (n,) codes of the column, from 0; in their order where it is ``ordered``.
        told: (n,) codes of the other column, from 0, in an order.
        classes: (n,) class of each record, 0 … m−1.
    Returns:
        In [0, 1]; 0 where the classes leave nothing open, or there are too few records.
    Source:
        Goodman and Kruskal (1954), section 9: τ of categories; of ranks η². Both are adjusted here.

    >>> one = np.arange(300)
    >>> explained_share(one, one // 2, one % 3, ordered=True) > 0.99
    True
    >>> explained_share(one, one // 3 % 2, one % 3, ordered=True) < 0.01
    True
    """
    first = np.zeros(int(classes.max(initial=-1)) + 1, np.int64)
    first[classes] = values
    several = np.bincount(classes, values != first[classes]) > 0
    rows = several[classes] if len(several) else np.zeros(0, np.bool_)
    values, told = values[rows], told[rows]
    classes, m = rank_values(classes[rows], len(several))
    if len(values) - m < LEAST:
        return 0.0
    ranks = _ranks(values) if ordered else None
    left_open = _within(values, ranks, classes, m)
    found = [0.0]
    if left_open > _NOTHING:
        for groups in (told, _tenths(told, classes)):
            width = int(groups.max()) + 1
            cells, number = rank_values(classes * width + groups, m * width)
            if len(values) - number >= LEAST:
                found.append(1 - _within(values, ranks, cells, number) / left_open)
        if ranks is not None:
            found.append(_shared_order(ranks, _ranks(told), classes))
    return max(found)


def _within(values: Integers, ranks: Reals | None, groups: Integers, number: int) -> float:
    """Return the mean square within groups: of ranks, or of categories where there are none."""
    sizes = np.bincount(groups, minlength=number)
    if ranks is not None:
        sums = np.bincount(groups, ranks, number)
        within = float((ranks * ranks).sum() - (sums * sums / sizes).sum())
    else:
        width = int(values.max()) + 1
        pairs, counts = count_values(groups * width + values, number * width)
        within = len(values) - float((counts.astype(np.float64) ** 2 / sizes[pairs // width]).sum())
    return max(within, 0.0) / (len(values) - number)


def _ranks(values: Integers) -> Reals:
    """Return mean ranks, from −1 to 1."""
    own, number = rank_values(values, int(values.max()) + 1)
    counts = np.bincount(own, minlength=number)
    middle = np.cumsum(counts) - (counts + 1) / 2
    return np.asarray((2 * middle - (len(values) - 1)) / max(len(values) - 1, 1))[own]


def _tenths(told: Integers, classes: Integers) -> Integers:
    """Number the tenths of each class by a column, of small classes fewer; equal values are in one."""
    width, sizes = int(told.max()) + 1, np.bincount(classes)
    found, order = sort_keys(classes * width + told, len(sizes) * width)
    first = np.flatnonzero(np.diff(found, prepend=-1))
    before = np.empty(len(told), np.int64)
    before[order] = np.repeat(first, np.diff(first, append=len(told)))
    before -= (np.cumsum(sizes) - sizes)[classes]
    return before * np.clip(sizes // 2, 1, _BINS)[classes] // sizes[classes]


def _shared_order(ranks: Reals, told: Reals, classes: Integers) -> float:
    """Return the square of the correlation of ranks within classes, adjusted."""
    sizes = np.bincount(classes)
    free = len(ranks) - len(sizes)
    one, other = (each - (np.bincount(classes, each) / sizes)[classes] for each in (ranks, told))
    squares = float((one * one).sum()) * float((other * other).sum())
    if squares <= 0:
        return 0.0
    return 1 - (1 - float((one * other).sum()) ** 2 / squares) * free / (free - 1)
