"""Columns of a batch: all that does not fit is named by column and count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError


def batch_columns(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return some columns of a batch with a fresh index.

    Raises:
        InputError: columns that are not there, or there twice; all listed.
    """
    got = [str(name) for name in frame.columns]
    lacking = sorted({name for name in names if name not in got})
    twice = sorted({name for name in names if got.count(name) > 1})
    problems = [f"columns must be in the batch, not there: {', '.join(lacking)}"] if lacking else []
    problems += [f"columns must be in the batch once, got twice: {', '.join(twice)}"] if twice else []
    if problems:
        raise InputError(problems)
    return frame[list(names)].reset_index(drop=True)


def released_rows(frame: pd.DataFrame, released: str | None) -> NDArray[np.bool_]:
    """Mark the released records of a batch, (n,).

    Args:
        released: boolean column that is true for the released ones; None where all are.
    Raises:
        InputError: a column that is not boolean or lacks a value; nothing released.
    """
    rows = np.ones(len(frame), np.bool_)
    if released is not None:
        column = batch_columns(frame, [released])[released]
        if not pd.api.types.is_bool_dtype(column.dtype) or column.isna().any():
            raise InputError(f"{released}: must be true or false in every record, without missing values")
        rows = column.to_numpy(np.bool_)
    if not rows.any():
        raise InputError("the batch must have at least one released record, got none")
    return rows


def whole_numbers(frame: pd.DataFrame, name: str) -> NDArray[np.int64]:
    """Return a column of whole numbers, (n,).

    Raises:
        InputError: another type, or gaps.
    """
    column = batch_columns(frame, [name])[name]
    if not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        raise InputError(f"{name}: must be a whole number in every record, without missing values")
    return column.to_numpy(np.int64)


def class_labels(frame: pd.DataFrame, name: str, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number the classes of a column without gaps, in the order of their ids, (n,); −1 is in none.

    Args:
        rows: (n,) records that must be in a class.
    Raises:
        InputError: another type, gaps, or such records in no class; with the count.
    """
    ids = whole_numbers(frame, name)
    classless = int((ids[rows] < 0).sum())
    if classless:
        raise InputError(f"{name}: released records must be in a class, got {classless} that are not")
    labels = np.full(len(ids), -1, np.int64)
    labels[ids >= 0] = np.unique(ids[ids >= 0], return_inverse=True)[1]
    return labels
