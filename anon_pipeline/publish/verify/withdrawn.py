"""Whether the ledger of a project has a release as withdrawn: its files do not say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.ledger.chain import Event
from anon_pipeline.ledger.required_memory import named_by
from anon_pipeline.ledger.store import is_missing_file
from anon_pipeline.policy.locations import OFF
from anon_pipeline.publish.verify.old_warnings import Warned

WITHDRAWN: Final = "withdrawn-releases"
"""The section of `DOCUMENT` that explains the warning."""


def withdrawal_of(document: Mapping[str, Any], ledger: str) -> Event | None:
    """Return the event by which a ledger has a release as withdrawn; None: it has not, or the ledger is off.

    Args:
        document: the manifest.
        ledger: URL of the ledger, see `Locations.ledger`.
    Raises:
        InputError: the ledger cannot be read, or is not there.
    """
    release_id, _ = named_by(document)
    if release_id is None or ledger == OFF:
        return None
    own = ledger_at(ledger, make=False).events_of(release_id)
    return own[-1] if own and own[-1].event == "withdrawn" else None


def warn_if_withdrawn(document: Mapping[str, Any], ledger: str | None) -> Warned | None:
    """Return the warning that a release was withdrawn, or that nobody can tell; None: nothing is known.

    A ledger that is a file that is not there has nothing of this release: it may be another project's.

    Args:
        ledger: None: it is not asked.
    """
    if ledger is None:
        return None
    try:
        found = withdrawal_of(document, ledger)
    except InputError:
        gone = is_missing_file(ledger)
        text = "the ledger cannot be read, so nobody can tell whether it was withdrawn"
        return None if gone else Warned(WITHDRAWN, text)
    if found is None:
        return None
    return Warned(WITHDRAWN, f"it was withdrawn on {found.at[:10]}, as the ledger says: do not use it")
