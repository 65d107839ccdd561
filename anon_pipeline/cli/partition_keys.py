"""Which partitions of a schedule lie between two of them; for one see `check_partition` of the options."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anon_pipeline.policy import Policy

_TO = "..."


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
    from anon_pipeline.orchestration.partitions import partitions_of  # noqa: PLC0415

    keys = partitions_of(policy)
    known = [] if keys is None else list(keys.get_partition_keys())
    if not dots or first not in known or last not in known or known.index(first) > known.index(last):
        such = f"{known[0]}{_TO}{known[-1]}" if known else "none yet"
        raise InputError(
            f"--partitions must be FIRST{_TO}LAST of the schedule's partitions, the earlier one first, which "
            f"are {such}"
        )
    return known[known.index(first) : known.index(last) + 1]
