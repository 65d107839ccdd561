"""The ledger's part in making and publishing a release: what is entered when, and what a crash leaves.

The row is opened before noise is drawn, begun before a byte is written, closed after the manifest's rename.
Belongs here: bringing ledger, policy and destination together. Does not belong here: what may follow what
(`ledger`), writing releases (`writer`).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_pipeline.errors import AnonPipelineError, PolicyError, PublishError
from anon_pipeline.facts import Facts, PerturbedFacts
from anon_pipeline.ledger import Asked, Ledger, asked_by, ledger_at
from anon_pipeline.locations import OFF, Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.writer import read_manifest

__all__ = ["Booking", "booking", "holds", "release_id_in", "with_release_id"]


@dataclass(frozen=True, slots=True, eq=False)
class Booking:
    """One release and the ledger it is entered in; without a ledger nothing is entered.

    asked: what is entered.
    folder: the destination.
    ledger: None where the deployment keeps none.
    """

    asked: Asked
    folder: Path
    ledger: Ledger | None

    def open(self) -> str | None:
        """Open the release before its noise is drawn, after entering what a crash has left open.

        A destination that cannot be read shows nothing, so what is open stays so; `publish` refuses it.

        Raises:
            GateRefused: beyond the budget.
        """
        if self.ledger is None:
            return None
        with suppress(PublishError):
            self.ledger.found(read_manifest(self.folder))
        return self.ledger.open(self.asked)

    @contextmanager
    def failing(self, release_id: str | None) -> Iterator[None]:
        """Mark the release as failed if this work ends without its writing having begun."""
        try:
            yield
        except BaseException:
            self.failed(release_id)
            raise

    def failed(self, release_id: str | None) -> None:
        """Mark the release as failed, unless it was or may have been written.

        A ledger that cannot be reached now leaves the release open, which counts as spent.
        """
        if self.ledger is not None and release_id is not None:
            with suppress(AnonPipelineError):
                self.ledger.failed(release_id)

    @contextmanager
    def writing(self, release_id: str | None, data_digest: str) -> Iterator[None]:
        """Enter that a table is about to be written, then that it was, or that it was not.

        Raises:
            GateRefused: the ledger does not let this release be written.
        """
        if self.ledger is None or release_id is None:
            yield
            return
        self.ledger.found(read_manifest(self.folder))
        self.ledger.begin(release_id, self.asked, data_digest)
        try:
            yield
        except BaseException:
            self._settle(self.ledger, release_id, data_digest)
            raise
        self.ledger.published(release_id, data_digest)

    def _settle(self, ledger: Ledger, release_id: str, data_digest: str) -> None:
        """Enter what the destination shows after writing failed; if it cannot be told, it stays open."""
        with suppress(AnonPipelineError):
            if holds(self.folder, release_id, data_digest):
                ledger.published(release_id, data_digest)
            else:
                ledger.failed(release_id, begun=True)


def booking(policy: Policy, locations: Locations, *, partition: str | None = None, run: str = "") -> Booking:
    """Open the deployment's ledger for a release.

    Args:
        policy: of the release.
        locations: with the ledger's URL.
        partition: of a partitioned release.
        run: of the orchestrator, for the owner of the entries.
    Raises:
        PolicyError: the policy has a budget, and the deployment keeps no ledger.
        InputError: the ledger cannot be opened.
    """
    folder = locations.release(policy, partition)
    if locations.ledger == OFF and policy.budget is not None:
        raise PolicyError("budget: needs the ledger, and ANON_PIPELINE_LEDGER is off. Leave one of them out.")
    ledger = None if locations.ledger == OFF else ledger_at(locations.ledger, run=run)
    return Booking(asked_by(policy, partition), folder, ledger)


def holds(folder: Path, release_id: str, data_digest: str | None = None) -> bool:
    """Tell whether the manifest at a destination is of this release, and of this table if one is named.

    Raises:
        PublishError: there is a manifest that cannot be read.
    """
    document = read_manifest(folder) or {}
    same = data_digest is None or document.get("data_digest") == data_digest
    return same and release_id_in(document.get("facts", {})) == release_id


def release_id_in(facts: Facts) -> str | None:
    """Return the id under which the ledger has opened the release that these facts are of."""
    found: Any = facts.get(PerturbedFacts.stage, {}).get("release_id")
    return found if isinstance(found, str) else None


def with_release_id(facts: Facts, *, ledger: Ledger | None) -> tuple[Facts, str | None]:
    """Return the facts with an id for the ledger, also where the noise was drawn without one."""
    found = release_id_in(facts)
    if ledger is None or found is not None:
        return facts, found
    new, stage = uuid.uuid4().hex, PerturbedFacts.stage
    return {**facts, stage: {**facts.get(stage, {}), "release_id": new}}, new
