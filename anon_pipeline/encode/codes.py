"""The edge: a DataFrame becomes codes and numbers, and generalized codes become columns again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.headers import refuse_names
from anon_pipeline.base.mistakes import counted_records
from anon_pipeline.base.packed_columns import PackedColumn
from anon_pipeline.base.packed_tables import (
    PackedTable,
    Table,
    change_cells,
    missing_cells,
    numbered_cells,
    table_of,
    with_text_names,
)
from anon_pipeline.base.values import text_ranks, to_arrow, to_finite_numbers, to_texts, to_whole_numbers
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.hierarchy import Hierarchy, code_column
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.columns import Identifier, Perturb, PerturbCategories, Sensitive
from anon_pipeline.policy.model import Policy

RECORD, CLASS, PERSON, GIVEN = "_record_id", "_class_id", "_person_id", "_given_class"
PRIVATE = (RECORD, CLASS, PERSON, GIVEN)
_H = TypeVar("_H")


def accept(frame: Table, policy: Policy) -> Table:
    """Check a table against the policy's columns and cast it to the types that the roles need.

    Args:
        frame: (n, columns) personal data; index and column order do not matter.
    Returns:
        The table with columns in the policy's order: perturb columns, rounded or bounded ones, and ordered
        sensitive ones without a declared order as numbers, perturb columns of categories as texts, everything
        else as it is; a
        fresh index.
    Raises:
        InputError: no records; columns that are unknown, undeclared or repeated; numbers, missing values,
            declared orders or kinds of values that do not fit. All of them listed, with counts, without
            values, and without names that the policy does not have (`headers`).
    """
    named = with_text_names(frame)
    refuse_names(list(named.columns), list(policy.columns))
    if not len(named):
        raise InputError("the input must have at least one record, got none")
    problems: list[str] = []
    table = table_of(_accepted_columns(named, policy, problems), len(named))
    if problems:
        raise InputError(problems)
    return table


def _accepted_columns(
    named: Table, policy: Policy, problems: list[str]
) -> Iterator[tuple[str, pd.Series | PackedColumn]]:
    """Yield each column that can be cast to what its role needs; what is wrong is added to ``problems``.

    A packed column that is as its role needs it stays packed.
    """
    for name, column in policy.columns.items():
        try:
            yield name, _accepted_column(named, name, column)
        except InputError as error:
            problems += error.problems


def _accepted_column(named: Table, name: str, column: object) -> pd.Series | PackedColumn:
    """Cast a column to what its role needs.

    Raises:
        InputError: what does not fit, and missing values; with counts.
    """

    def cast(series: pd.Series) -> pd.Series:
        """Cast the whole column, or its different cells."""
        found, problems = series, list[str]()
        if isinstance(series.dtype, pd.CategoricalDtype):
            found = series.astype(object)
        missing = _missing_problems(found, column)
        try:
            found = _cast(found, column)
        except InputError as error:
            problems += error.problems
        if problems or missing:
            raise InputError(problems + missing)
        return found

    if isinstance(named, PackedTable):
        return change_cells(named, name, cast)
    return cast(named[name].reset_index(drop=True))


def _cast(series: pd.Series, column: object) -> pd.Series:
    """Cast one column to what its role needs."""
    _refuse_far_times(series)
    ordered = isinstance(column, Sensitive) and column.distance == "ordered"
    order = column.order if isinstance(column, Sensitive) else None
    if isinstance(column, Perturb):
        return to_finite_numbers(series)
    if isinstance(column, Coarsened) and column.bounded:
        return to_whole_numbers(to_finite_numbers(series))
    if isinstance(column, PerturbCategories):
        return _known_texts(series, column.domain, must="of the policy's domain").astype("str")
    if ordered and order is None:
        return to_whole_numbers(to_finite_numbers(series))
    if not (isinstance(column, Identifier) and not IDENTIFIER_ACTIONS[column.action].released):
        to_arrow(series)
    return series if order is None else _known_texts(series, order, must="in the declared order")


def _refuse_far_times(series: pd.Series) -> None:
    """Refuse times that Python's own dates cannot hold, which no text can be made of.

    Raises:
        InputError: with the column and the count.
    """
    if not pd.api.types.is_datetime64_any_dtype(series.dtype) or series.isna().all():
        return
    zone = getattr(series.dt, "tz", None)
    if zone is not None:  # a day at either end is beyond in some zone, where its time cannot be written
        utc = series.dt.tz_convert("UTC").dt.tz_localize(None)
        days = utc.to_numpy("datetime64[s]").astype("datetime64[D]")
        far = int(((days <= np.datetime64(date.min)) | (days >= np.datetime64(date.max))).sum())
        if not far:
            return
    elif series.min().year >= date.min.year and series.max().year <= date.max.year:
        return
    else:
        years = series.dt.year
        far = int(((years < date.min.year) | (years > date.max.year)).sum())
    raise InputError(
        f"{series.name}: times must be of the years 1 to 9999, got {counted_records(far)} beyond"
    )


def _missing_problems(series: pd.Series, column: object) -> list[str]:
    """Say how many values are missing where they are not allowed to."""
    missing = int(series.isna().sum())
    if (
        not missing
        or not isinstance(column, (Perturb, PerturbCategories, Sensitive))
        or column.missing != "error"
    ):
        return []
    return [
        f"{series.name}: must have a value in every record, got {missing} missing. "
        "Set missing: suppress to suppress those records."
    ]


def _known_texts(series: pd.Series, known: Sequence[str], *, must: str) -> pd.Series:
    """Write a column as texts, all of which the policy lists; ``must`` says in which of its lists."""
    written = to_texts(series)
    outside = int((~written.isin(known) & written.notna()).sum())
    if outside:
        raise InputError(
            f"{series.name}: every value must be {must}, got {counted_records(outside)} with others"
        )
    return written


def mark_incomplete(frame: Table, policy: Policy) -> NDArray[np.bool_]:
    """Mark records with a missing value in a perturb or sensitive column, (n,); they are suppressed first."""
    names = [*policy.noisy, *policy.sensitive]
    marked = np.zeros(len(frame), np.bool_)
    for name in names:
        marked |= missing_cells(frame, name)
    return marked


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Quasi-identifiers as leaf codes (n, q), with the q hierarchies that read them."""

    codes: NDArray[np.int64] = field(repr=False)
    hierarchies: tuple[Hierarchy, ...]


def code_quasi_identifiers(frame: Table, policy: Policy, *, folder: Path = Path()) -> Coded:
    """Code every generalize column.

    Args:
        frame: (n, columns) accepted data.
    Raises:
        InputError: values that a hierarchy does not cover, hierarchies that are not nested; all listed.
    """
    columns, hierarchies = code_columns(frame, policy, folder=folder)
    return Coded(np.stack(columns, axis=1).astype(np.int64), hierarchies)


def code_columns(
    frame: Table, policy: Policy, *, folder: Path = Path()
) -> tuple[tuple[NDArray[np.signedinteger], ...], tuple[Hierarchy, ...]]:
    """Code each generalize column as `code_quasi_identifiers` does, (n,), in as few bytes as hold it."""
    columns: list[NDArray[np.signedinteger]] = []
    hierarchies: list[Hierarchy] = []
    problems: list[str] = []
    for name, column in policy.generalized.items():
        try:
            codes, hierarchy = _code_cells(
                frame, name, partial(code_column, spec=column.hierarchy, folder=folder)
            )
        except InputError as error:
            problems += error.problems
            continue
        columns.append(narrow_integers(codes))
        hierarchies.append(hierarchy)
    if problems:
        raise InputError(problems)
    return tuple(columns), tuple(hierarchies)


def _code_cells(
    table: Table, name: str, code: Callable[[pd.Series], tuple[NDArray[np.int64], _H]]
) -> tuple[NDArray[np.signedinteger], _H]:
    """Code a column, in as few bytes as a packed one needs: each of its cells is coded once.

    Args:
        code: from (n,) values, named, to the code of each and a hierarchy.
    Raises:
        InputError: see ``code``; it counts records.
    """
    packed = numbered_cells(table, name)
    if packed is not None:
        numbers, cells = packed
        with suppress(InputError):  # it would count cells
            own, hierarchy = code(cells.rename(name))
            return narrow_integers(own)[numbers], hierarchy
    return code(table[name])


def code_sensitive_of(
    table: Table, name: str, column: Sensitive, *, folder: Path = Path()
) -> tuple[NDArray[np.int64], Hierarchy | None]:
    """Code a sensitive column of a table as `code_sensitive` does."""
    codes, hierarchy = _code_cells(table, name, partial(code_sensitive, column=column, folder=folder))
    return codes.astype(np.int64, copy=False), hierarchy


def code_sensitive(
    series: pd.Series, column: Sensitive, *, folder: Path = Path()
) -> tuple[NDArray[np.int64], Hierarchy | None]:
    """Code one sensitive column in the order that its distance needs.

    Args:
        series: (n,) values.
    Returns:
        Code of each record (n,), −1 where missing: by the declared order, by number, by hierarchy leaf, or by
        text; and the hierarchy for ``distance: hierarchical``.
    """
    if column.hierarchy is not None and column.level is None:
        codes, hierarchy = code_column(series, column.hierarchy, folder=folder)
        return np.where(series.isna().to_numpy(), -1, codes), hierarchy
    if column.order is not None:
        return pd.Index(column.order).get_indexer(pd.Index(to_texts(series))).astype(np.int64), None
    if column.distance == "ordered":
        return pd.factorize(series, sort=True)[0].astype(np.int64), None
    return text_ranks(series), None


def label_codes(column: pd.Series) -> NDArray[np.int64]:
    """Number the values of a column in text order, a missing one as any other, (n,)."""
    return pd.factorize(to_texts(column), sort=True, use_na_sentinel=False)[0].astype(np.int64)


def decode(
    codes: NDArray[np.signedinteger], values: Sequence[NDArray[np.object_]], names: Sequence[str]
) -> Iterator[tuple[str, pd.Series]]:
    """Write generalized codes as columns of texts, one after the other.

    Args:
        codes: (n, q), in any type that holds them; −1 is a suppressed record.
        values: q arrays; the released value of each code; None is a missing value.
    Yields:
        Each name with its column, (n,) texts; missing where the value is missing or the record is suppressed.
    """
    for j, name in enumerate(names):
        known = pa.array([*values[j], None], type=pa.large_string(), from_pandas=True)
        places = codes[:, j].astype(np.int64)
        places[places < 0] = len(known) - 1
        written = known.take(pa.array(places))
        yield name, pd.Series(pd.array(written, dtype="str"), name=name)
