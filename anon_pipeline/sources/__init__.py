"""Where personal data comes from: CSV, Parquet, or the generator of synthetic patients."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.named import import_entry
from anon_pipeline.catalog.sources import FORMATS, GENERATORS
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.distinct import refuse_same_file

__all__ = ["read_source"]


def read_source(policy: Policy, *, folder: Path = Path(), partition: str | None = None) -> pd.DataFrame:
    """Read the source that a policy names.

    Args:
        policy: its ``source`` section.
        folder: what ``source.path`` is relative to.
        partition: takes the place of ``{partition}`` in the path; shifts the seed of a generator.
    Returns:
        (n, columns) personal data.
    Raises:
        InputError: unreadable, empty, or malformed; or the file of another partition, see `distinct`.
    """
    source = policy.source
    if source.generate is not None:
        makes = import_entry(GENERATORS[source.generate].makes)
        made: pd.DataFrame = makes(source.records, seed=source.seed + _shift(partition))
        return made
    if "{partition}" in str(source.path) and partition is None:
        raise InputError("source.path: {partition} must be filled in, got no partition")
    named = str(source.path).replace("{partition}", plain_partition(partition) if partition else "")
    path = folder / named
    if not path.exists():
        raise InputError(
            f"source.path: there must be a file {path.name}, got none. "
            f"Its path is relative to the project (--project) or to ANON_PIPELINE_SOURCES."
        )
    refuse_same_file(policy, folder=folder, partition=partition)
    reads = import_entry(FORMATS[source.format].reads)
    frame: pd.DataFrame = reads(path, source.options, source.limits, policy.numeric)
    return frame


def _shift(partition: str | None) -> int:
    """Turn a partition key into a number, so that each partition generates other records."""
    return 0 if partition is None else int.from_bytes(partition.encode()[-10:], "big")
