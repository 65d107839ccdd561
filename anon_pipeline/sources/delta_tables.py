"""A version of a Delta Lake table as a source.

A version is a snapshot: writers add others, and none changes it. Nothing is written to the table.

Decision: docs/adr/0079-delta-tables.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import Held, limit_error
from anon_pipeline.policy.delta import DeltaSource
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.bounds import refuse_long_texts
from anon_pipeline.sources.delta_log import named_files, refuse_changed_files, refuse_vectors_elsewhere
from anon_pipeline.sources.delta_places import source_place
from anon_pipeline.sources.typed_cells import frame_of, refuse_repeated

_WHERE = "source.delta"
_NESTED = (pa.types.is_nested, pa.types.is_dictionary)


def delta_frame(policy: Policy, folder: Path, partition: str | None) -> pd.DataFrame:
    """Read the version of the table that ``source.delta`` names, or the newest; see `read_source`.

    Raises:
        InputError: no such table or version, files that are gone or outside of it, a feature that is not read
            right, a limit that is not kept. No text of the library is in it.
    """
    with _withhold_text():
        return frame_of(pa.Table.from_batches(_read_version(policy, folder, partition)))


def delta_portions(policy: Policy, folder: Path) -> Iterator[pa.Table]:
    """Yield the records of the version that ``source.delta`` names, or the newest; see `portions`."""
    with _withhold_text():
        for batch in _read_version(policy, folder, None):
            yield pa.Table.from_batches([batch])


def _withhold_text() -> AbstractContextManager[None]:
    return withhold_text(f"{_WHERE}: the version must be complete and readable", Exception)


def _read_version(policy: Policy, folder: Path, partition: str | None) -> Iterator[pa.RecordBatch]:
    """Yield the records of a version within the limits, first none of them."""
    wanted, limits = cast(DeltaSource, policy.source.place), policy.source.limits
    place = source_place(wanted, _WHERE, folder, partition)
    table = place.open(wanted.version)
    if table is None:
        raise InputError(f"{place.key}: there must be a Delta Lake table, got none")
    found = named_files(table, _WHERE, limits)
    if place.folder is not None:
        refuse_changed_files(place.folder, found, _WHERE)
    refuse_vectors_elsewhere(table, place.files(), _WHERE)
    records = 0
    for batch in batches_of(table, _WHERE, limits):
        records += len(batch)
        yield batch
    if found.records not in (None, records):
        raise InputError(f"{_WHERE}: must have as many records as the log states, got another number")


def delta_version(wanted: DeltaSource, folder: Path) -> str:
    """Return the version of the table that would be read now, which tells it from others.

    Args:
        folder: of sources.
    Raises:
        InputError: no table is there, or not that version of it, or the library cannot read it.
    """
    place = source_place(wanted, _WHERE, folder, None)
    table = place.open(wanted.version)
    if table is None:
        raise InputError(f"{place.key}: there must be a Delta Lake table, got none")
    return str(table.version())


def table_of(table: Any, key: str, limits: Limits) -> pa.Table:
    """Return the records of an opened table, within limits, see `batches_of`."""
    return pa.Table.from_batches(batches_of(table, key, limits))


def batches_of(table: Any, key: str, limits: Limits) -> Iterator[pa.RecordBatch]:
    """Yield the records of an opened table, within limits, first none; their order has no meaning.

    Args:
        table: of the library.
        key: of the policy, for messages.
    Raises:
        InputError: columns with lists or structures, repeated names, a limit that is not kept.
    """
    schema = pa.schema(table.schema().to_arrow())
    refuse_repeated(key, schema.names)
    nested = [str(place) for place, one in enumerate(schema, 1) if any(fits(one.type) for fits in _NESTED)]
    if nested:
        raise InputError(
            f"{key}, column {', '.join(nested)}: must have plain values, got lists or structures"
        )
    yield pa.RecordBatch.from_pylist([], schema=schema)
    with pa.RecordBatchReader.from_stream(table.scan()) as reader:
        yield from _read_batches(reader, schema, key, limits)


def _read_batches(
    reader: pa.RecordBatchReader, schema: pa.Schema, key: str, limits: Limits
) -> Iterator[pa.RecordBatch]:
    """Yield records with their texts written out, and refuse before the memory is full."""
    rows = size = 0
    for batch in reader:
        rows, size = rows + len(batch), size + refuse_long_texts(Held(key, b""), batch, limits)
        for limit, got in (("rows", rows), ("uncompressed_bytes", size)):
            if got > getattr(limits, limit):
                raise limit_error(key, limit, getattr(limits, limit))
        yield batch.select(schema.names).cast(schema)
