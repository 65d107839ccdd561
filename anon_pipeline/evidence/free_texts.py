"""Free text in released columns: sentences that one record has, however many others share a phrase."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from anon_pipeline.base.packed_tables import Table, column_type, factorize_column, unpack_table
from anon_pipeline.encode.codes import PERSON
from anon_pipeline.evidence.released_columns import shown_columns
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.singling_out import exceeds

_LOOKED = 5_000
"""Values of a column that are read, spread evenly over those that one record has."""

_WORD, _LETTERS = re.compile(r"[^\W_]+"), re.compile(r"[^\W\d_]{2,}")


def free_texts(frame: Table, policy: Policy, *, allowed: float) -> tuple[str, ...]:
    """Name the released columns in which too many records have a text that no other has.

    A text has three words or more, two of them of letters. Too many are more than
    the allowed share of the values present, and at least five. Where the policy names a person,
    people count instead of records. Phrases that many records share do not count, however long they are.

    Args:
        frame: (n, columns) of `deidentified`.
        allowed: share of the values present, in [0, 1].
    Returns:
        Names in the policy's order.
    """
    return tuple(
        name for name in shown_columns(policy) if _holds_texts(frame, name) and _is_free(frame, name, allowed)
    )


def _holds_texts(frame: Table, name: str) -> bool:
    return bool(pd.api.types.is_string_dtype(column_type(frame, name)))


def _is_free(frame: Table, name: str, allowed: float) -> bool:
    once = unpack_table(frame[[PERSON, name]]).drop_duplicates() if PERSON in frame else frame
    codes, values = factorize_column(once, name)
    holders = np.bincount(codes[codes >= 0], minlength=len(values))
    alone = np.flatnonzero(holders == 1)
    present = int(holders.sum())
    if not exceeds(len(alone), present, allowed):
        return False
    chosen = alone[:: -(-len(alone) // _LOOKED)]
    texts = sum(is_text(str(values[place])) for place in chosen)
    return exceeds(len(alone) * texts // len(chosen), present, allowed)


def is_text(value: str) -> bool:
    """Tell whether a value is of three words or more, two of them of letters.

    >>> [is_text(value) for value in ("called Ann Bell", "12 Mill Lane", "5 May 2026", "New York", "1 2 3 4")]
    [True, True, False, False, False]
    """
    return len(_WORD.findall(value)) > 2 and len(_LETTERS.findall(value)) > 1
