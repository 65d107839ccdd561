"""What columns reveal together: a class and an insensitive column, or several columns of one secret."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.values import to_texts
from anon_pipeline.base.word_forms import plain_word
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.homogeneous_values import GAIN, MOST, rank_values
from anon_pipeline.evidence.told_originals import choose_records
from anon_pipeline.risk.certainty import Ranked
from anon_pipeline.risk.surplus import surplus_share

Integers = NDArray[np.int64]

SHARED = 4
"""Least number of texts that columns of one secret share: fewer are answers, such as yes, no and unknown."""

PAIRED = 4
"""Insensitive columns that are looked at in pairs, at most."""

ALIKE = 0.5
"""Least share of the cells of each of two columns with a text that the other one has, too."""


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
        groups = _groups(evidence, other, rows)
        found[other] = max(
            surplus_share(values, groups, strata, most=MOST, gain=GAIN, people=people)
            for strata in (labels, everybody)
        )
    return found


def paired_homogeneity(evidence: Evidence, name: str, others: Sequence[str]) -> dict[str, float]:
    """Return what two other columns reveal together, and neither alone: a shift and a wing.

    By chance, the records of one value of one of the two are dealt to the values of the other; of both ways,
    the one counts by which less is beyond chance. Of many columns those `PAIRED` with fewest values are
    looked at: the more values a pair has, the more is due to chance.

    Args:
        name: of a sensitive column.
        others: insensitive columns.
    Returns:
        Share in [0, 1] by the names of both, the larger one of class and table.
    """
    rows = choose_records(evidence.classes.labels)
    labels, whose = evidence.classes.labels[rows], evidence.people
    values, people = _cells(evidence.released[name].iloc[rows]), None if whose is None else whose[rows]
    groups = {other: _groups(evidence, other, rows) for other in others}
    fewest = sorted(others, key=lambda other: int(groups[other].max(initial=0)))[:PAIRED]

    def beyond(pair: Integers, alone: Integers) -> float:
        """Return what a pair of columns adds to one of them, in each class or in all of the table."""
        return max(
            surplus_share(values, pair, strata, most=MOST, gain=GAIN, people=people)
            for strata in (_both(labels, alone), alone)
        )

    found = {}
    for one, other in combinations(sorted(fewest), 2):
        pair = _both(groups[one], groups[other])
        share = beyond(pair, groups[one])
        found[f"{one} + {other}"] = share and min(share, beyond(pair, groups[other]))
    return found


def _groups(evidence: Evidence, other: str, rows: Integers) -> Integers:
    """Number the values of a column, of some records; a missing value is one."""
    return pd.factorize(evidence.released[other].iloc[rows], use_na_sentinel=False)[0].astype(np.int64)


def _both(one: Integers, other: Integers) -> Integers:
    """Number pairs of values, 0 or more each."""
    return one * (int(other.max(initial=0)) + 1) + other


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


def alike_columns(evidence: Evidence, names: Sequence[str]) -> list[list[str]]:
    """Return the sets of columns that hold the same values, such as main and secondary diagnosis.

    Two columns do if at least half of the cells of each hold a text that the other one has, too, and they
    share `SHARED` texts or more: columns of yes and no do not. A set has each column that is alike one of it.

    Args:
        names: of columns; numbers and days are in no set.
    """
    words = {name: _words(evidence.released[name]) for name in names}
    texts = [name for name in names if words[name] is not None]
    sets: list[list[str]] = []
    for name in texts:
        near = [found for found in sets if any(_are_alike(words[one], words[name]) for one in found)]
        sets = [found for found in sets if found not in near]
        sets.append([*(one for found in near for one in found), name])
    return [found for found in sets if len(found) > 1]


def union_homogeneity(evidence: Evidence, names: Sequence[str]) -> float:
    """Return the share of the released records in classes where nearly all have a value in some column.

    Each column alone may have several values in such a class. What happens by chance does not count: classes
    of these sizes from the whole table. Of people, where these are counted.

    Args:
        names: of sensitive columns that hold the same values, see `alike_columns`.
    Returns:
        In [0, 1], see `risk.surplus.surplus_share`.
    """
    rows = choose_records(evidence.classes.labels)
    labels, whose = evidence.classes.labels[rows], evidence.people
    people = np.arange(len(rows)) if whose is None else whose[rows]
    cells = pd.concat([to_texts(evidence.released[name].iloc[rows]) for name in names], ignore_index=True)
    values, groups = rank_values(cells).ranks, np.tile(labels, len(names))
    return surplus_share(
        values, groups, np.zeros_like(groups), most=MOST, gain=GAIN, people=np.tile(people, len(names))
    )


def _words(series: pd.Series) -> pd.Series | None:
    """Count the words of a column; None of numbers and days."""
    if not (series.dtype == object or pd.api.types.is_string_dtype(series.dtype)):
        return None
    counts = to_texts(series).value_counts()
    return counts.groupby([plain_word(text) for text in counts.index]).sum()


def _are_alike(one: pd.Series | None, other: pd.Series | None) -> bool:
    if one is None or other is None or not len(one) or not len(other):
        return False
    shared = one.index.intersection(other.index)
    most = all(counts[shared].sum() >= ALIKE * counts.sum() for counts in (one, other))
    return len(shared) >= SHARED and most
