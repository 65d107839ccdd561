"""Whether records look as if several of them were about one person, in a table where nobody says so.

An identifier whose values repeat may be a name that many people have, or a person with several records.
Records of one person agree in their quasi-identifiers, and so meet in one class, where k counts them all.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.values import to_texts
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.agreement import ALIKE, mean_agreement
from anon_pipeline.risk.repeated_combinations import FEWEST_COLUMNS, repeats_as_people_do

_LEAST = 2
"""Records beyond the first one of their value from which a column is looked at."""


def repeated_people(frame: pd.DataFrame, policy: Policy) -> tuple[str, ...]:
    """Name the columns whose values look like people with several records.

    An identifier counts where at least `_LEAST` records repeat a value and records of one value agree in the
    quasi-identifiers by more than `ALIKE` beyond chance: the mean over repeated values of the share of pairs
    that agree, against the share among all pairs of the table, averaged over the generalize columns. Where no
    generalize column tells records apart, the repetition alone counts. Where the policy says who the people
    are, no identifier counts.

    Quasi-identifiers count where their combinations repeat as people do, see `repeats_as_people_do`: the
    generalize columns, or all of them. Where the policy says who the people are, one record of each is
    looked at: a number of the row is no person.

    Args:
        frame: (n, columns) accepted data, before identifiers are removed.
        policy: names the columns.
    Returns:
        Names in the policy's order: identifiers, then quasi-identifiers.
    """
    said = policy.person or policy.record_key
    if said is None:
        quasi = _codes(frame, policy.generalized)
        found = [name for name in policy.identifiers if _looks_like_people(frame[name], quasi)]
        return (*found, *_repeated_combination(frame, policy))
    return _repeated_combination(frame[~_person_values(frame[said]).duplicated()], policy)


def _codes(frame: pd.DataFrame, names: Iterable[str]) -> list[NDArray[np.int64]]:
    return [pd.factorize(to_texts(frame[name]), use_na_sentinel=False)[0].astype(np.int64) for name in names]


def _person_values(column: pd.Series) -> pd.Series:
    """Return what says who it is, whatever its case and the white space around it."""
    return to_texts(column.astype(object)).str.strip().str.casefold()


def _repeated_combination(frame: pd.DataFrame, policy: Policy) -> tuple[str, ...]:
    """Name the quasi-identifiers whose combinations repeat as people do; none where they do not."""
    generalized = [*policy.generalized]
    for names in (generalized, [*generalized, *policy.noisy]):
        if len(names) >= FEWEST_COLUMNS and repeats_as_people_do(_codes(frame, names)):
            return tuple(names)
    return ()


def _looks_like_people(column: pd.Series, quasi: list[NDArray[np.int64]]) -> bool:
    """Tell whether records that share a value of an identifier agree in their quasi-identifiers."""
    texts = _person_values(column)
    values = pd.factorize(texts.where(texts != ""))[0].astype(np.int64)
    if int((np.bincount(values[values >= 0]) - 1).clip(min=0).sum()) < _LEAST:
        return False
    found = mean_agreement(values, quasi)
    return found is None or found > ALIKE
