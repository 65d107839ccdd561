"""Values of a released column that only a few people have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.classes import pack_columns
from anon_pipeline.base.order import rank_values
from anon_pipeline.base.packed_tables import column_type, factorize_column, value_numbers
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.risk.people import count_people


def rare_values(evidence: Evidence, name: str, *, k: int) -> int:
    """Count the released records whose value of a column fewer than k records have.

    Where people are counted: fewer than k people. A missing value is a value: a gap may mean something.

    Args:
        name: of the column.
    """
    return _rare_of(evidence, name, k, missing=True)


def rare_together(evidence: Evidence, names: Sequence[str], *, k: int) -> float:
    """Return the share of the released records that share their values of some columns with fewer than k.

    Where people are counted: with fewer than k people. A missing value counts as a value, because a gap is
        information, too.

    Args:
        names: of at least one column.
    """
    released = evidence.released
    if not len(released):
        return 0.0
    codes = [value_numbers(released, name) for name in names]
    whole, different = rank_values(*pack_columns(codes))
    return _rare(evidence, whole, different, k) / len(released)


def rare_texts(evidence: Evidence, name: str, *, k: int) -> float:
    """Return the share of the released records whose text in a column fewer than k records have.

    Where people are counted: fewer than k people. Numbers and days are no texts, and a missing value is none.

    Args:
        name: of the column.
    """
    released = evidence.released
    if not len(released) or not pd.api.types.is_string_dtype(column_type(released, name)):
        return 0.0
    return _rare_of(evidence, name, k, missing=False) / len(released)


def _rare_of(evidence: Evidence, name: str, k: int, *, missing: bool) -> int:
    """Count the records with a rare value of a column, a missing one among them or not."""
    codes, values = factorize_column(evidence.released, name, use_na_sentinel=not missing)
    return _rare(evidence, codes, len(values), k)


def _rare(evidence: Evidence, codes: NDArray[np.int64], different: int, k: int) -> int:
    """Count the records whose value, a number 0 … different − 1 or −1 for none, fewer than k have."""
    present = codes >= 0
    records = np.bincount(codes[present], minlength=different)
    people = evidence.people
    holders = records if people is None else count_people(codes[present], people[present], m=different)
    return int(records[holders < k].sum())
