"""A table of a database as a destination: its records are replaced in one transaction, and read back in it.

Nobody sees the new records before the transaction ends, so there is no temporary table that a dead run could
leave. The table stays the same one where its columns do: grants, views, indexes and comments stay, too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.base.spelling import is_plain
from anon_pipeline.policy.deliver import RECORDS
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.deliver.database_connection import (
    DATABASE,
    engine_at,
    is_ledger,
    refuse_no_file,
    withhold_errors,
)
from anon_pipeline.publish.deliver.delivery import KEY, Parcel, is_later
from anon_pipeline.publish.deliver.partition_tables import table_of_partition
from anon_pipeline.publish.deliver.sql_cells import (
    judged_frame,
    plain_type,
    sql_columns,
    sql_columns_of,
    sql_problem,
    sql_rows,
)
from anon_pipeline.publish.deliver.unfit_columns import Columns, columns_of, refuse_unfit
from anon_pipeline.sources.urls import url_in

if TYPE_CHECKING:
    import sqlalchemy as sa

    from anon_pipeline.publish.deliver.sql_cells import Rows

_LONGEST_NAME = 63  # bytes; PostgreSQL cuts longer ones off, so that two tables would be one
_AT_ONCE = 10_000
_NOT_MADE = "the login must be able to create and fill the table, and its names must be allowed there"
_NOT_MADE_ANEW = (
    "it must be possible to drop the table and create it again, since its columns have changed. Drop the "
    "views that need it, if there are any, then run this again"
)


def at_database_env(policy: Policy, locations: Locations, partition: str | None) -> DatabaseTable:
    """Return the table that ``publish.deliver`` names, of the database at the URL that a variable holds.

    Of a policy with partitions each has a table of its own: ``visits_2026_01_01``.

    Raises:
        InputError: no such variable or driver, another kind of database, the ledger, too long a name.
    """
    deliver = policy.publish.deliver
    *schema, name = () if deliver is None else deliver.path_of_table
    name = table_of_partition(policy, name, partition, key=f"{KEY}.table")
    if len(name.encode()) > _LONGEST_NAME or not is_plain(name):
        raise InputError(f"{KEY}.table: must have at most {_LONGEST_NAME} bytes, with the partition's key")
    engine = engine_at(url_in(str(deliver and deliver.database_env), DATABASE))
    if long := [one for one in policy.released if len(one.encode()) > _LONGEST_NAME]:
        raise InputError(
            f"{KEY}.table: columns must have names of at most {_LONGEST_NAME} bytes, {len(long)} are longer"
        )
    if is_ledger(engine.url, locations.ledger):
        raise InputError(f"{DATABASE}: must be another database than the ledger's")
    return DatabaseTable(engine, ".".join(schema) or None, name, policy, partition)


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table of a database that holds one release.

    engine: messages name its key, never its URL.
    """

    engine: sa.Engine
    schema: str | None
    name: str
    policy: Policy
    partition: str | None

    def ready(self) -> None:
        """Refuse a database that does not answer, a table that holds something else, or may not be made."""
        import sqlalchemy as sa  # noqa: PLC0415

        with (
            withhold_errors("the database must be reachable, and accept the login of the URL"),
            self._open() as opened,
        ):
            self._refuse_other_encodings(opened)
            self._recorded_manifest(opened)
            with withhold_errors(_NOT_MADE):
                self._try(opened, [sa.Column(name, sa.Text) for name in self.policy.released], typed=False)

    def refuse_unfit(self, columns: Columns) -> None:
        """Refuse types and values that the database does not hold exactly, see `sql_cells`.

        Where the table has other columns, it is also tried whether it can be made anew, which a view that
        needs it prevents.
        """
        schema = refuse_unfit(DATABASE, columns, partial(sql_problem, database=self.engine.dialect.name))
        plain = pa.schema([pa.field(one.name, plain_type(one.type)) for one in schema])
        with withhold_errors("the database must be reachable"), self._open() as opened:
            self._recorded_manifest(opened)
            with withhold_errors(_NOT_MADE_ANEW):
                self._try(opened, sql_columns_of(plain), typed=True)

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Tell whether the table has the release of a manifest, by what was recorded with it."""
        with withhold_errors("the database must be reachable"), self._open() as opened:
            return self._recorded_manifest(opened) == document

    def deliver(self, parcel: Parcel) -> None:
        """Replace the records, read them back, compare, and record the manifest, in one transaction.

        Raises:
            PublishError: readers see the release before; if the connection was lost at the very end, they
                may see this one, which is complete.
        """
        import sqlalchemy as sa  # noqa: PLC0415

        frame = judged_frame(parcel, self.policy)
        refuse_unfit(DATABASE, columns_of(frame), partial(sql_problem, database=self.engine.dialect.name))
        columns, rows = sql_columns(frame), sql_rows(frame)
        table = sa.Table(self.name, sa.MetaData(), *columns, schema=self.schema)
        with withhold_errors("the release could not be written"), self._open() as opened:
            if is_later(self._recorded_manifest(opened), parcel.document):
                raise PublishError(
                    f"{DATABASE}: must not hold a later release than the one that is delivered. Another "
                    f"deployment has delivered there: give each a table of its own."
                )
            _fill(opened, table, rows)
            self._record(opened, parcel)

    @contextmanager
    def _open(self) -> Iterator[sa.Connection]:
        """Open a transaction; it is rolled back if anything fails."""
        refuse_no_file(self.engine.url)
        try:
            with self.engine.connect() as connection, connection.begin():
                yield connection
        finally:
            self.engine.dispose()

    def _recorded_manifest(self, opened: sa.Connection) -> Mapping[str, Any]:
        """Return the manifest of the release that the table holds; an empty one where there is no table.

        Raises:
            PublishError: there is a table that was not delivered, or of another release or partition.
        """
        import sqlalchemy as sa  # noqa: PLC0415

        look, records = sa.inspect(opened), self._records()
        known = None
        if look.has_table(RECORDS, schema=self.schema):
            own = {one["name"] for one in look.get_columns(RECORDS, schema=self.schema)}
            if not own >= {*records.columns.keys()}:
                raise PublishError(
                    f"{KEY}.table: the table {RECORDS} beside it must be that of this tool, got another one. "
                    f"Name another schema or database, or rename that table."
                )
            asked = sa.select(records).where(records.c.table_name == self.name).with_for_update()
            known = opened.execute(asked).one_or_none()
        if not look.has_table(self.name, schema=self.schema):
            return {}
        there = [column["name"] for column in look.get_columns(self.name, schema=self.schema)]
        if known is not None and (known.release, known.partition) == (self.policy.name, self.partition):
            document: dict[str, Any] = json.loads(known.manifest)
            if there == json.loads(known.columns):
                return document
        raise PublishError(
            f"{KEY}.table: must be a table of the release {self.policy.name} alone, or not be there, got one "
            f"that was not delivered as it is. Name another table, or drop this one yourself."
        )

    def _refuse_other_encodings(self, opened: sa.Connection) -> None:
        """Refuse a database in which not all texts can be: manifests, and ranges such as 20–29."""
        if opened.dialect.name != "postgresql":
            return
        if opened.exec_driver_sql("SHOW server_encoding").scalar_one() != "UTF8":
            raise PublishError(f"{DATABASE}: must be a database with the encoding UTF8")

    def _try(self, opened: sa.Connection, columns: list[sa.Column[Any]], *, typed: bool) -> None:
        """Make the tables if they are not there, change no record of them, and undo it.

        So names that the database reserves, and rights that are missing, are noticed before noise is drawn.

        Args:
            typed: whether the columns have their types; a table with other ones is made anew.
        """
        import sqlalchemy as sa  # noqa: PLC0415

        table = sa.Table(self.name, sa.MetaData(), *columns, schema=self.schema)
        undone = opened.begin_nested()
        if typed:
            _drop_unless_alike(opened, table)
        for one in (table, self._records()):
            one.create(opened, checkfirst=True)
            opened.execute(one.delete().where(sa.false()))
        undone.rollback()

    def _record(self, opened: sa.Connection, parcel: Parcel) -> None:
        """Say which release the table holds."""
        import sqlalchemy as sa  # noqa: PLC0415

        records = self._records()
        if not sa.inspect(opened).has_table(RECORDS, schema=self.schema):
            records.create(opened)
        columns = [one["name"] for one in sa.inspect(opened).get_columns(self.name, schema=self.schema)]
        own = records.c.table_name == self.name
        known = opened.execute(sa.select(records.c.table_name).where(own)).one_or_none()
        # a row that is changed, not exchanged, is the one that another delivery waits for
        written = records.insert() if known is None else records.update().where(own)
        opened.execute(
            written,
            {
                "table_name": self.name,
                "release": self.policy.name,
                "partition": self.partition,
                "data_digest": parcel.document["data_digest"],
                "made_at": str(parcel.document["made_at"]),
                "delivered_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "columns": json.dumps(columns),
                "manifest": parcel.manifest.decode("utf-8"),
            },
        )

    def _records(self) -> sa.Table:
        import sqlalchemy as sa  # noqa: PLC0415

        names = ("release", "partition", "data_digest", "made_at", "delivered_at", "columns", "manifest")
        own = (sa.Column(name, sa.Text, nullable=name == "partition") for name in names)
        key = sa.Column("table_name", sa.Text, primary_key=True)
        return sa.Table(RECORDS, sa.MetaData(), key, *own, schema=self.schema)


def _fill(opened: sa.Connection, table: sa.Table, rows: Rows) -> None:
    """Replace what a table holds, which is made anew where its columns are others.

    Raises:
        PublishError: it holds something else than was written.
    """
    import sqlalchemy as sa  # noqa: PLC0415

    if _drop_unless_alike(opened, table):
        opened.execute(table.delete())
    else:
        table.create(opened)
    keys = table.columns.keys()
    for start in range(0, len(rows), _AT_ONCE):
        cells = [dict(zip(keys, row, strict=True)) for row in rows[start : start + _AT_ONCE]]
        opened.execute(table.insert(), cells)
    if Counter(tuple(row) for row in opened.execute(sa.select(table))) != Counter(rows):
        raise PublishError(f"{DATABASE}: what was written does not read back the same")


def _drop_unless_alike(opened: sa.Connection, table: sa.Table) -> bool:
    """Drop the table that is there if it has other columns; tell whether one with these is there."""
    import sqlalchemy as sa  # noqa: PLC0415

    if not sa.inspect(opened).has_table(table.name, schema=table.schema):
        return False
    if _as_it_is(opened, table):
        return True
    table.drop(opened)
    return False


def _as_it_is(opened: sa.Connection, table: sa.Table) -> bool:
    """Tell whether a table has these columns already, with these types."""
    import sqlalchemy as sa  # noqa: PLC0415

    dialect = opened.dialect
    there = sa.inspect(opened).get_columns(str(table.name), schema=table.schema)
    found = [(one["name"], one["type"].compile(dialect)) for one in there]
    return found == [(one.name, one.type.compile(dialect)) for one in table.columns]
