"""Where personal data comes from: files here and elsewhere, databases, or a generator.

Decision: docs/adr/0055-sources-where-data-lies.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.base.errors import InputError, PluginError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.size_bounds import limit_error
from anon_pipeline.catalog.entry_code import import_entry, is_plugin
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.source import Sourced

__all__ = ["read_source"]


def read_source(policy: Sourced, *, folder: Path = Path(), partition: str | None = None) -> Table:
    """Read the source that a policy names.

    Args:
        policy: its ``source`` section.
        folder: what ``source.path`` is relative to.
        partition: takes the place of ``{partition}`` in the path; shifts the seed of a generator.
    Returns:
        (n, columns) personal data; a large table of Parquet is packed.
    Raises:
        InputError: unreadable, empty, or malformed; or the file of another partition, see `distinct`.
    """
    named = policy.source.named_partitions()
    if named and partition is None:
        key, mark = next(iter(named.items()))
        raise InputError(f"source.{key}: {mark} must be filled in, got no partition")
    kind = policy.source.kind
    frame: Any = import_entry(kind.reads)(policy, folder, partition)
    if is_plugin(kind.reads):
        _refuse_unfit(frame, f"source.{kind.name}", policy.source.limits)
    table: Table = frame
    return table


def _refuse_unfit(frame: Any, where: str, limits: Limits) -> None:
    """Refuse what a plugin read that is no table, or a larger one than the policy allows."""
    if not isinstance(frame, pd.DataFrame):
        raise PluginError(f"{where}: the plugin must read a table of pandas, got {type(frame).__name__}.")
    for limit, got in (("rows", len(frame)), ("columns", frame.shape[1])):
        if got > getattr(limits, limit):
            raise limit_error(where, limit, getattr(limits, limit), got=got)
