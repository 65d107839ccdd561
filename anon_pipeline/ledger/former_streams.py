"""What a ledger tells of releases whose records have waited, where the vault does not keep it any more."""

from __future__ import annotations

import sqlalchemy as sa

from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.requests import STREAMED, Asked
from anon_pipeline.ledger.store import EVENTS


def published_partitions(ledger: Ledger, asked: Asked) -> set[str]:
    """Return the partitions of a release that were ever published, those withdrawn, too.

    Args:
        asked: the release, by its name and dataset.
    Raises:
        InputError: the ledger cannot be read.
    """
    wanted = sa.select(EVENTS.c.partition).where(*_publications(asked), EVENTS.c.partition.is_not(None))
    with ledger.store.reading() as connection:
        return {row.partition for row in connection.execute(wanted.distinct())}


def has_been_stream(ledger: Ledger, asked: Asked) -> bool:
    """Tell whether a partition of a release was published whose records could wait.

    Args:
        asked: the release, by its name and dataset.
    Raises:
        InputError: the ledger cannot be read.
    """
    streamed = sa.select(EVENTS.c.release_id).where(EVENTS.c.event == "opened", EVENTS.c.note == STREAMED)
    wanted = sa.select(EVENTS.c.seq).where(*_publications(asked), EVENTS.c.release_id.in_(streamed))
    with ledger.store.reading() as connection:
        return connection.execute(wanted.limit(1)).first() is not None


def _publications(asked: Asked) -> tuple[sa.ColumnElement[bool], ...]:
    columns = EVENTS.c
    return columns.event == "published", columns.dataset == asked.dataset, columns.release == asked.release
