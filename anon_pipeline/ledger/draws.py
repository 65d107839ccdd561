"""Draws that are there already: whether one may be used again, and opening its release for nothing."""

from __future__ import annotations

from collections.abc import Iterable

from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.page import read_all
from anon_pipeline.ledger.requests import Asked, is_over, refuse_another


def reopen(ledger: Ledger, release_id: str, asked: Asked, draw: str) -> bool:
    """Open the release of a draw again, for nothing, if it is booked, and not published or closed.

    All events are verified, not those of the step alone: what is found is not paid for again.

    Args:
        asked: as when it was opened.
    Returns:
        Whether it is live, and open now.
    Raises:
        GateRefused: opened for something else; or it had failed, and its ε is beyond the budget by now.
        InputError: the ledger has booked another draw under this id, or has been tampered with.
    """
    with ledger.page() as page:
        events = read_all(page.connection, ledger.store.shown)
        state = release_states(events).get(release_id)
        booked = [e.data_digest for e in events if (e.release_id, e.event) == (release_id, "drawn")]
        if state is None or is_over(state) or booked in ([], [None]):
            return False
        if booked != [draw]:
            raise InputError(
                f"the draw {release_id} in the vault must be the one that the ledger has booked: it is "
                f"another. Find out who can write to the vault, then: anon-pipeline ledger close "
                f"{release_id} --as failed."
            )
        refuse_another(state, asked)
        ledger.refuse_what_does_not_fit(page, release_id, asked)
        if state.begun is None:  # what another run is writing stays as it has begun it
            ledger.add(page, release_id, "opened", asked)
        return True


def finished_draws(ledger: Ledger, release_ids: Iterable[str]) -> frozenset[str]:
    """Return those of some draws that must not be used any more: published, withdrawn or closed.

    What this ledger does not know is none of them: another ledger may have booked it.
    """
    with ledger.page() as page:
        found = {release_id: page.state(release_id) for release_id in release_ids}
    return frozenset(name for name, state in found.items() if state is not None and is_over(state))
