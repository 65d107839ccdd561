"""The order of the partitions of a stream, from their keys alone.

Listed partitions of different groups may hold the same records (`catalog.releases.group_of`), so each group
is a stream of its own.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from anon_pipeline.catalog.releases import PARTITION_KINDS, group_of
from anon_pipeline.policy.model import Policy

_LONGEST = 31  # days from the first of a partition to that of the next


def in_order(policy: Policy, partitions: Iterable[str]) -> list[str]:
    """Return partitions in the order of time, or of the policy's list; those that it does not list, first."""
    keys = () if policy.schedule is None else policy.schedule.keys
    places = {key: place for place, key in enumerate(keys)}
    return sorted(partitions, key=lambda key: (places.get(key, -1), key))


def same_stream(policy: Policy, partition: str, partitions: Iterable[str]) -> list[str]:
    """Return those partitions that are of the stream of one, in order."""
    listed = policy.schedule is not None and bool(policy.schedule.keys)
    ours = (key for key in partitions if not listed or group_of(key) == group_of(partition))
    return in_order(policy, ours)


def partition_before(policy: Policy, partition: str) -> str | None:
    """Return the partition before one; None: it is the first that its stream has.

    Args:
        partition: one of the schedule.
    """
    schedule = policy.schedule
    if schedule is None or schedule.partitions is None:
        return None
    begins = PARTITION_KINDS[schedule.partitions].begins
    if begins is None:
        keys = same_stream(policy, partition, schedule.keys)
        place = keys.index(partition)
        return keys[place - 1] if place else None
    day = datetime.date.fromisoformat(partition)
    earlier = (day - datetime.timedelta(days=back) for back in range(1, _LONGEST + 1))
    found = next(one for one in earlier if begins(one))
    return found.isoformat() if found >= schedule.start else None
