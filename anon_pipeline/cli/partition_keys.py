"""Which partitions of a schedule a command is about: one of them, or all from one to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anon_pipeline.policy import Policy

_TO = "..."


def check_partition(policy: Policy, partition: str | None) -> None:
    """Refuse a partition key that the policy's schedule does not have, and none where it has partitions."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    partitioned = policy.schedule is not None and policy.schedule.partitions is not None
    if not partitioned and partition is None:
        return
    if not partitioned:
        raise InputError("--partition must be left out: the policy's schedule has no partitions")
    keys = _schedule_keys(policy)
    if partition not in keys:
        latest = keys[-1] if keys else None
        if partition is None:
            raise InputError(f"--partition must be given: the policy has partitions, such as {latest}")
        raise InputError(f"--partition must be one of the schedule's partitions, such as {latest}")


def partitions_between(policy: Policy, text: str) -> list[str]:
    """Return the keys of a schedule's partitions from one to another, both with it, in the order of time.

    Args:
        text: ``FIRST...LAST``, as Dagster writes a range.
    Raises:
        InputError: no such range, or the schedule has no such partitions.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    first, dots, last = text.partition(_TO)
    if policy.schedule is None or policy.schedule.partitions is None:
        raise InputError("--partitions must be left out: the policy's schedule has no partitions")
    known = _schedule_keys(policy)
    if not dots or first not in known or last not in known or known.index(first) > known.index(last):
        such = f"{known[0]}{_TO}{known[-1]}" if known else "none yet"
        raise InputError(
            f"--partitions must be FIRST{_TO}LAST of the schedule's partitions, the earlier one first, which "
            f"are {such}"
        )
    return known[known.index(first) : known.index(last) + 1]


def _schedule_keys(policy: Policy) -> list[str]:
    """Return the keys of the partitions that a schedule has by now; only periods of time need Dagster."""
    if policy.schedule is not None and policy.schedule.keys:
        return [*policy.schedule.keys]
    from anon_pipeline.orchestration.partitions import partitions_of  # noqa: PLC0415 - slow to import

    defined = partitions_of(policy)
    return [] if defined is None else [*defined.get_partition_keys()]
