"""A ledger or a memory that was lost: what is missing, and the events with which releases go on."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import replace

from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.page import open_page, read_all
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.ledger.required_memory import required_memory


def unknown_releases(ledger: Ledger, release_ids: Iterable[str]) -> list[str]:
    """Return those of these releases that were never opened in a ledger."""
    with ledger.store.reading() as connection:
        return open_page(connection, ledger.store.shown).unknown(release_ids)


def datasets_of(ledger: Ledger, release_ids: Iterable[str]) -> dict[str, str]:
    """Return the dataset of each of these releases that the ledger knows."""
    with ledger.store.reading() as connection:
        page = open_page(connection, ledger.store.shown)
        found = {release_id: page.state(release_id) for release_id in release_ids}
    return {release_id: state.last.dataset for release_id, state in found.items() if state is not None}


def must_remember(ledger: Ledger, asked: Asked) -> dict[str, set[tuple[str, str | None]]]:
    """Return what the memory of a release must know, see `required_memory`.

    Raises:
        InputError: the ledger has been tampered with.
    """
    with ledger.store.reading() as connection:
        return required_memory(read_all(connection, ledger.store.shown), asked)


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


def forget_memory(ledger: Ledger, asked: Asked) -> None:
    """Enter that the memory of a release is lost: it need not know what was published until now.

    Args:
        asked: the release, by its name and dataset. Its ε stays spent.
    """
    with ledger.page() as page:
        ledger.add(page, uuid.uuid4().hex, "forgotten", replace(asked, epsilon="0"))
