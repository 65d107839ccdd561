"""Who may still write a release: the token of the one who has begun it, and closing what was given up.

A token is the hash of a release's last event. Whoever writes a release presents it while holding the
ledger, and renames the manifest before letting go: so closing comes before that or after it, never in
between. The id of a release that was closed is never good again. Neither depends on the vault.

Decision: docs/adr/0033-the-ledger-knows.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.requests import is_over, requested_in


@contextmanager
def hold_fence(ledger: Ledger, release_id: str, token: str) -> Iterator[None]:
    """Hold the ledger against every other writer while a release is put at its destination.

    So nobody can close it, begin it anew or withdraw it between the look at its token and the rename.

    Args:
        token: what `Ledger.begin` returned.
    Raises:
        GateRefused: something has happened to the release since.
        InputError: the ledger cannot be reached, or does not know the release.
    """
    with ledger.page() as page:
        state = page.known_state(release_id)
        if state.last.hash != token:
            raise GateRefused(
                f"the release {release_id} changed while it was being written: it is {state.name} since "
                f"{state.last.at[:19]} (UTC). Nothing was published. Run the release again (in Dagster: "
                f"materialize perturbed again, and all that follows)."
            )
        yield


def close(
    ledger: Ledger, release_id: str, *, seen: str, there: Callable[[], bool], forced: bool = False
) -> None:
    """Enter that an open release, or a draw that has failed, was given up: its id is never good again.

    The ε of its noise stays spent, if the noise was drawn.

    Args:
        seen: hash of its last event, as the caller saw it.
        there: whether its destination holds it; asked while nobody can write it.
        forced: whether its owner may still be at work, as far as is known.
    Raises:
        InputError: something has happened to it since, or it is at its destination.
    """
    with ledger.page() as page:
        state = page.known_state(release_id)
        refused = state.last.event == "failed" and state.drawn_at is not None and not is_over(state)
        is_open = state.last.event == "opened" and not is_over(state)
        if state.last.hash != seen or not (is_open or refused):
            raise InputError(
                f"the release {release_id} changed since it was looked up, or is not open (state: "
                f"{state.name}). Run anon-pipeline ledger list."
            )
        if there():
            raise InputError(f"{release_id} is at its destination: close it as published")
        note = "closed by force" if forced else "closed"
        ledger.add(page, release_id, "failed", requested_in(state.last), note=note)
