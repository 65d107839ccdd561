"""The order of the partitions of a schedule, from their keys alone."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from anon_pipeline.catalog.releases import PARTITION_KINDS
from anon_pipeline.policy.model import Policy

_LONGEST = 31  # days from the first of a partition to that of the next


def in_order(policy: Policy, partitions: Iterable[str]) -> list[str]:
    """Return partitions in the order of time, or of the policy's list; those that it does not list, first."""
    keys = () if policy.schedule is None else policy.schedule.keys
    places = {key: place for place, key in enumerate(keys)}
    return sorted(partitions, key=lambda key: (places.get(key, -1), key))


def partition_before(policy: Policy, partition: str) -> str | None:
    """Return the partition before one; None: it is the first that the schedule has.

    Args:
        partition: one of the schedule.
    """
    schedule = policy.schedule
    if schedule is None or schedule.partitions is None:
        return None
    begins = PARTITION_KINDS[schedule.partitions].begins
    if begins is None:
        place = schedule.keys.index(partition)
        return schedule.keys[place - 1] if place else None
    day = datetime.date.fromisoformat(partition)
    earlier = (day - datetime.timedelta(days=back) for back in range(1, _LONGEST + 1))
    found = next(one for one in earlier if begins(one))
    return found.isoformat() if found >= schedule.start else None
