"""A released table as columns and rows of a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.deliver.unfit_columns import general_problem, in_microseconds
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
    return sql_columns_of(plain_table(frame).schema)


def sql_problem(values: pa.ChunkedArray, *, database: str) -> str | None:
    """Say what of a column a database would not hold exactly, in words without its values; None: it holds it.

    Args:
        database: kind of it, as SQLAlchemy names it.
    """
    kind = values.type
    if _sql_type(kind) is None:
        return f"the type {kind}, which databases do not have"
    looks = _LOOKS.get(database, ())
    return general_problem(values) or next((said for said, has in looks if has(values)), None)


def _has_nul(values: pa.ChunkedArray) -> bool:
    return _is_text(values.type) and bool(
        pc.any(pc.match_substring(values.cast(pa.large_string()), "\0")).as_py()
    )


def _has_zone(values: pa.ChunkedArray) -> bool:
    return pa.types.is_timestamp(values.type) and values.type.tz is not None


def _has_many_digits(values: pa.ChunkedArray) -> bool:
    """Tell whether decimal numbers are others once they were floats, as which SQLite keeps them."""
    if not pa.types.is_decimal(values.type):
        return False
    places, found = max(values.type.scale, 0), values.unique().drop_null().to_pylist()
    return any(Decimal(f"{float(one):.{places}f}") != one for one in found)


_LOOKS: Mapping[str, tuple[tuple[str, Callable[[pa.ChunkedArray], bool]], ...]] = {
    "postgresql": (("texts with the character NUL, which PostgreSQL does not take", _has_nul),),
    "sqlite": (
        ("times with a zone, which SQLite does not keep", _has_zone),
        ("decimal numbers with more digits than SQLite keeps", _has_many_digits),
    ),
}
"""What each kind of database does not hold, though it has the type."""


def sql_columns_of(schema: pa.Schema) -> list[sa.Column[Any]]:
    """Return a column for each name and type, see `sql_columns`."""
    import sqlalchemy as sa  # noqa: PLC0415

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
        kind = plain_type(field.type)
        try:
            table = table.set_column(place, field.name, table.column(place).cast(kind))
        except pa.ArrowInvalid:  # its text quotes the cell
            fine += 1
    if fine:
        raise PublishError(
            f"publish.deliver: times must be whole microseconds, got finer ones in {fine} columns"
        )
    return table


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column of a type has in `plain_table`."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    timed = pa.types.is_timestamp(kind) or pa.types.is_time(kind)
    return in_microseconds(kind) if timed else kind


def _type(kind: pa.DataType, place: int) -> Any:
    found = _sql_type(kind)
    if found is None:
        raise PublishError(
            f"publish.deliver: column {place} has the type {kind}, which databases do not have"
        )
    return found


def _sql_type(kind: pa.DataType) -> Any:
    """Return the type of a database for one of Arrow; None: there is none."""
    import sqlalchemy as sa  # noqa: PLC0415

    if pa.types.is_decimal(kind):
        return sa.Numeric(kind.precision, kind.scale)
    for fits, made in (
        (pa.types.is_boolean, sa.Boolean()),
        (pa.types.is_integer, sa.BigInteger()),
        (pa.types.is_floating, sa.Double()),
        (pa.types.is_date, sa.Date()),
        (pa.types.is_time, sa.Time()),
        (pa.types.is_timestamp, sa.DateTime(timezone=getattr(kind, "tz", None) is not None)),
        (_is_text, sa.Text()),
    ):
        if fits(kind):
            return made
    return None


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether a column holds texts, or nothing at all."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind))
