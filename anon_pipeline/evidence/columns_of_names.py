"""Released columns whose values are full names of people, whatever the columns are called."""

from __future__ import annotations

from collections.abc import Iterator

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
    for name in shown_columns(policy):
        if not pd.api.types.is_string_dtype(column_type(frame, name)):
            continue
        values = factorize_column(frame, name)[1]
        if len(values) < FEWEST_OF_PERSONS:
            continue
        looked = [str(value) for value in values[:: -(-len(values) // _LOOKED)]]
        if are_full_names(looked, of_persons=is_word_for_persons(name)):
            yield name
