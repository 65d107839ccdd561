"""A released table as columns and rows of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.parts import join_files
from anon_pipeline.publish.release_files import Read, limits_of, readings

if TYPE_CHECKING:
    import sqlalchemy as sa

    from anon_pipeline.publish.deliver.delivery import Parcel

Rows = list[tuple[Any, ...]]
"""Records as Python's values; None: missing."""


def judged_frame(parcel: Parcel, policy: Policy) -> pd.DataFrame:
    """Return the table that the gate judged, from the file's bytes: its digest is the manifest's.

    Raises:
        InputError: no reading of the file is that table.
    """
    names = [item["name"] for item in parcel.document["files"]]
    records = [item["records"] for item in parcel.document["files"]]
    held = join_files([Held(name, parcel.files[name]) for name in names], records, limits_of(policy))
    for frame in readings(Read(parcel.document, held, (None,) * len(names)), held, policy):
        if digest_frame(frame) == parcel.document["data_digest"]:
            return frame
    raise InputError(f"{MANIFEST}: the data file must be the table that it describes")


def sql_columns(frame: pd.DataFrame) -> list[sa.Column[Any]]:
    """Return a column for each of a table, of the type that its values have.

    Raises:
        PublishError: a type that databases do not have; by column's place.
    """
    import sqlalchemy as sa  # noqa: PLC0415

    schema = plain_table(frame).schema
    return [
        sa.Column(field.name, _type(field.type, place), key=f"c{place}")
        for place, field in enumerate(schema, start=1)
    ]


def sql_rows(frame: pd.DataFrame) -> Rows:
    """Return the records of a table."""
    table = plain_table(frame)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def plain_table(frame: pd.DataFrame) -> pa.Table:
    """Return a table without categories, its times in microseconds, as databases have them.

    Raises:
        PublishError: a time is finer.
    """
    table, fine = pa.Table.from_pandas(frame, preserve_index=False), 0
    for place, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        kind = pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else kind
        try:
            table = table.set_column(place, field.name, table.column(place).cast(kind))
        except pa.ArrowInvalid:  # its text quotes the cell
            fine += 1
    if fine:
        raise PublishError(
            f"publish.deliver: times must be whole microseconds, got finer ones in {fine} columns"
        )
    return table


def _type(kind: pa.DataType, place: int) -> Any:
    import sqlalchemy as sa  # noqa: PLC0415

    if pa.types.is_decimal(kind):
        return sa.Numeric(kind.precision, kind.scale)
    for fits, made in (
        (pa.types.is_boolean, sa.Boolean()),
        (pa.types.is_integer, sa.BigInteger()),
        (pa.types.is_floating, sa.Double()),
        (pa.types.is_date, sa.Date()),
        (pa.types.is_timestamp, sa.DateTime(timezone=getattr(kind, "tz", None) is not None)),
        (_is_text, sa.Text()),
    ):
        if fits(kind):
            return made
    raise PublishError(f"publish.deliver: column {place} has the type {kind}, which databases do not have")


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether a column holds texts, or nothing at all."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind))
