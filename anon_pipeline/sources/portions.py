"""The records of a source some at a time, for tables that memory cannot hold.

Each kind of source, and each format of files, whose records can be read this way names a function of its own
(``portions``, see `catalog.entries`). It yields tables of Arrow, at least one, with the cells that
`read_source` would give. A first table without records has all columns. Types may
differ between tables where they are those of values and not of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from anon_pipeline.base.errors import PluginError, PolicyError
from anon_pipeline.catalog.entry_code import import_entry, is_plugin
from anon_pipeline.catalog.sources import FORMATS
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.source import SOURCES


def portions_problem(policy: Policy) -> str | None:
    """Return why a source cannot be read in portions; None: it can."""
    source = policy.source
    if not source.kind.portions:
        fits = ", ".join(kind.name for kind in SOURCES.values() if kind.portions)
        return f"source: must be one of {fits}, got {source.kind.name}"
    if source.named_partitions():
        return "source: must name no partition"
    form = FORMATS[source.format]
    if (source.kind.watched or source.kind.remote) and not form.portions:
        fits = ", ".join(one.name for one in FORMATS.values() if one.portions)
        return f"source.format: must be one of {fits}, got {form.name}"
    return None


def read_portions(policy: Policy, *, folder: Path) -> Iterator[pa.Table]:
    """Yield the records of the source that a policy names, some at a time.

    Args:
        folder: what ``source.path`` is relative to.
    Raises:
        PolicyError: see `portions_problem`.
        InputError: unreadable, malformed, or beyond a limit; perhaps after some records.
    """
    problem = portions_problem(policy)
    if problem is not None:
        raise PolicyError(problem)
    kind = policy.source.kind
    for table in import_entry(kind.portions)(policy, folder):
        if is_plugin(kind.portions) and not isinstance(table, pa.Table):
            raise PluginError(
                f"source.{kind.name}: the plugin must yield tables of Arrow, got {type(table).__name__}."
            )
        yield table
