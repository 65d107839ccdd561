"""A batch as arrays: the columns that an expectation names, checked and cast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.values import finite_numbers
from anon_pipeline.encode.codes import code_sensitive
from anon_pipeline.evidence.evidence import value_classes
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.perturb.grid import quantize, to_grid
from anon_pipeline.policy.columns import Sensitive


def batch_columns(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return some columns of a batch with a fresh index.

    Args:
        frame: (n, columns).
        names: of the columns, each once.
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
        frame: (n, columns), suppressed records included or not.
        released: boolean column that is true for the released ones; None where all are.
    Raises:
        InputError: a column that is not boolean or lacks a value; nothing released.
    """
    rows = np.ones(len(frame), np.bool_)
    if released is not None:
        column = batch_columns(frame, [released])[released]
        if not pd.api.types.is_bool_dtype(column.dtype) or column.isna().any():
            raise InputError(f"{released}: must be true or false in every record, got another type or gaps")
        rows = column.to_numpy(np.bool_)
    if not rows.any():
        raise InputError("the batch must have at least one released record, got none")
    return rows


def released_classes(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], rows: NDArray[np.bool_]
) -> EquivalenceClasses:
    """Group the r released records by equal values; a missing value equals a missing value.

    Args:
        frame: (n, columns).
        quasi_identifiers: names of generalized columns.
        rows: (n,) the released ones.
    """
    return value_classes(batch_columns(frame, quasi_identifiers)[rows], quasi_identifiers)


def sensitive_codes(
    frame: pd.DataFrame, name: str, column: Sensitive, rows: NDArray[np.bool_], *, folder: Path
) -> tuple[NDArray[np.int64], Hierarchy | None]:
    """Code a sensitive column as the gate does.

    Args:
        frame: (n, columns).
        name: of the column.
        column: its distance, order or hierarchy.
        rows: (n,) the released records, which must have a value.
        folder: where hierarchy tables are.
    Returns:
        Code of each record (n,), −1 where missing; the hierarchy for ``distance: hierarchical``.
    Raises:
        InputError: texts where numbers belong, values outside the order or the hierarchy, released records
            without a value; with counts.
    """
    series = batch_columns(frame, [name])[name]
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(object)
    by_number = column.distance == "ordered" and column.order is None
    if by_number and not pd.api.types.is_numeric_dtype(series.dtype):
        series = finite_numbers(series)  # as texts, 10 would come before 9
    codes, hierarchy = code_sensitive(series, column, folder=folder)
    outside = int(((codes < 0) & series.notna().to_numpy()).sum())
    if outside:
        raise InputError(f"{name}: every value must be in the declared order, got {outside} others")
    missing = int((codes[rows] < 0).sum())
    if missing:
        raise InputError(f"{name}: must have a value in every released record, got {missing} missing")
    return codes, hierarchy


@dataclass(frozen=True, slots=True)
class NoisyColumns:
    """Names of the p perturb columns of a batch that holds released and original values side by side.

    released: the released values.
    originals: the original values, in the same order.
    resolutions: grid of each, in the column's unit.
    class_id: the class of each original record; −1 for one that the recoding suppressed.
    """

    released: tuple[str, ...]
    originals: tuple[str, ...]
    resolutions: tuple[float, ...]
    class_id: str


@dataclass(frozen=True, slots=True, eq=False)
class NoisyValues:
    """Released and original values in grid units.

    released: (r, p).
    own: (r,) row of each released record among the originals.
    originals: (n, p); 0 where the record is in no class.
    labels: (n,) class of each original, 0 … m−1; −1 for none.
    """

    released: NDArray[np.float64] = field(repr=False)
    own: NDArray[np.int64] = field(repr=False)
    originals: NDArray[np.float64] = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)


def noisy_values(frame: pd.DataFrame, names: NoisyColumns, rows: NDArray[np.bool_]) -> NoisyValues:
    """Bring the perturb columns onto their grid.

    Args:
        frame: (n, columns), a row per original record.
        names: of the columns.
        rows: (n,) the released records.
    Raises:
        InputError: values that are missing or no finite numbers where a released record or a record of a
            class needs one, released records of no class; with counts.
    """
    labels = _class_labels(batch_columns(frame, [names.class_id])[names.class_id])
    classless = int((labels[rows] < 0).sum())
    if classless:
        raise InputError(
            f"{names.class_id}: released records must be in a class, got {classless} that are not"
        )
    released = _grid(frame, names.released, names.resolutions, rows)
    originals = np.zeros((len(frame), len(names.originals)))
    originals[labels >= 0] = _grid(frame, names.originals, names.resolutions, labels >= 0)
    return NoisyValues(released, np.flatnonzero(rows), originals, labels)


def class_codes(frame: pd.DataFrame, names: Sequence[str], rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the class of each released record in each of several releases, (r, releases); −1 for none.

    Args:
        frame: (n, columns), a row per person.
        names: of the columns with the classes, a release each; the last one is the release to be published.
        rows: (n,) the released records.
    Raises:
        InputError: a column that is not of whole numbers, released records of no class; with counts.
    """
    chosen = batch_columns(frame, names)[rows]
    codes = np.stack([_class_labels(chosen[name]) for name in names], axis=1)
    classless = int((codes[:, -1] < 0).sum())
    if classless:
        raise InputError(f"{names[-1]}: released records must be in a class, got {classless} that are not")
    return codes


@dataclass(frozen=True, slots=True, eq=False)
class PublishedNoise:
    """Released values, and what was published of them before, in grid units.

    released: (r, p).
    noisy: (r, p) as published; 0 where it was not.
    known: (r, p) whether it was.
    """

    released: NDArray[np.int64] = field(repr=False)
    noisy: NDArray[np.int64] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)


def published_noise(
    frame: pd.DataFrame,
    names: Sequence[str],
    published: Sequence[str],
    rows: NDArray[np.bool_],
    *,
    resolutions: Sequence[float],
) -> PublishedNoise:
    """Bring released values, and those published before, onto their grid.

    Args:
        frame: (n, columns).
        names: of the p released columns.
        published: columns with the values that must stay, in the same order; missing where none must.
        rows: (n,) the released records.
        resolutions: grid of each column, in its unit.
    Raises:
        InputError: released values that are missing, values that are no finite numbers; with counts.
    """
    before = batch_columns(frame, published)[rows].reset_index(drop=True)
    known = before.notna().to_numpy(np.bool_)
    filled = before.where(known, 0.0)
    every = np.ones(len(filled), np.bool_)
    return PublishedNoise(
        quantize(_grid(frame, names, resolutions, rows)),
        quantize(_grid(filled, published, resolutions, every)),
        known,
    )


def _class_labels(column: pd.Series) -> NDArray[np.int64]:
    """Number the classes without gaps, in the order of their ids; −1 stays."""
    if not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        raise InputError(f"{column.name}: must be a whole number in every record, got another type or gaps")
    ids = column.to_numpy(np.int64)
    labels = np.full(len(ids), -1, np.int64)
    labels[ids >= 0] = np.unique(ids[ids >= 0], return_inverse=True)[1]
    return labels


def _grid(
    frame: pd.DataFrame, names: Sequence[str], resolutions: Sequence[float], rows: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return some records of some columns in grid units, (records, p)."""
    chosen = batch_columns(frame, names)[rows]
    grid = np.empty((len(chosen), len(names)))
    for j, (name, resolution) in enumerate(zip(names, resolutions, strict=True)):
        numbers = finite_numbers(chosen[name])
        missing = int(numbers.isna().sum())
        if missing:
            raise InputError(f"{name}: must have a value where it is measured, got {missing} missing")
        grid[:, j] = to_grid(numbers.to_numpy(np.float64), resolution)
    return grid
