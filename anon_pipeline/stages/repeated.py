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
from anon_pipeline.risk.agreement import ALIKE, mean_agreement

_LEAST = 2
"""Records beyond the first one of their value from which a column is looked at."""


def repeated_people(frame: pd.DataFrame, policy: Policy) -> tuple[str, ...]:
    """Name the identifier columns whose values look like people with several records.

    A column counts where at least `_LEAST` records repeat a value and records of one value agree in the
    quasi-identifiers by more than `ALIKE` beyond chance: the mean over repeated values of the share of pairs
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
    if int((np.bincount(values[values >= 0]) - 1).clip(min=0).sum()) < _LEAST:
        return False
    found = mean_agreement(values, quasi)
    return found is None or found > ALIKE
