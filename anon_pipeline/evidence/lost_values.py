"""Categories that many records have and no released one: a small group that is suppressed as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.packed_tables import Table, column_type, factorize_column
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.evidence.evidence import Evidence, people_in
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.people import count_people

BY_CHANCE = 0.05
"""Values that may be lost by chance, at most, if records were left out at random."""


def lost_by_recoding(frame: Table, policy: Policy, classes: NDArray[np.int64]) -> tuple[str, ...]:
    """Name the columns with an original category of which the recoding suppressed every record.

    Args:
        frame: (n, columns) of `deidentified`.
        classes: (n,) class of each record; −1 for a suppressed one.
    """
    people = people_in(frame, policy)
    names = (*_categories(policy), *_category_candidates(policy))
    kept, k = classes >= 0, policy.gate_k
    return tuple(name for name in names if lost_values(frame, name, kept, k=k, people=people))


def lost_columns(evidence: Evidence, policy: Policy) -> Iterator[str]:
    """Yield the columns with a category that k records have in the recoded table, and no released one.

    Where each class has its own range or mean, such a value is a class, and no category.

    Args:
        evidence: with originals; generalized values of records that the recoding suppressed are missing.
    Raises:
        InputError: a file alone.
    """
    behind = require_originals(evidence)
    released = np.zeros(len(behind.frame), np.bool_)
    released[behind.own] = True
    own_of_class = recoder_of(policy.anonymize.recoder).family.releases in ("ranges", "means")
    for name in (*(() if own_of_class else policy.generalized), *_category_candidates(policy)):
        if lost_values(behind.frame, name, released, k=policy.gate_k, people=behind.people):
            yield name


def lost_values(
    table: Table, name: str, released: NDArray[np.bool_], *, k: int, people: NDArray[np.int64] | None = None
) -> int:
    """Count the values that k records have, and no released one; where people are counted, k people.

    So many must have it that fewer than `BY_CHANCE` values were lost if as many records were left out at
    random. Numbers and days are no categories, and a missing value is none.

    Args:
        table: (n, columns), and the ``name`` of one.
        released: (n,) whether each record is released.

    >>> table = pd.DataFrame({"island": ["north"] * 40 + ["south"] * 40 + ["Inis"] * 5})
    >>> lost_values(table, "island", (table["island"] != "Inis").to_numpy(), k=5)
    1
    """
    if not pd.api.types.is_string_dtype(column_type(table, name)):
        return 0
    codes, values = factorize_column(table, name)
    there, missing = codes >= 0, 1 - float(released.mean()) if len(released) else 0.0
    if not len(values) or not missing:
        return 0
    records = np.bincount(codes[there], minlength=len(values))
    holders = records if people is None else count_people(codes[there], people[there], m=len(values))
    kept = np.bincount(codes[there & released], minlength=len(values))
    least = math.log(BY_CHANCE / len(values)) / math.log(missing) if missing < 1 else math.inf
    return int(np.count_nonzero((kept == 0) & (holders >= k) & (records > least)))


def _categories(policy: Policy) -> list[str]:
    """Name the generalize columns of categories: of ages or dates neighbors stay."""
    columns = policy.generalized.items()
    return [name for name, column in columns if not hierarchy_kind(column.hierarchy).ordered]


def _category_candidates(policy: Policy) -> list[str]:
    """Name the columns that are released as they are or drawn, which may hold categories."""
    return [*policy.unchanged, *policy.categorical]
