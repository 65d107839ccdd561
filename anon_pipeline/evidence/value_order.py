"""Originals sorted by their values alone: the order reveals neither the input's order nor class numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.classes import pack_columns, row_order
from anon_pipeline.base.order import sorted_places
from anon_pipeline.base.packed_tables import PackedTable, Table, value_numbers
from anon_pipeline.base.rows import some_rows
from anon_pipeline.encode.codes import code_sensitive_of
from anon_pipeline.evidence.evidence import Evidence, Originals
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.policy.model import Policy


def number_classes(evidence: Evidence, policy: Policy) -> Originals:
    """Return the originals with classes numbered by their released values, and as ``own`` all in classes.

    Returns:
        ``own`` (r,) is in the order of the input.
    Raises:
        InputError: this is a file alone.
    """
    behind = require_originals(evidence)
    inside = np.flatnonzero(behind.labels >= 0).astype(np.int64)
    codes, found = pd.factorize(behind.labels[inside])
    one = np.empty(len(found), np.int64)
    one[codes] = inside  # one record of each class: its generalized values are those of all
    keys = [value_ranks(some_rows(behind.frame, one, [name])[name]) for name in policy.generalized]
    rank = np.empty(len(found), np.int64)
    rank[row_order(np.stack(keys, axis=1) if keys else np.zeros((len(found), 1), np.int64))] = np.arange(
        len(found)
    )
    labels = np.full(len(behind.labels), -1, np.int64)
    labels[inside] = rank[codes]
    if np.array_equal(labels, behind.labels):  # numbered before: one array is enough
        labels = behind.labels
    return replace(behind, labels=labels, own=inside)


def with_numbered_classes(evidence: Evidence, policy: Policy) -> Evidence:
    """Return evidence whose originals have classes numbered by their released values (`number_classes`).

    What is measured of them then sorts the same classes in the same order, and does it once.
    """
    behind = evidence.originals
    if behind is None or not (behind.labels >= 0).any():
        return evidence
    return replace(evidence, originals=replace(behind, labels=number_classes(evidence, policy).labels))


def value_ranks(column: pd.Series) -> NDArray[np.signedinteger]:
    """Rank values by their texts, (n,); a missing value by "nan", before a text that is the same."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    texts, there = np.array([str(value) for value in values]), np.asarray(pd.notna(values))
    rank = np.empty(len(values), np.int32)
    rank[np.lexsort((there, texts))] = np.arange(len(values))
    return narrow_integers(rank)[codes]


def column_ranks(table: Table, name: str) -> NDArray[np.signedinteger]:
    """Return the `value_ranks` of a column, (n,); of a packed table only different values are unpacked."""
    if not isinstance(table, PackedTable) or not len(table):
        return value_ranks(table[name])
    codes = narrow_integers(value_numbers(table, name))
    one = np.empty(int(codes.max()) + 1, np.int64)
    one[codes[::-1]] = np.arange(len(codes))[::-1]  # the first record of each value
    ranks: NDArray[np.signedinteger] = value_ranks(some_rows(table, one, [name])[name])[codes]
    return ranks


def sort_originals(
    evidence: Evidence, policy: Policy, known: Mapping[str, NDArray[np.integer]] | None = None
) -> Originals:
    """Return the originals with classes numbered by their released values, and as ``own`` all in classes.

    Args:
        known: ranks of the values of columns that are released as they are, (n,) each, see `value_ranks`.
    Returns:
        ``own`` (r,) is ordered by class, perturb columns, sensitive columns with a limit on classes, what is
        known, and people where they are counted; what is equal in all of these is alike for whatever is
        measured here.
    Raises:
        InputError: this is a file alone.
    """
    behind = number_classes(evidence, policy)
    if not len(behind.own):
        return behind
    order = sorted_places(*pack_columns(_sort_keys(behind, policy, evidence.hierarchies, known or {})))
    return replace(behind, own=behind.own[order])


def _sort_keys(
    behind: Originals, policy: Policy, folder: Path, known: Mapping[str, NDArray[np.integer]]
) -> Iterator[NDArray[np.integer]]:
    """Yield what `sort_originals` sorts by, (r,) integers ≥ 0 each, one after another: no two are kept."""
    own = behind.own
    yield behind.labels[own]
    for j in range(behind.grid.shape[1]):
        yield pd.factorize(behind.grid[own, j], sort=True)[0]
    for name in reversed(policy.class_limited):
        codes, _ = code_sensitive_of(behind.frame, name, policy.sensitive[name], folder=folder)
        yield codes[own] - min(int(codes.min()), 0)
    for ranks in known.values():
        yield ranks[own]
    if behind.people is not None:
        yield behind.people[own]


def repeat_originals(behind: Originals, policy: Policy, copies: int) -> Originals:
    """Repeat the originals, each time in classes of their own, and as others; of columns those looked at."""
    n, m = len(behind.labels), int(behind.labels.max(initial=-1)) + 1
    frame = behind.frame[[*policy.generalized, *policy.class_limited]]
    if copies == 1:
        return replace(behind, frame=frame)
    number = np.repeat(np.arange(copies), n)
    labels = np.tile(behind.labels, copies)
    people = behind.people
    return Originals(
        some_rows(frame, np.tile(np.arange(n), copies)),
        np.where(labels >= 0, labels + number * m, -1),
        np.tile(behind.own, copies) + np.repeat(np.arange(copies) * n, len(behind.own)),
        np.tile(behind.grid, (copies, 1)),
        None if people is None else np.tile(people, copies) + number * (int(people.max()) + 1),
    )
