"""The names of tables that partitions are delivered to: each has one of its own."""

from __future__ import annotations

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.deliver import RECORDS
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.policy.model import Policy


def table_of_partition(policy: Policy, table: str, partition: str | None, *, key: str) -> str:
    """Return the name of the table for a partition: ``visits_2026_01_01``; without partitions that of all.

    Args:
        table: its name in the policy.
        key: of the policy, for messages.
    Raises:
        InputError: a key before this one in the policy's list leads to the same name, or the name is that of
            the table which says what others hold.
    """
    if partition is None:
        return table
    name = _name_for(table, partition)
    listed = list(() if policy.schedule is None else policy.schedule.keys)
    before = listed[: listed.index(partition)] if partition in listed else []
    same = next((one for one in before if _name_for(table, one).casefold() == name.casefold()), None)
    if same is not None:
        raise InputError(
            f"{key}: each partition must have a table of its own, got {name} for both {same} and "
            f"{partition}. The keys must differ in letters or digits: all other characters become _."
        )
    if name == RECORDS:
        raise InputError(f"{key}: must be a name other than {RECORDS}, also with the partition's key added")
    return name


def _name_for(table: str, partition: str) -> str:
    return f"{table}_{''.join(c if c.isalnum() else '_' for c in plain_partition(partition))}"
