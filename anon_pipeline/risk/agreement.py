"""Whether equal values of one column mark records that agree in others, too, as records of one person do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.order import count_values, ranks_of

ALIKE = 0.5
"""Mean agreement beyond chance (Cohen's kappa) above which records of one value look like one person's."""

_OFTEN = 4  # records of a value on average, below which those that occur once are looked for

Integers = NDArray[np.integer]


def beyond_chance(counts: Integers, codes: Integers, groups: Integers) -> float | None:
    """Return how far pairs of one group agree beyond pairs of the whole, at most 1; None: all agree anyway.

    Args:
        counts: (v,) records of each value, of the whole.
        codes: (r,) values of those in groups of two or more.
        groups: (r,) 0 … g−1.
    Returns:
        Cohen's kappa, where the share of pairs that agree is the mean over groups.
    """
    n, width = int(counts.sum()), len(counts)
    chance = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    if chance >= 1:
        return None
    sizes = np.bincount(groups)
    if _OFTEN * width > n:  # a value that occurs once agrees with no other record
        again = counts[codes] > 1
        codes, groups = codes[again], groups[again]
    keys = groups.astype(np.int64)
    keys *= width
    keys += codes
    cells, same = count_values(keys, len(sizes) * width)
    del keys
    cells //= width
    pairs = np.bincount(cells, weights=same * (same - 1), minlength=len(sizes))
    agree = float((pairs / (sizes * (sizes - 1))).mean())
    return (agree - chance) / (1 - chance)


def repeated_groups(values: Integers) -> tuple[Integers, Integers]:
    """Return the records whose value others have, too, and their groups of equal values.

    Args:
        values: (n,) a value's number, −1 where it is missing.
    Returns:
        (r,) positions, and (r,) groups 0 … g−1, each of two records or more; in few bytes.
    """
    repeated = np.append(np.bincount(values[values >= 0]) > 1, False)
    inside = narrow_integers(np.flatnonzero(repeated[values]))
    return inside, ranks_of(repeated)[values[inside]]


def found_agreements(values: Integers, columns: Iterable[Integers]) -> list[float]:
    """Return how far records of one value agree in each column beyond chance, where they may differ in it.

    Args:
        values: (n,) a value's number, −1 where it is missing; at least one is repeated.
        columns: arrays (n,) of values' numbers, ≥ 0.
    Returns:
        The kappa of each column that not all records agree in.
    """
    inside, groups = repeated_groups(values)
    found = [beyond_chance(np.bincount(codes), codes[inside], groups) for codes in columns]
    return [kappa for kappa in found if kappa is not None]


def tells_one_person(kappas: Sequence[float]) -> bool:
    """Tell whether records of one value agree in columns as those of one person do.

    On average by more than `ALIKE`, and in two of the columns or more where there are two: a first name
    agrees with the sex, a diagnosis with the ward, in everybody's records.

    Args:
        kappas: of columns that do not follow from one another, see `found_agreements`.

    >>> tells_one_person([0.9]), tells_one_person([1.0, 0.2]), tells_one_person([1.0, 0.6])
    (True, False, True)
    """
    alike = sum(kappa > ALIKE for kappa in kappas)
    return bool(kappas) and float(np.mean(kappas)) > ALIKE and alike >= min(2, len(kappas))


def independent_columns(columns: Sequence[Integers]) -> list[int]:
    """Choose columns of which none follows from another: a city adds nothing to a postal code.

    Those with most values come first; a column goes whose values agree by more than `ALIKE` beyond chance
    among records that have one value of a column that stays.

    Args:
        columns: arrays (n,) of values' numbers, ≥ 0.
    Returns:
        Positions in ``columns``; those with one value in all records are none of them.
    """
    counts = [np.bincount(codes) for codes in columns]
    many = [np.count_nonzero(own) for own in counts]
    kept: dict[int, tuple[Integers, Integers]] = {}
    for j in sorted(range(len(columns)), key=lambda j: -many[j]):
        if many[j] > 1 and not any(_follows(counts[j], columns[j], *groups) for groups in kept.values()):
            kept[j] = repeated_groups(columns[j])
    return list(kept)


def _follows(counts: Integers, codes: Integers, inside: Integers, groups: Integers) -> bool:
    """Tell whether the repeated groups of another column (`repeated_groups`) agree in this one."""
    kappa = beyond_chance(counts, codes[inside], groups) if len(inside) else None
    return kappa is not None and kappa > ALIKE
