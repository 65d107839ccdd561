"""Released columns that reveal the originals of others, so that noise or generalization hides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.classes import pack_columns
from anon_pipeline.base.order import rank_values
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.rows import some_rows
from anon_pipeline.base.values import to_texts
from anon_pipeline.encode.codes import PERSON
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.explained_share import explained_share
from anon_pipeline.risk.linear_share import linear_share

TOLD = 0.9
"""Share of a column's variation within classes from which another column reveals it: a third is left.

Three bands of a column reveal 0.89 of it, four 0.94 ([ADR 68]).
"""

RECORDS = 200_000
"""Records that are looked at; of more, whole classes are left out evenly."""

Integers = NDArray[np.int64]


class Original(NamedTuple):
    """A column whose originals are not released.

    codes: (n,) of its values; in their order where it is ``ordered``.
    """

    name: str
    codes: Integers
    ordered: bool


def told_originals(
    frame: Table, policy: Policy, codes: NDArray[np.integer], classes: Integers
) -> dict[str, str | list[str]]:
    """Name the generalized, noisy and drawn columns whose originals other released columns reveal.

    Compared are the records of each class: what the generalized values leave open, and noise hides.

    Args:
        frame: (n, columns) of `deidentified`: originals, and the others as they are released.
        codes: (n, q) of the generalize columns, as `code_quasi_identifiers` gives them.
        classes: (n,) class of each record; −1 for a suppressed one.
    Returns:
        By column, the released column that reveals most of it, if that is `TOLD` or more; for numbers that no
        single column reveals, all released columns of numbers, if they do so together.
    """
    rows = choose_records(classes)
    if not len(rows):
        return {}
    few = some_rows(frame, rows)
    others = {name: _sorted_codes(few[name]) for name in policy.unchanged}
    people = pd.factorize(few[PERSON])[0].astype(np.int64) if PERSON in few else None
    numbers = _numbers(few[policy.unchanged])
    found: dict[str, str | list[str]] = {}
    for original in _originals(few, policy, codes[rows].astype(np.int64)):
        shares = {name: _told_share(original, other, classes[rows], people) for name, other in others.items()}
        most = max(shares, key=lambda name: shares[name], default=None)
        if most is not None and shares[most] >= TOLD:
            found[original.name] = most
        elif original.ordered and len(numbers.columns) > 1:
            together = linear_share(
                _values(few[original.name]), numbers.to_numpy(np.float64, na_value=np.nan)
            )
            if together >= TOLD:
                found[original.name] = [*numbers.columns]
    return found


def _numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that hold numbers."""
    kept = [name for name, column in frame.items() if _is_number(column)]
    return frame[kept]


def _values(series: pd.Series) -> NDArray[np.float64]:
    """Return numbers; of a column that holds none, no value."""
    if _is_number(series):
        return series.to_numpy(np.float64, na_value=np.nan)
    return np.full(len(series), np.nan)


def _is_number(series: pd.Series) -> bool:
    """Tell whether a column holds numbers, and not only yes and no."""
    return pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype)


def choose_records(classes: Integers) -> Integers:
    """Return the rows of the records in classes, or in every so many classes of more than `RECORDS`.

    Args:
        classes: (n,) class of each record; −1 for a suppressed one.
    """
    inside = np.flatnonzero(classes >= 0)
    step = -(-len(inside) // RECORDS)
    return inside if step < 2 else inside[classes[inside] % step == 0]


def _originals(frame: pd.DataFrame, policy: Policy, codes: Integers) -> Iterator[Original]:
    for j, (name, column) in enumerate(policy.generalized.items()):
        yield Original(name, codes[:, j], hierarchy_kind(column.hierarchy).ordered)
    for name in policy.noisy:
        yield Original(name, _sorted_codes(frame[name]), name in policy.perturbed)


def _sorted_codes(series: pd.Series) -> Integers:
    """Number the values in their order, texts in that of texts; a missing one is the last."""
    found, values = pd.factorize(series if _is_number(series) else to_texts(series), sort=True)
    return np.where(found < 0, len(values), found).astype(np.int64)


def _told_share(original: Original, other: Integers, classes: Integers, people: Integers | None) -> float:
    """Return how much of a column another one reveals; each person counts once with each pair of values."""
    values, classes = original.codes, rank_values(classes, int(classes.max()) + 1)[0]
    if people is not None:
        keys, space = pack_columns((people, classes, values, other))
        once = np.unique(rank_values(keys, space)[0], return_index=True)[1]
        values, other, classes = values[once], other[once], classes[once]
    return explained_share(values, other, classes, ordered=original.ordered)
