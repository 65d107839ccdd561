"""A ledger or a memory that was lost: what is missing, and the events with which releases go on."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import replace

from anon_pipeline.ledger.asking import Asked
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.known import known_in
from anon_pipeline.ledger.page import all_trusted, page_in


def unknown(ledger: Ledger, release_ids: Iterable[str]) -> list[str]:
    """Return those of these releases that were never opened in a ledger."""
    with ledger.store.reading() as connection:
        return page_in(connection, ledger.store.shown).unknown(release_ids)


def datasets_of(ledger: Ledger, release_ids: Iterable[str]) -> dict[str, str]:
    """Return the dataset of each of these releases that the ledger knows."""
    with ledger.store.reading() as connection:
        page = page_in(connection, ledger.store.shown)
        found = {release_id: page.state(release_id) for release_id in release_ids}
    return {release_id: state.last.dataset for release_id, state in found.items() if state is not None}


def must_remember(ledger: Ledger, asked: Asked) -> dict[str, set[tuple[str, str | None]]]:
    """Return what the memory of a release must know, see `known.known_in`.

    Raises:
        InputError: the ledger has been tampered with.
    """
    with ledger.store.reading() as connection:
        return known_in(all_trusted(connection, ledger.store.shown), asked)


def adopt(ledger: Ledger, release_id: str, asked: Asked, data_digest: str) -> bool:
    """Enter as published a release that a ledger has never seen, whatever the budget: it is out.

    Returns:
        Whether it was entered; not if the ledger knows it.
    """
    with ledger.page() as page:
        if page.state(release_id) is not None:
            return False
        ledger.add(page, release_id, "published", asked, data_digest, note="adopted")
        return True


def forget(ledger: Ledger, asked: Asked) -> None:
    """Enter that the memory of a release is lost: it need not know what was published until now.

    Args:
        ledger: of the deployment.
        asked: the release, by its name and dataset. Its ε stays spent.
    """
    with ledger.page() as page:
        ledger.add(page, uuid.uuid4().hex, "forgotten", replace(asked, epsilon="0"))
