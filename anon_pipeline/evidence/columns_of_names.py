"""Columns whose values are full names of people, whatever the columns are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd

from anon_pipeline.base.packed_tables import Table, column_type, factorize_column
from anon_pipeline.catalog.detectors.full_names import (
    FEWEST_OF_PERSONS,
    are_full_names,
    is_word_for_persons,
)
from anon_pipeline.evidence.released_columns import shown_columns
from anon_pipeline.policy.model import Policy

_LOOKED = 5_000  # different values of a column that are read, spread evenly


def columns_of_names(frame: Table, policy: Policy) -> Iterator[str]:
    """Yield the shown columns that hold full names of people, in the policy's order.

    Args:
        frame: (n, columns) of `deidentified` or `k_anonymized`.
    """
    return _holding_names(frame, shown_columns(policy))


def generalized_names(frame: Table, policy: Policy) -> Iterator[str]:
    """Yield the generalize columns that hold full names of people, in the policy's order.

    A group of names is called by what they share, such as a family name, or by the names themselves.

    Args:
        frame: (n, columns) of `deidentified`; of `k_anonymized` only columns that are as they were are found.
    """
    return _holding_names(frame, policy.generalized)


def _holding_names(frame: Table, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if not pd.api.types.is_string_dtype(column_type(frame, name)):
            continue
        values = factorize_column(frame, name)[1]
        if len(values) < FEWEST_OF_PERSONS:
            continue
        looked = [str(value) for value in values[:: -(-len(values) // _LOOKED)]]
        if are_full_names(looked, of_persons=is_word_for_persons(name)):
            yield name
