"""A table of Apache Iceberg as a destination: written on a branch, read back, then made the current snapshot.

Readers see the new records when all of them were compared. The snapshot says which release it holds, so the
table itself tells which tables may be replaced, and what a repeated delivery finds already there.

Decision: docs/adr/0080-iceberg-tables.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

import pyarrow as pa

from anon_pipeline.base.errors import InputError, PublishError, raise_alone
from anon_pipeline.ledger.required_memory import named_by
from anon_pipeline.policy.iceberg import path_of
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.deliver.delivery import KEY, Parcel, is_later
from anon_pipeline.publish.deliver.iceberg_cells import (
    has_columns,
    iceberg_problem,
    iceberg_records,
    may_have_columns,
    same_records,
)
from anon_pipeline.publish.deliver.partition_tables import table_of_partition
from anon_pipeline.publish.deliver.sql_cells import judged_frame
from anon_pipeline.publish.deliver.unfit_columns import Columns, columns_of, refuse_unfit
from anon_pipeline.sources.iceberg_catalogs import find_table, open_catalog
from anon_pipeline.sources.library_errors import withhold_errors

_KEY = f"{KEY}.iceberg"
BRANCH = "anon_pipeline"
"""Name of the branch that a delivery writes to, until what is there was compared."""
_RELEASE, _PARTITION, _RELEASE_ID, _DATA, _MANIFEST, _MADE_AT, _DELIVERY = (
    f"anon-pipeline.{name}"
    for name in (
        "release",
        "partition",
        "release-id",
        "data-digest",
        "manifest-sha256",
        "made-at",
        "delivery",
    )
)
_COLLISION = (
    f"{_KEY}: another delivery or writer has changed the table meanwhile; readers see what it left. Look at "
    f"the table, then run anon-pipeline deliver again"
)


def at_iceberg(policy: Policy, locations: Locations, partition: str | None) -> IcebergTable:
    """Return the table that ``publish.deliver`` names; see `IcebergTable`.

    Of a policy with partitions each has a table of its own: ``visits_2026_01_01``.
    """
    deliver = policy.publish.deliver
    place = None if deliver is None else deliver.iceberg
    if place is None:
        raise InputError(f"{_KEY}: must be given")
    *namespace, name = path_of(place.table)
    name = table_of_partition(policy, name, partition, key=f"{_KEY}.table")
    return IcebergTable(place.catalog, (*namespace, name), policy, partition)


@dataclass(frozen=True, slots=True)
class IcebergTable:
    """A table of a catalog that holds one release as its current snapshot."""

    catalog: str
    path: tuple[str, ...]
    policy: Policy
    partition: str | None

    def ready(self) -> None:
        """Refuse a catalog that does not answer, or a table that holds something else."""
        with self._open("ro", "the table must be readable") as catalog:
            table = find_table(catalog, self.path, _KEY)
            if table is None:
                self._refuse_no_namespace(catalog)
            else:
                self._known_release(table)
                if table.schema().column_names != self.policy.released:
                    raise _other_columns()

    def refuse_unfit(self, columns: Columns) -> None:
        """Refuse types and values that Iceberg does not have, and other columns than those of the table."""
        schema = refuse_unfit(_KEY, columns, iceberg_problem)
        with self._open("ro", "the table must be readable") as catalog:
            table = find_table(catalog, self.path, _KEY)
            if table is not None and not may_have_columns(table.schema().as_arrow(), schema):
                raise _other_columns()

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Tell whether the current snapshot is of the release of a manifest."""
        with self._open("ro", "the table must be readable") as catalog:
            table = find_table(catalog, self.path, _KEY)
            known = {} if table is None else self._known_release(table)
        wanted = (document["data_digest"], str(document["made_at"]))
        return (known.get(_DATA), known.get(_MADE_AT)) == wanted

    def deliver(self, parcel: Parcel) -> None:
        """Write the records on a branch, read them back, compare, and make them the current snapshot.

        What holds this very release already is left as it is.

        Raises:
            PublishError: readers see the release before; if the connection was lost at the very end, they may
                see this one, which is complete.
        """
        frame = judged_frame(parcel, self.policy)
        refuse_unfit(_KEY, columns_of(frame), iceberg_problem)
        records = iceberg_records(frame)
        noted = self._properties(parcel)
        with self._open("rw", "the release could not be written") as catalog, _refuse_collisions():
            table = self._made_table(catalog, records.schema)
            known = self._known_release(table)
            if is_later({"made_at": known.get(_MADE_AT)}, parcel.document):
                raise PublishError(
                    f"{_KEY}: must not hold a later release than the one that is delivered. Another "
                    f"deployment has delivered there: give each a table of its own."
                )
            before = _head(table)
            if known.get(_MANIFEST) == noted[_MANIFEST] and _is_held(table, before, records):
                return
            if not has_columns(table.schema().as_arrow(), records):
                raise _other_columns()
            staged = _stage_alone(table, records, noted)
            if not same_records(table.scan(snapshot_id=staged).to_arrow(), records):
                raise PublishError(f"{_KEY}: what was written does not read back the same")
            _make_current(table, staged)

    @contextmanager
    def _open(self, mode: Literal["ro", "rw"], said: str) -> Iterator[Any]:
        """Open the catalog; what its library says of errors is withheld."""
        try:
            with open_catalog(self.catalog, _KEY, mode=mode) as catalog, withhold_errors(f"{_KEY}: {said}"):
                yield catalog
        except (InputError, PublishError) as error:
            refused = PublishError(error.problems)
        else:
            return
        raise_alone(refused)

    def _made_table(self, catalog: Any, schema: pa.Schema) -> Any:
        """Return the table, which is made, without records, where there is none."""
        table = find_table(catalog, self.path, _KEY)
        if table is not None:
            return table
        self._refuse_no_namespace(catalog)
        return catalog.create_table(self.path, schema)

    def _refuse_no_namespace(self, catalog: Any) -> None:
        if not catalog.namespace_exists(self.path[:-1]):
            raise PublishError(f"{_KEY}.table: its namespace must be in the catalog, got none of this name")

    def _known_release(self, table: Any) -> Mapping[str, str]:
        """Return what the current snapshot says of the release that it holds; nothing of an empty table.

        Raises:
            PublishError: it has records that were not delivered, or of another release or partition.
        """
        snapshot = table.current_snapshot()
        known = _properties_of(snapshot)
        if snapshot is None or known.get("total-records") == "0":
            return {} if (known.get(_RELEASE), known.get(_PARTITION)) != self._own else known
        while snapshot is not None and snapshot.summary and snapshot.summary.operation.value == "replace":
            parent = snapshot.parent_snapshot_id  # files were put together, and records stayed what they were
            snapshot = None if parent is None else table.snapshot_by_id(parent)
        known = _properties_of(snapshot)
        if (known.get(_RELEASE), known.get(_PARTITION)) != self._own:
            raise PublishError(
                f"{_KEY}.table: must be a table of the release {self.policy.name} alone, or empty, or not be "
                f"there, got records that were not delivered. Name another table, or drop this one yourself."
            )
        return known

    @property
    def _own(self) -> tuple[str, str | None]:
        return self.policy.name, self.partition

    def _properties(self, parcel: Parcel) -> dict[str, str]:
        """Return what a snapshot says of the release."""
        release_id, _ = named_by(parcel.document)
        told = {
            _RELEASE: self.policy.name,
            _PARTITION: self.partition,
            _RELEASE_ID: release_id,
            _DATA: parcel.document["data_digest"],
            _MANIFEST: hashlib.sha256(parcel.manifest).hexdigest(),
            _MADE_AT: parcel.document["made_at"],
        }
        return {name: str(value) for name, value in told.items() if value is not None}


def _head(table: Any) -> int | None:
    """Return the snapshot that readers see, as far as it was read."""
    snapshot = table.current_snapshot()
    return None if snapshot is None else int(snapshot.snapshot_id)


def _properties_of(snapshot: Any) -> Mapping[str, str]:
    """Return the properties of a snapshot."""
    return {} if snapshot is None or not snapshot.summary else snapshot.summary.additional_properties


def _is_held(table: Any, snapshot: int | None, records: pa.Table) -> bool:
    """Tell whether a snapshot still has the records; one whose files are gone is written anew."""
    try:
        return same_records(table.scan(snapshot_id=snapshot).to_arrow(), records)
    except Exception:  # noqa: BLE001 - each store has errors of its own
        return False


def _stage_alone(table: Any, records: pa.Table, noted: Mapping[str, str]) -> int:
    """Stage records, see `_stage`, and refuse a table whose current snapshot was changed meanwhile."""
    before, staged = _head(table), 0
    try:
        staged = _stage(table, records, noted)
    except Exception:
        if _head(table.refresh()) == before:
            raise
    if _head(table) != before:
        raise PublishError(_COLLISION)
    return staged


def _stage(table: Any, records: pa.Table, noted: Mapping[str, str]) -> int:
    """Write records into a snapshot that no reader of the table sees, in one commit; return its number."""
    from pyiceberg.table.update.snapshot import ManageSnapshots  # noqa: PLC0415

    marked = {**noted, _DELIVERY: uuid4().hex}
    change, before = table.transaction(), _head(table)
    if before is None:  # such a table has no branches; a snapshot of none is not seen, either
        change.append(records, snapshot_properties=marked, branch=None)
    else:
        if BRANCH in table.refs():  # of a delivery that died
            ManageSnapshots(change).remove_branch(BRANCH).commit()
        ManageSnapshots(change).create_branch(before, BRANCH).commit()
        change.overwrite(records, snapshot_properties=marked, branch=BRANCH)
    change.commit_transaction()
    own = [one for one in table.snapshots() if _properties_of(one).get(_DELIVERY) == marked[_DELIVERY]]
    return int(own[-1].snapshot_id)


def _make_current(table: Any, staged: int) -> None:
    """Show a snapshot to readers and remove the branch, in one commit, if the current one is the same."""
    change = table.manage_snapshots().set_current_snapshot(snapshot_id=staged)
    if BRANCH in table.refs():
        change = change.remove_branch(BRANCH)
    change.commit()


@contextmanager
def _refuse_collisions() -> Iterator[None]:
    """Name the error of a table that somebody else changed at the same time."""
    from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError  # noqa: PLC0415

    collided = False
    try:
        yield
    except (CommitFailedException, TableAlreadyExistsError):
        collided = True
    if collided:
        raise PublishError(_COLLISION)


def _other_columns() -> PublishError:
    return PublishError(
        f"{_KEY}.table: must have the columns of the release, with their types, got others. Readers would "
        f"see them change before the records do: drop the table, or name another one, and deliver again."
    )
