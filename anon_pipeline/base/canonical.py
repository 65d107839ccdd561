"""An order of a table's records that does not depend on how the source ordered them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers, slices_of
from anon_pipeline.base.classes import pack_columns
from anon_pipeline.base.digest import digest_column
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.order import sorted_places
from anon_pipeline.base.packed_tables import Table, numbered_cells
from anon_pipeline.base.values import to_arrow

_SAME = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_large_string)
"""Types that pandas gives back as they are; others are digested as it gives them back."""


@dataclass(frozen=True, slots=True, eq=False)
class Canonical:
    """A table's records in an order that their values alone decide.

    places: (n,) each record's place in that order, a permutation of 0 … n−1. Records that are equal in all
        columns have neighboring places, in the order of the table: exchanging them changes nothing.
    digest: SHA-256 of the table in that order, 64 hexadecimal digits.
    """

    places: NDArray[np.int64] = field(repr=False)
    digest: str


def canonical_form(frame: Table) -> Canonical:
    """Return the places of a table's records and its digest: both are equal for any order of the records.

    Args:
        frame: (n, columns) without columns that are random or say where a record stood.
    Returns:
        The places of the records sorted by the first column, then the second, and so on.
    Raises:
        InputError: a column of several kinds of values, or of lists, bytes and the like.

    >>> canonical_form(pd.DataFrame({"age": [40, 30, 40]})).places.tolist()
    [1, 0, 2]
    """
    sha = hashlib.sha256(str(len(frame)).encode())
    codes = []
    for name in frame.columns:
        ranks, distinct = _rank_column(frame, name)
        codes.append(ranks)
        sha.update(digest_column(str(name), distinct).encode())
    return_freed_memory(len(frame))
    order = np.arange(len(frame)) if not codes or not len(frame) else sorted_places(*pack_columns(codes))
    for ranks in codes:
        for part in slices_of(len(order)):
            sha.update(ranks[order[part]].astype("<i8").data)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return Canonical(places, sha.hexdigest())


def _rank_column(frame: Table, name: str) -> tuple[NDArray[Any], pa.Array | pa.ChunkedArray]:
    """Do as `_rank_values` does with a column of a table, and do not unpack it if it is packed."""
    packed = numbered_cells(frame, name)
    if packed is None:
        return _rank_values(frame[name])
    numbers, cells = packed
    ranks, distinct = _rank_values(cells.rename(name))
    return ranks[numbers], distinct


def _rank_values(column: pd.Series) -> tuple[NDArray[Any], pa.Array | pa.ChunkedArray]:
    """Return the rank of each value among the distinct ones, from 1 on, 0 where it is missing; and these.

    Ranks are in as few bytes as they need.
    """
    values = to_arrow(column)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_null(values.type):
        values = values.cast(pa.large_string())
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # −0.0 is 0.0
    encoded = pa.chunked_array([values] if isinstance(values, pa.Array) else values).dictionary_encode()
    found = encoded.combine_chunks() if encoded.num_chunks != 1 else encoded.chunk(0)
    order = pc.sort_indices(found.dictionary).to_numpy()
    ranks = np.empty(len(order) + 1, np.min_scalar_type(len(order)))
    ranks[order], ranks[-1] = np.arange(1, len(order) + 1), 0
    places = found.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)
    distinct = found.dictionary.take(pa.array(order))
    if not any(same(distinct.type) for same in _SAME):
        distinct = to_arrow(distinct.to_pandas())
    return narrow_integers(ranks)[places], distinct
