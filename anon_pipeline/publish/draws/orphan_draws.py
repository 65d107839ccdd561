"""Giving up a draw that this ledger does not know: its key is in the vault, and nothing is booked for it.

Another ledger may have booked it, this one may have been rolled back, or somebody may have put it there.
"""

from __future__ import annotations

from functools import partial

from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger import Ledger
from anon_pipeline.ledger.recovery import unknown_releases
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.draws.draw_keys import Draws, destroy_draw_key, draw_ids_in
from anon_pipeline.vault.artifacts import vault_of


def give_up_unbooked(ledger: Ledger, locations: Locations, beginning: str) -> str | None:
    """Destroy the key of a draw that the vault has and the ledger does not; nothing is entered.

    Args:
        locations: with the project and its vault.
        beginning: of its id.
    Returns:
        Its id; None if no such draw is in the vault.
    Raises:
        InputError: several ids begin so; the vault is another project's; or a run has booked the draw since.
    """
    opens = partial(vault_of, locations)
    store = opens().store
    found = {name: id_ for name, id_ in draw_ids_in(store).items() if id_.startswith(beginning)}
    ids = sorted(set(found.values()))
    if not ids:
        return None
    if len(ids) > 1:
        raise InputError(
            f"the beginning of an id must fit one draw of the vault, {beginning!r} fits {len(ids)}. Use more."
        )
    releases = sorted({name.partition("/")[0] for name in found})
    for release in releases:
        draws = Draws(release, None, locations.vault, opens, locations.project)
        with draws.alone():  # a run that has sealed a key books it before it lets go
            if not unknown_releases(ledger, ids):
                raise InputError(f"the ledger has booked the draw {ids[0]} since then. Run this again.")
            destroy_draw_key(store, ids[0], release=release)
    return ids[0]
