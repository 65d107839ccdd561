"""One kind of partition for a dataset whose budget is per record: days, weeks and the whole overlap. Pure.

A key that the policy lists is never a date, so that it is no day either.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.catalog.release_kinds import ReleaseKind
from anon_pipeline.catalog.releases import PARTITION_KINDS
from anon_pipeline.ledger.budget import Entry, is_in_window, window_of
from anon_pipeline.policy.model import Policy

if TYPE_CHECKING:
    from anon_pipeline.ledger.requests import Asked


NONE = "none"


def kind_of(policy: Policy) -> str:
    """Return the kind of a policy's partitions: none for a release of one piece."""
    return NONE if policy.schedule is None else policy.schedule.partitions or NONE


def account_name(kind: ReleaseKind, dataset: str) -> str:
    """Name the account of a dataset's releases of a kind with declared columns.

    It has a colon, which no policy can give: ε of these releases is never added to the ε of other kinds.
    """
    return f"{kind.name}:{dataset}"


def can_be_of_kind(kind: str, partition: str | None) -> bool:
    """Tell whether a partition's key can be one of a kind; a Monday is a day, too.

    >>> can_be_of_kind("weekly", "2026-01-05"), can_be_of_kind("weekly", "2026-01-06")
    (True, False)
    """
    if partition is None or kind == NONE:
        return partition is None and kind == NONE
    try:
        day = date.fromisoformat(partition)
    except ValueError:
        day = None
    if kind not in PARTITION_KINDS:
        return False
    begins = PARTITION_KINDS[kind].begins
    if begins is None or day is None:
        return begins is None and day is None
    return begins(day)


def refuse_unless_of_kind(policy: Policy, partition: str | None) -> None:
    """Refuse a release of no partition of its policy's kind, where the budget is per record."""
    if policy.budget is None or policy.budget.per != "record" or can_be_of_kind(kind_of(policy), partition):
        return
    raise InputError(
        f"budget.per: record needs a {kind_of(policy)} partition, as schedule.partitions says, got "
        f"{'none' if partition is None else 'a key of another kind'}. Name one (--partition)."
    )


def refuse_another_kind(others: Iterable[Entry], asked: Asked, *, now: datetime) -> None:
    """Refuse partitions of another kind than the dataset's, where the budget is per record.

    Args:
        others: all releases of the ledger but the one that asks.
    Raises:
        GateRefused: naming the kinds, and how many releases are of another.
    """
    budget = asked.budget
    if budget is None or budget.per != "record":
        return
    start, found = window_of(budget, now), list[str]()
    for entry in others:
        if entry.dataset == asked.dataset and entry.counts and is_in_window(entry, start):
            kind = _another(entry, asked)
            found += [] if kind is None else [kind]
    if found:
        raise GateRefused(
            f"budget.per: record (which divide writes, too) needs one kind of partition for the dataset "
            f"{asked.dataset}, got {asked.partition_kind} and, of releases that are out or open, "
            f"{', '.join(sorted(set(found)))} ({len(found)} in number; none: without partitions). Their "
            "records may be the same people, so ε cannot be counted for each record. Keep to one kind from "
            "the first release on; without divide, per: dataset counts all kinds. If these are other people, "
            "name another dataset."
        )


def _another(entry: Entry, asked: Asked) -> str | None:
    """Return the other kind of a release; None if it is of the same one, or nothing speaks against it.

    Of releases before version 4 of the ledger the kind is not known: their keys must fit.
    """
    one = NONE if entry.partition is None else entry.partition_kind
    wanted = NONE if asked.partition is None else asked.partition_kind
    if one is not None and wanted is not None:
        return None if one == wanted else one
    if one is None and wanted is not None:
        return None if can_be_of_kind(wanted, entry.partition) else "an unknown kind"
    if one is not None and not can_be_of_kind(one, asked.partition):
        return one
    return None
