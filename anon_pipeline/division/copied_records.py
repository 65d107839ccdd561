"""Copies of a source's records in Parquet files, so that they can be read twice, in one order.

A division reads its source twice: to choose levels, and to write partitions. Parquet files have an order. A
query of a database has none, and other files are slow to read. The copy is encrypted as partitions are, and
removed when they are written.

Decision: docs/adr/0098-other-sources-are-copied-to-be-divided.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.base.errors import withhold_text
from anon_pipeline.base.size_bounds import limit_error
from anon_pipeline.division.leftovers import COPIES
from anon_pipeline.division.part_files import PartFile
from anon_pipeline.policy.files import Limits
from anon_pipeline.sources.change_guard import refuse_changes
from anon_pipeline.sources.files import as_arrow_file
from anon_pipeline.sources.sealed_files import unseal_file
from anon_pipeline.vault.crypto import VaultKey

_RECORDS: Final = 2**20  # of a file
_BYTES: Final = 2**28  # of a file, about: each is held in memory when it is read
_INTEGER_DIGITS: Final = 19  # of 64 bits
_DIGITS: Final = 38  # of a decimal of 128 bits
_ANY: Final = 2**62
_UNREADABLE: Final = (OSError, pa.ArrowException, ValueError)


def copy_limits(limits: Limits) -> Limits:
    """Return what limits the reading of a copy: the source was within its own limits when it was copied."""
    return limits.model_copy(update=dict.fromkeys(("file_bytes", "uncompressed_bytes"), _ANY))


@contextmanager
def copy_records(
    portions: Iterable[pa.Table],
    folder: Path,
    limits: Limits,
    *,
    known: Collection[str] = (),
    key: VaultKey | None,
) -> Iterator[Path]:
    """Write records into files of a new folder, let them be read there, and remove them.

    Args:
        portions: the records, some at a time; their types may differ where one type holds both.
        folder: of the partitions, which this process holds.
        limits: of the records.
        known: names of columns that messages may have.
        key: encrypts the files; None: they are not encrypted.
    Yields:
        The folder of the files; their names are in the order of the records.
    Raises:
        InputError: a file cannot be written, a column has values of several kinds, or see the source.
    """
    place, made = folder / COPIES, list[Path]()
    try:
        with withhold_text(f"{folder.name}: must be a folder that files can be written to", OSError):
            place.mkdir(mode=0o700)
            to = _Place(place, limits, known, key)
            schema = _write(portions, to, made)
            for path in made:
                _convert(path, schema, to)
        with refuse_changes(place):
            yield place
    finally:
        for path in made:
            path.unlink(missing_ok=True)
        with suppress(OSError):  # not there, or somebody else's file is in it
            place.rmdir()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where copies are written, and what messages may name."""

    folder: Path
    limits: Limits
    known: Collection[str]
    key: VaultKey | None = field(repr=False)

    def withhold(self, name: str, place: int) -> AbstractContextManager[None]:
        """Withhold what Arrow says of the values of a column, which has a name and a place from 1."""
        column = name if name in self.known else f"source, column {place}"
        return withhold_text(
            f"{column}: must have values of one kind, such as texts or numbers, to be divided. Cast it in "
            "the query, or write the table to a file in which it has one type",
            *_UNREADABLE,
        )


def _write(portions: Iterable[pa.Table], to: _Place, made: list[Path]) -> pa.Schema:
    """Write records into files, and return the columns of all of them together."""
    schema, waiting, rows = pa.schema([]), list[pa.Table](), 0
    for table in portions:
        rows += len(table)
        if rows > to.limits.rows:
            raise limit_error("source", "rows", to.limits.rows)
        schema = _common_schema(schema, table.schema, to)
        waiting.append(table)
        if sum(map(len, waiting)) >= _RECORDS or sum(one.nbytes for one in waiting) >= _BYTES:
            _write_file(to.folder / f"{len(made):06}.parquet", waiting, schema, to, made)
            waiting = []
    if waiting:
        _write_file(to.folder / f"{len(made):06}.parquet", waiting, schema, to, made)
    return schema


def _write_file(path: Path, tables: list[pa.Table], schema: pa.Schema, to: _Place, made: list[Path]) -> None:
    whole = [_with_columns(table, schema, to) for table in tables]
    said = (
        "source: every column must have a type that a Parquet file can hold. Leave the others out, or cast "
        "them in the query"
    )
    with withhold_text(said, pa.ArrowException), PartFile(path, schema, made, to.key) as file:
        for table in whole:
            file.add(table)
        file.write()


def _convert(path: Path, schema: pa.Schema, to: _Place) -> None:
    """Write a file again if it lacks columns, or has other types, that came later."""
    with pq.ParquetFile(as_arrow_file(unseal_file(path, copy_limits(to.limits)))) as file:
        if file.schema_arrow.equals(schema):
            return
        table = file.read()
    path.unlink()
    _write_file(path, [table], schema, to, [])


def _common_schema(schema: pa.Schema, other: pa.Schema, to: _Place) -> pa.Schema:
    """Return the columns of both, each with a type that holds the values of both."""
    found = schema
    for place, own in enumerate(other, 1):
        at = found.get_field_index(own.name)
        if at < 0:
            found = found.append(pa.field(own.name, own.type))
        elif found.field(at).type != own.type:
            with to.withhold(own.name, place):
                found = found.set(at, pa.field(own.name, _common_type(found.field(at).type, own.type)))
    return found


def _common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return the type that holds the values of two others exactly.

    Raises:
        pa.ArrowException: there is none.
    """
    if {pa.types.is_floating(one), pa.types.is_floating(other)} == {True, False} and (
        pa.types.is_decimal(one) or pa.types.is_decimal(other)
    ):
        raise pa.ArrowInvalid("a fraction of two has no exact decimal")
    kinds = [pa.schema([("", kind)]) for kind in (one, other)]
    found = pa.unify_schemas(kinds, promote_options="permissive").field(0).type
    if not pa.types.is_decimal(found):
        return found
    digits = max(found.precision, _INTEGER_DIGITS + found.scale)  # Arrow forgets that integers get decimals
    return (pa.decimal128 if digits <= _DIGITS else pa.decimal256)(digits, found.scale)


def _with_columns(table: pa.Table, schema: pa.Schema, to: _Place) -> pa.Table:
    """Return records with all columns, and the types of these.

    Raises:
        InputError: a number that the type cannot hold exactly.
    """
    columns = []
    for wanted in schema:
        at = table.schema.get_field_index(wanted.name)
        if at < 0:
            columns.append(pa.nulls(len(table), wanted.type))
            continue
        with to.withhold(wanted.name, at + 1):
            columns.append(table.column(at).cast(wanted.type))
    return pa.Table.from_arrays(columns, schema=schema)
