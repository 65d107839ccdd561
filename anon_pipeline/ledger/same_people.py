"""What releases of the same people add up to, where no budget says which of them to count."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from anon_pipeline.catalog.release_kinds import BUCKETIZED
from anon_pipeline.catalog.releases import group_of
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.budget import sum_spent
from anon_pipeline.ledger.chain import Event
from anon_pipeline.ledger.kinds import account_name
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.policy.sections import Budget


def all_of_the_people(asked: Asked) -> Budget:
    """Return a budget that counts all releases ever of the same dataset, and of the same partition."""
    per: Literal["record", "dataset"] = "dataset" if asked.partition is None else "record"
    return Budget(epsilon=1.0, per=per)


def published_epsilon(ledger: Ledger, asked: Asked, *, but: str | None) -> Fraction:
    """Return the ε of the releases of the same people that were ever published, with those withdrawn.

    Noise that was drawn and never published shows nobody anything, and does not count here.

    Args:
        but: release that is left out, such as the one that asks.
    Raises:
        InputError: the ledger cannot be read.
    """
    with ledger.page() as page:
        entries = [entry for entry in page.others(but or "") if entry.published_at is not None]
    counted = all_of_the_people(asked)
    now = ledger.now()
    return sum_spent(entries, counted, dataset=asked.dataset, partition=asked.partition, now=now).epsilon


def uncompared_rows(
    ledger: Ledger, asked: Asked, *, but: str | None, own_people: bool
) -> frozenset[str | None]:
    """Return the rows of releases of the dataset that nothing compares with what is asked.

    With a record key, releases of the same name that were made with one are compared with it, see
    `cross_release`. Bucketized releases, which show secrets as they are, have an account of their own.

    Args:
        but: id of the release that asks.
        own_people: whether partitions of one kind and group have different people: the source has one of its
            own for each. Those of another kind, or of another group, may have the same.
    Returns:
        Digests of rows; None where they are not known.
    """
    accounts = asked.dataset, account_name(BUCKETIZED, asked.dataset)
    return frozenset(
        event.rows_digest
        for event in ledger.published_in(accounts)
        if event.release_id != but
        and not _is_compared(event, asked)
        and not (own_people and _have_other_people(event, asked))
    )


def _is_compared(event: Event, asked: Asked) -> bool:
    """Tell whether a release is of those that are compared with what is asked, by the record key."""
    return None not in (asked.memory, event.memory) and event.release == asked.release


def _have_other_people(event: Event, asked: Asked) -> bool:
    """Tell whether two releases are of different partitions of one kind, and of one group (`group_of`)."""
    if event.partition is None or asked.partition is None or event.partition == asked.partition:
        return False
    same_kind = event.partition_kind == asked.partition_kind
    return same_kind and group_of(event.partition) == group_of(asked.partition)
