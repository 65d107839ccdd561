"""Which tables were published under an id, by all of its events: one id stands for one table's rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.releases import group_of
from anon_pipeline.ledger.budget import is_listed
from anon_pipeline.ledger.chain import Event
from anon_pipeline.ledger.page import Page, read_all
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.policy.partition_names import can_be_listed


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of an id that is published.

    first: the event that published it first: its rows are those that its ε has paid for.
    last: the event that published it last.
    digests: of the tables that were published, or begun after the first was: these have its rows.
    """

    first: Event
    last: Event
    digests: frozenset[str]


def tables_of(page: Page, release_id: str) -> Tables:
    """Return the tables of an id that is published; all events are verified, not those of the step alone.

    Raises:
        InputError: the ledger has been tampered with.
    """
    events = [e for e in read_all(page.connection, page.shown) if e.release_id == release_id]
    published = [event for event in events if event.event == "published"]
    since = [e for e in events if e.seq >= published[0].seq and e.event in ("published", "opened")]
    digests = frozenset(e.data_digest for e in since if e.data_digest is not None)
    return Tables(published[0], published[-1], digests)


def paid_tables(events: Iterable[Event], asked: Asked) -> frozenset[tuple[str, str]]:
    """Return id and table's digest of what was published by releases that add up with what is asked.

    Args:
        events: of the ledger, verified.
        asked: its dataset, and its partition where the budget is per record.
    """
    alone = asked.budget is not None and asked.budget.per == "record"
    return frozenset(
        (event.release_id, event.data_digest)
        for event in events
        if event.event == "published"
        and event.data_digest is not None
        and event.dataset == asked.dataset
        and (not alone or _may_share_records(event, asked))
    )


def _may_share_records(event: Event, asked: Asked) -> bool:
    """Tell whether a release may be of records that another one is of, where the budget is per record."""
    if event.partition in (asked.partition, None):
        return True
    if asked.partition is None or not is_listed(event.partition_kind, event.partition):
        return False
    alike = group_of(event.partition) == group_of(asked.partition)
    return not (alike and can_be_listed(asked.partition))  # a period's key is in no group


def refuse_another_table(tables: Tables, data_digest: str) -> None:
    """Refuse a table at the destination that was neither published nor begun under its id."""
    if data_digest in tables.digests:
        return
    first = tables.first
    raise InputError(
        "the manifest at the destination must name a table that the ledger has published or begun under its "
        f"id; the table under {first.release_id} is a different one. The manifest was edited or exchanged, "
        "or the ledger was restored from a backup. Nothing was entered. Restore what was changed; if you "
        "cannot, move the manifest away. The ε was paid for the table with the data_digest "
        f"{first.data_digest}."
    )
