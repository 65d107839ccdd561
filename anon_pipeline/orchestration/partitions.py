"""The partitions of a release, and the one that a run is about.

Decision: docs/adr/0071-one-run-is-about-one-partition.md.
"""

from datetime import datetime, time
from zoneinfo import ZoneInfo

import dagster as dg

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.releases import PARTITION_KINDS
from anon_pipeline.policy.model import Policy


def partitions_of(policy: Policy) -> dg.PartitionsDefinition | None:
    """Return the partitions that a policy's schedule names: periods of time, or listed ones."""
    schedule = policy.schedule
    if schedule is None or schedule.partitions is None:
        return None
    kind = PARTITION_KINDS[schedule.partitions]
    defines = import_entry(kind.definition)
    if kind.listed:
        listed: dg.PartitionsDefinition = defines(list(schedule.keys))
        return listed
    start = datetime.combine(schedule.start, time(), ZoneInfo(schedule.timezone))
    defined: dg.PartitionsDefinition = defines(start_date=start, timezone=schedule.timezone, **kind.options)
    return defined


def partition_of_run(
    context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext,
    partitions: dg.PartitionsDefinition | None,
) -> str | None:
    """Return the partition that a run is about; None for a release of one piece.

    Dagster runs with any key that a tag names (`dagster job execute --tags`), and maps it to a neighbor's.

    Raises:
        InputError: several partitions in one run, none, or a key that the schedule does not have.
    """
    if partitions is None:
        return None
    run = context.op_execution_context
    if not run.has_partition_key or run.has_partition_key_range:
        raise InputError(
            "a run must be about one partition of the schedule: choose one, or a backfill of single runs"
        )
    key = str(run.partition_key)
    if not partitions.has_partition_key(key):
        raise InputError(
            f"the partition must be one of the schedule's, such as {partitions.get_last_partition_key()}"
        )
    return key
