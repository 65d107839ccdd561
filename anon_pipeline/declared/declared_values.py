"""What every release with declared columns must keep: the columns, and only declared values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anon_pipeline.declared.domain_codes import values_of, whole_numbers
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.declared_release import DeclaredRelease

VALUES, DRAW = "declared_values", "draw"
"""Names of the limits that all kinds of releases with declared columns have."""


def judge_values(policy: DeclaredRelease, table: pd.DataFrame, records: int) -> Verdict:
    """Judge whether a released table has the columns, declared values alone, and so many records."""
    wrong = broken_values(policy, table, records)
    return Verdict(VALUES, Status.REFUSED if wrong else Status.PASSED, reason=wrong)


def judge_draw(*, seeded: bool, from_files: bool) -> Verdict:
    """Judge whether the random numbers of a release were drawn from the operating system.

    Args:
        from_files: whether whoever judges has the released files alone.
    """
    if from_files:
        return Verdict(DRAW, Status.UNMEASURED, reason="nobody can see in a file how it was drawn")
    wrong = "the random numbers were made from a seed, for a test" if seeded else None
    return Verdict(DRAW, Status.REFUSED if wrong else Status.PASSED, reason=wrong)


def broken_values(
    policy: DeclaredRelease, frame: pd.DataFrame, records: int, *, columns: Sequence[str] | None = None
) -> str | None:
    """Say what is wrong with a released table, by counts and names; None: nothing.

    Args:
        columns: that it must have; default: all of the policy.
    """
    wanted = list(policy.columns if columns is None else columns)
    if list(frame.columns) != wanted:
        return f"the columns must be {', '.join(wanted)}, in this order"
    problems = [] if len(frame) == records else [f"there must be {records:,} records, got {len(frame):,}"]
    for name in wanted:
        strange = _strange_cells(policy.columns[name], frame[name])
        if strange:
            problems.append(f"{name} must have declared values only, got {strange:,} others")
    return "; ".join(problems) or None


def _strange_cells(column: DeclaredColumn, cells: pd.Series) -> int:
    """Count the cells that hold no value of the domain."""
    if column.values is not None:
        return int((~cells.isin(column.values)).sum())
    if not pd.api.types.is_numeric_dtype(cells) or pd.api.types.is_bool_dtype(cells):
        return len(cells)
    if whole_numbers(column) and not pd.api.types.is_integer_dtype(cells):
        return len(cells)
    low, high = (float(bound) for bound in column.range)
    found = cells.to_numpy("float64", na_value=float("nan"))
    inside = (found >= low) & (found <= high)
    nearest = np.rint((np.where(inside, found, low) - low) / float(column.step)).astype(np.int64)
    again = values_of(column, np.clip(nearest, 0, column.steps)).to_numpy("float64")
    return int((~inside | (again != found)).sum())
