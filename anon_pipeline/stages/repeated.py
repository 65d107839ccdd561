"""Whether records look as if several of them were about one person, in a table where nobody says so.

An identifier whose values repeat may be a name that many people have, or a person with several records.
Records of one person agree in their quasi-identifiers, and so meet in one class, where k counts them all.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.values import to_texts
from anon_pipeline.policy.model import Policy

_LEAST = 2
"""Records beyond the first one of their value from which a column is looked at."""

_ALIKE = 0.5
"""Mean agreement beyond chance (Cohen's kappa) above which records of one value look like one person's."""


def repeated_people(frame: pd.DataFrame, policy: Policy) -> tuple[str, ...]:
    """Name the identifier columns whose values look like people with several records.

    A column counts where at least `_LEAST` records repeat a value and records of one value agree in the
    quasi-identifiers by more than `_ALIKE` beyond chance: the mean over repeated values of the share of pairs
    that agree, against the share among all pairs of the table, averaged over the generalize columns. Where no
    generalize column tells records apart, the repetition alone counts.

    Args:
        frame: (n, columns) accepted data, before identifiers are removed.
        policy: names the columns.
    Returns:
        Names in the policy's order; none where the policy says who the people are.
    """
    if policy.person is not None or policy.record_key is not None:
        return ()
    quasi = [
        pd.factorize(to_texts(frame[name]), use_na_sentinel=False)[0].astype(np.int64)
        for name in policy.generalized
    ]
    return tuple(name for name in policy.identifiers if _looks_like_people(frame[name], quasi))


def _looks_like_people(column: pd.Series, quasi: list[NDArray[np.int64]]) -> bool:
    """Tell whether records that share a value of an identifier agree in their quasi-identifiers."""
    texts = to_texts(column.astype(object)).str.strip().str.casefold()
    values = pd.factorize(texts.where(texts != ""))[0].astype(np.int64)
    sizes = np.bincount(values[values >= 0])
    if int((sizes - 1).clip(min=0).sum()) < _LEAST:
        return False
    inside = np.flatnonzero((values >= 0) & (np.append(sizes, 0)[values] > 1))
    groups = np.unique(values[inside], return_inverse=True)[1]
    found = [_beyond_chance(codes, codes[inside], groups) for codes in quasi]
    known = [kappa for kappa in found if kappa is not None]
    return not known or float(np.mean(known)) > _ALIKE


def _beyond_chance(
    whole: NDArray[np.int64], codes: NDArray[np.int64], groups: NDArray[np.int64]
) -> float | None:
    """Return how far pairs of one group agree beyond pairs of the whole, at most 1; None: all agree anyway.

    Args:
        whole: (n,) values of all records. codes: (r,) values of those in groups. groups: (r,) 0 … g−1.
    """
    n, counts = len(whole), np.bincount(whole)
    chance = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    if chance >= 1:
        return None
    sizes = np.bincount(groups)
    _, first, same = np.unique(groups * (int(whole.max()) + 1) + codes, return_index=True, return_counts=True)
    pairs = np.bincount(groups[first], weights=same * (same - 1), minlength=len(sizes))
    agree = float((pairs / (sizes * (sizes - 1))).mean())
    return (agree - chance) / (1 - chance)
