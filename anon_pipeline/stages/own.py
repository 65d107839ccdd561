"""Stages of users' own: they prepare the personal data before it is generalized."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import pack_large, unpack_table
from anon_pipeline.encode.codes import PERSON, RECORD
from anon_pipeline.stages.private import Staged


def change_stage(before: Staged, stage: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Staged:
    """Change a table that is not generalized yet; the lineage counts the stage, the facts stay.

    It may change values and leave records out. Columns and their types stay, and so does each record's id and
    person: what follows is measured against the records that this stage hands over.

    Args:
        before: the table of `raw`, `deidentified` or another stage of the user's own.
        stage: name of this stage, begins with ``own_``.
        change: (n, columns) table in, (m ≤ n, columns) table out.
    Raises:
        InputError: columns, types or records are not as they must be.
    """
    given = unpack_table(before.frame)
    made = change(given.copy())
    if not isinstance(made, pd.DataFrame):
        raise InputError(f"{stage} must return a table (pandas.DataFrame), got {type(made).__name__}.")
    made = made.reset_index(drop=True)
    if list(made.columns) != list(given.columns) or list(made.dtypes) != list(given.dtypes):
        raise InputError(
            f"{stage} must keep all columns, their order and their types. To leave a column out of the "
            "release, give it the role identifier with action: drop."
        )
    ids = [name for name in (RECORD, PERSON) if name in given]
    known = made[ids].merge(given[ids], on=ids)
    if len(known) != len(made) or made[RECORD].duplicated().any() or made.empty:
        raise InputError(
            f"{stage} must hand over records of the table before, each once and at least one, with their "
            f"{' and '.join(ids)}. Add no records; leave out those that you do not want."
        )
    lineage = None if before.lineage is None else before.lineage.after(stage, made)
    return Staged(pack_large(made), before.facts, lineage)
