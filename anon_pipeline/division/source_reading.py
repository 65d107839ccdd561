"""The source of a division is read twice, in one order: as it is, or as a copy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from anon_pipeline.base.errors import private_stage
from anon_pipeline.base.headers import refuse_names
from anon_pipeline.base.observer import Observer, Step
from anon_pipeline.division.copied_records import copy_limits, copy_records
from anon_pipeline.division.part_files import hold_part_folder
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.change_guard import refuse_changes
from anon_pipeline.sources.parquet_rows import files_of, read_rows, read_schema_of
from anon_pipeline.sources.portions import read_portions
from anon_pipeline.sources.sealed_files import refuse_plain
from anon_pipeline.vault.crypto import VaultKey


@dataclass(frozen=True, slots=True)
class Places:
    """Where a division is read and written.

    source: the file or folder here that is divided; None: the source is elsewhere.
    folder: of the partitions' files; ``inside``: its path below the folder of sources.
    policy: file of the partitions' policy.
    """

    source: Path | None
    folder: Path
    inside: str
    policy: Path


@dataclass(frozen=True, slots=True)
class Source:
    """What is read twice: a Parquet file, or a folder of such files.

    copied: whether it is a copy, in the folder of the partitions, which is held.
    """

    path: Path
    limits: Limits
    copied: bool

    def rows(self) -> Iterator[pa.Table]:
        """Yield the records, some at a time."""
        return read_rows(self.path.name, files_of(self.path).items(), self.limits)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reading of a source needs.

    folder: of the sources.
    key: encrypts a copy; None: it is not encrypted.
    """

    policy: Policy
    folder: Path
    places: Places
    key: VaultKey | None = field(repr=False)
    observe: Observer


@contextmanager
def read_twice(reading: Reading, held: ExitStack) -> Iterator[Source]:
    """Let the source be read twice, in one order: as it is if it is Parquet files here, else as a copy.

    Args:
        held: gets the folder of the partitions, if a copy is made there.
    Raises:
        InputError: the source cannot be read, changes, or has columns that the policy does not declare.
    """
    policy, places = reading.policy, reading.places
    source = policy.source
    with ExitStack() as stack, private_stage("divide"):
        if places.source is not None and source.format == "parquet":
            found = Source(places.source, source.limits, copied=False)
            stack.enter_context(refuse_changes(found.path))
            if source.encrypted:
                refuse_plain(found.path)
        else:
            held.enter_context(hold_part_folder(places.folder, places.policy))
            reading.observe(Step("copying the source"))
            portions = _with_known_columns(read_portions(policy, folder=reading.folder), policy)
            known = list(policy.columns)
            copied = copy_records(portions, places.folder, source.limits, known=known, key=reading.key)
            found = Source(stack.enter_context(copied), copy_limits(source.limits), copied=True)
        schema = read_schema_of(found.path.name, files_of(found.path), found.limits)
        refuse_names(schema.names, list(policy.columns))
        yield found


def _with_known_columns(portions: Iterator[pa.Table], policy: Policy) -> Iterator[pa.Table]:
    """Refuse columns that the policy does not declare before records are copied, if the source names them."""
    for table in portions:
        if table.num_columns and not len(table):
            refuse_names(table.schema.names, list(policy.columns))
        yield table
