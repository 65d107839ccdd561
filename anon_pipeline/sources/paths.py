"""Files and folders below the folder of sources."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.change_guard import files_in, refuse_changes
from anon_pipeline.sources.distinct import refuse_same_file
from anon_pipeline.sources.formats import file_portions, read_file, read_folder, refuse_folder
from anon_pipeline.sources.parquet_rows import files_of, read_rows
from anon_pipeline.sources.sealed_files import refuse_plain


def path_frame(policy: Policy, folder: Path, partition: str | None) -> Table:
    """Read the file or folder that ``source.path`` names; see `read_source`."""
    source = policy.source
    path = local_path(str(source.place), "source.path", folder, partition)
    refuses = partial(refuse_same_file, policy, folder=folder, partition=partition)
    if not _may_be_empty(policy):
        refuses()
    with refuse_changes(path):
        if source.encrypted:
            refuse_plain(path)
        if path.is_dir():
            table = read_folder(source.format, path.name, files_in(path), source.limits)
        else:
            table = read_file(source.format, path, source.options, source.limits, policy.numeric)
    if _may_be_empty(policy) and len(table):
        refuses()
    return table


def path_portions(policy: Policy, folder: Path) -> Iterator[pa.Table]:
    """Yield the records of the file or folder that ``source.path`` names; see `portions`."""
    source = policy.source
    path = local_path(str(source.place), "source.path", folder, None)
    with refuse_changes(path):
        if source.encrypted:
            refuse_plain(path)
        if path.is_dir():
            refuse_folder(source.format, path.name)
            yield from read_rows(path.name, files_of(path).items(), source.limits)
        else:
            yield from file_portions(source.format, path, source.options, source.limits, policy.numeric)


def _may_be_empty(policy: Policy) -> bool:
    """Tell whether a source may have no records: nobody may arrive in a partition of a stream."""
    return isinstance(policy, Policy) and policy.stream is not None


def local_path(named: str, key: str, folder: Path, partition: str | None) -> Path:
    """Return where a path of the policy leads.

    Args:
        key: of the policy, for messages.
    Raises:
        InputError: nothing is there.
    """
    path = folder / filled_in(named, partition)
    if not path.exists():
        raise InputError(
            f"{key}: there must be a file {path.name}, got none. "
            f"Its path is relative to the project (--project) or to ANON_PIPELINE_SOURCES."
        )
    return path


def filled_in(text: str, partition: str | None) -> str:
    """Return a path or URL of this partition."""
    return text if partition is None else text.replace("{partition}", plain_partition(partition))
