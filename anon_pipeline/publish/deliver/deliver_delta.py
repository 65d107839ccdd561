"""A Delta Lake table as a destination: a data file is put and read back, then one commit shows it.

Readers see what the log names: the release before, or this one. A dead run leaves a file that nothing names,
which a full vacuum removes.

Decision: docs/adr/0079-delta-tables.md.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.base.errors import InputError, PublishError, error_words
from anon_pipeline.catalog.extras import import_extra
from anon_pipeline.ledger.required_memory import named_by
from anon_pipeline.policy.locations import Locations, plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.deliver.deliver_urls import TRIED, UNWRITABLE, overlap
from anon_pipeline.publish.deliver.delivery import KEY, Parcel
from anon_pipeline.publish.deliver.delta_cells import delta_problem, delta_records
from anon_pipeline.publish.deliver.sql_cells import judged_frame
from anon_pipeline.publish.deliver.unfit_columns import Columns, columns_of, refuse_unfit
from anon_pipeline.sources.delta_places import DeltaPlace, store_place
from anon_pipeline.sources.paths import filled_in
from anon_pipeline.sources.urls import source_url

_LIBRARY = "deltalake"
_KEY = f"{KEY}.delta"
_FEATURES = frozenset({"timestampNtz", "appendOnly", "invariants", "vacuumProtocolCheck"})
"""Features of tables with which a data file can be added as it is."""
_WRITERS = (1, 2, 7)  # versions of the protocol; those between mean features that are not in the list
_START = datetime(1970, 1, 1, tzinfo=UTC)


def at_delta(policy: Policy, locations: Locations, partition: str | None) -> DeltaRelease:
    """Return the table that ``publish.deliver.delta`` names; each partition has one of its own below it.

    Raises:
        InputError: no such variable or library, another kind of URL, a place that is not for the release.
    """
    import_extra(_LIBRARY)
    named: Any = policy.publish.deliver and policy.publish.deliver.delta
    below = "" if partition is None else f"/{plain_partition(partition)}"
    if named.path is not None:
        folder = (locations.releases / f"{named.path}{below}").resolve()
        place = DeltaPlace(str(folder), f"{_KEY}.path", folder)
    else:
        found = store_place(named, _KEY, None)
        place = DeltaPlace(f"{found.uri}{below}", found.key)
    for name, private in _others(policy, locations, partition):
        if _touches(place, private):
            raise InputError(
                f"{place.key}: must be a place of the table alone, got one that holds or is in {name}"
            )
    app = f"anon-pipeline/{policy.name}{below}"
    return DeltaRelease(place, app, policy, partition)


def _touches(place: DeltaPlace, private: Path | str) -> bool:
    """Tell whether a table lies at a place, in it or around it."""
    if isinstance(private, str):
        return place.folder is None and overlap(place.uri, private)
    folder, other = place.folder, private.resolve()
    return folder is not None and (folder.is_relative_to(other) or other.is_relative_to(folder))


def _others(policy: Policy, locations: Locations, partition: str | None) -> Iterator[tuple[str, Path | str]]:
    """Yield the names and places of other things, as paths or URLs."""
    yield "the folder of the release", locations.release(policy)
    yield "the vault", locations.remote_vault or locations.vault
    section = policy.source.place
    local = policy.source.watched or getattr(section, "path", None)
    if local is not None:
        yield "the source", locations.sources / filled_in(local, partition)
    remote = source_url(policy) or getattr(section, "url", None)
    if remote is not None:
        yield "the source", filled_in(remote, partition)


@dataclass(frozen=True, slots=True)
class DeltaRelease:
    """A Delta Lake table that holds one release.

    app: under which the log keeps, also through checkpoints, when the release in the table was made: as the
        number of a transaction, in microseconds since 1970.
    """

    place: DeltaPlace
    app: str
    policy: Policy
    partition: str | None

    def ready(self) -> None:
        """Refuse a place that does not answer or may not be written, or a table of something else.

        In an object store, an object is put there, read back and removed.
        """
        self._open()
        folder = self.place.folder
        if folder is not None:
            above = next(one for one in (folder, *folder.parents) if one.exists())
            if not (above.is_dir() and os.access(above, os.W_OK | os.X_OK)):
                raise PublishError(f"{self.place.key}: the folder must be writable, or be able to be made")
            return
        with self._withhold_errors(UNWRITABLE):
            files = self.place.files()
            with files.open_output_stream(TRIED, buffer_size=1024) as file:  # without, it gives no bytes
                file.write(TRIED.encode())
            with files.open_input_file(TRIED) as file:
                file.readall()
        with suppress(PublishError), self._withhold_errors("it must be removable"):
            files.delete_file(TRIED)

    def refuse_unfit(self, columns: Columns) -> None:
        """Refuse types and values that the table cannot hold, see `delta_cells`."""
        names = refuse_unfit(self.place.key, columns, delta_problem).names
        if len({name.casefold() for name in names}) < len(names):
            raise PublishError(f"{self.place.key}: columns must differ in more than case")

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Tell whether the release in the table was made when a manifest says."""
        table = self._open()
        return table is not None and table.transaction_version(self.app) == _microseconds(document)

    def deliver(self, parcel: Parcel) -> None:
        """Put the data file, read it back, commit it in place of all others; nothing if it is there already.

        Raises:
            PublishError: readers see the release before; if the answer to the commit was lost, they may see
                this one, which is complete.
        """
        frame = judged_frame(parcel, self.policy)
        self.refuse_unfit(columns_of(frame))
        records = delta_records(frame)
        made = _microseconds(parcel.document)
        table = self._open()
        known = None if table is None else table.transaction_version(self.app)
        if known is not None and known > made:
            raise PublishError(
                f"{self.place.key}: must not hold a later release than the one that is delivered. Another "
                f"deployment has delivered there: give each a table of its own."
            )
        if known == made and self._holds(table, records):
            return
        action = self._write_file(records)
        if table is not None:
            table = self._allow_times(table, records)
        version = 0 if table is None else table.version() + 1
        self._commit(table, action, records, parcel)
        if not self._holds(self.place.open(version), records, only=action.path):
            raise PublishError(
                f"{self.place.key}: version {version} does not read back as the release. Restore the version "
                f"before it."
            )

    def _open(self) -> Any:
        """Open the newest version of the table; None: no table is there.

        Raises:
            PublishError: it was not delivered, or has partitions or features that the release would break.
        """
        try:
            table = self.place.open()
        except InputError as error:
            raise PublishError(error.problems) from None
        if table is None:
            return None
        with self._withhold_errors("the table must be readable"):
            protocol, parts = table.protocol(), table.metadata().partition_columns
            known = table.transaction_version(self.app)
        if known is None:
            raise PublishError(
                f"{self.place.key}: must be a table of the release {self.policy.name} alone, or not be "
                f"there, got one that was not delivered. Name another place, or remove the table yourself."
            )
        features = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
        if parts or features - _FEATURES or protocol.min_writer_version not in _WRITERS:
            raise PublishError(
                f"{self.place.key}: must be a table without partitions and without the features that were "
                f"added to it. Name another place, or remove the table yourself."
            )
        return table

    def _write_file(self, records: pa.Table) -> Any:
        """Put a data file that no reader sees yet, and read it back; return what the log will say of it."""
        name = f"part-00000-{uuid.uuid4()}.parquet"
        with self._withhold_errors("the data file must be written and read back"):
            if self.place.folder is not None:
                Path(self.place.folder).mkdir(parents=True, exist_ok=True)
            files = self.place.files()
            pq.write_table(records, name, filesystem=files)
            with files.open_input_file(name) as file:
                data = file.readall()
            with suppress(pa.ArrowException):
                if pq.read_table(io.BytesIO(data)).equals(records):
                    stats = json.dumps({"numRecords": len(records)})
                    add = import_module(f"{_LIBRARY}.transaction").AddAction
                    return add(name, len(data), {}, int(time.time() * 1000), True, stats)
            files.delete_file(name)
        raise PublishError(f"{self.place.key}: what was written does not read back the same")

    def _allow_times(self, table: Any, records: pa.Table) -> Any:
        """Let a table have times without a zone, a feature of its own, which a commit before brings."""
        features = table.protocol().writer_features or ()
        zoneless = any(pa.types.is_timestamp(one.type) and one.type.tz is None for one in records.schema)
        if not zoneless or "timestampNtz" in features:
            return table
        with self._withhold_errors("the table must take times without a zone"):
            feature = import_module(_LIBRARY).TableFeatures.TimestampWithoutTimezone
            table.alter.add_feature(feature, allow_protocol_versions_increase=True)
        return self._open()

    def _commit(self, table: Any, action: Any, records: pa.Table, parcel: Parcel) -> None:
        """Make the data file the only one, in one commit; no second try if another writer was first."""
        library = import_module(f"{_LIBRARY}.transaction")
        transaction = library.Transaction(self.app, _microseconds(parcel.document), None)
        how: dict[str, Any] = {
            "commit_properties": library.CommitProperties(
                {"userMetadata": self._commit_text(parcel)},
                max_commit_retries=0,
                app_transactions=[transaction],
            ),
            "post_commithook_properties": library.PostCommitHookProperties(cleanup_expired_logs=False),
        }
        schema = import_module(_LIBRARY).Schema.from_arrow(records.schema)
        said = "the release could not be committed, perhaps because another writer was first"
        with self._withhold_errors(said):
            if table is None:
                library.create_table_with_add_actions(
                    self.place.uri, schema, [action], storage_options=self.place.options, **how
                )
            else:
                table.create_write_transaction([action], "overwrite", schema, [], **how)

    def _commit_text(self, parcel: Parcel) -> str:
        """Return what the commit says of the release, for readers of the history."""
        document = parcel.document
        names = ("release", "data_digest", "made_at")
        own = {"partition": self.partition, "release_id": named_by(document)[0]}
        digest = hashlib.sha256(parcel.manifest).hexdigest()
        return json.dumps({**{name: document[name] for name in names}, **own, "manifest_sha256": digest})

    def _holds(self, table: Any, records: pa.Table, only: str | None = None) -> bool:
        """Tell whether a version of the table has one data file, and these records.

        Args:
            only: name that the file must have.
        """
        with self._withhold_errors("the table must be readable"):
            paths = pa.table(table.get_add_actions(flatten=False))["path"].to_pylist()
            if len(paths) != 1 or only not in (None, *paths):
                return False
            if pa.schema(table.schema().to_arrow()) != records.schema:
                return False
            found = pa.table(table.scan()).cast(records.schema)
            order = [(name, "ascending") for name in records.column_names]
            return bool(found.sort_by(order).equals(records.sort_by(order)))

    @contextmanager
    def _withhold_errors(self, said: str) -> Iterator[None]:
        """Withhold what the library says of errors, which quotes places and cells."""
        kind = ""
        try:
            yield
        except (InputError, PublishError):
            raise
        except Exception as error:  # noqa: BLE001 - parts of the library raise plain exceptions
            kind = error_words(error)
        if kind:
            raise PublishError(f"{self.place.key}: {said}: {kind}")


def _microseconds(document: Mapping[str, Any]) -> int:
    """Return when a release was made, since 1970.

    Raises:
        InputError: its manifest has no time with a zone.
    """
    with suppress(KeyError, ValueError, TypeError):
        made = datetime.fromisoformat(document["made_at"])
        return (made - _START) // timedelta(microseconds=1)
    raise InputError("manifest.json: must say when the release was made")
