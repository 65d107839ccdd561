"""What a class and one insensitive column together, or that column alone, reveal of a sensitive column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.homogeneous_values import GAIN, MOST, rank_values
from anon_pipeline.evidence.told_originals import choose_records
from anon_pipeline.risk.certainty import Ranked
from anon_pipeline.risk.surplus import surplus_share

Integers = NDArray[np.int64]


def joint_homogeneity(evidence: Evidence, name: str, others: Sequence[str]) -> dict[str, float]:
    """Return how many released records have a value that another column makes nearly certain, beyond chance.

    Records of one value of the other column, in one class or in the whole table, have nearly one value, which
    is rare elsewhere. In a class only what the column adds counts: a class that has one value anyway adds
    nothing. Of people, where these are counted.

    Args:
        name: of a sensitive column.
        others: insensitive columns.
    Returns:
        Share in [0, 1] by other column, the larger one of class and table, see `risk.surplus.surplus_share`.
    """
    rows = choose_records(evidence.classes.labels)
    labels, whose = evidence.classes.labels[rows], evidence.people
    values, people = _cells(evidence.released[name].iloc[rows]), None if whose is None else whose[rows]
    everybody = np.zeros_like(labels)
    found = {}
    for other in others:
        groups = pd.factorize(evidence.released[other].iloc[rows], use_na_sentinel=False)[0].astype(np.int64)
        found[other] = max(
            surplus_share(values, groups, strata, most=MOST, gain=GAIN, people=people)
            for strata in (labels, everybody)
        )
    return found


def _cells(series: pd.Series) -> Integers:
    """Number the values of a column, nearly equal ones alike: from the least, as far as each one reaches."""
    found = rank_values(series)
    return first_cells(found)[found.ranks]


def first_cells(found: Ranked) -> Integers:
    """Number the cells of the different values of a column, (v,): each as wide as its first value reaches."""
    if np.array_equal(found.reach, found.exact.reach):
        return np.arange(len(found.reach))
    begins, place, reach = np.zeros(len(found.reach), np.int64), 0, found.reach.tolist()
    while place < len(reach):
        begins[place], place = 1, reach[place]
    return np.cumsum(begins) - 1
