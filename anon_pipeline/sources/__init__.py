"""Where personal data comes from: files here and elsewhere, databases, or a generator."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.named import import_entry
from anon_pipeline.catalog.sources import SOURCES
from anon_pipeline.policy.model import Policy

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
    named = policy.source.named_partitions()
    if named and partition is None:
        key, mark = next(iter(named.items()))
        raise InputError(f"source.{key}: {mark} must be filled in, got no partition")
    reads = import_entry(SOURCES[policy.source.kind].reads)
    frame: pd.DataFrame = reads(policy, folder, partition)
    return frame
