"""The ledger's part in making and publishing a release: what is entered when, and what a crash leaves.

The row is opened before noise is drawn, begun before a byte is written, closed after the manifest's rename.
Belongs here: bringing ledger, policy and destination together. Does not belong here: what may follow what
(`ledger`), writing releases (`writer`).
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from anon_pipeline.compose.memory import Memory
from anon_pipeline.errors import (
    AnonPipelineError,
    GateRefused,
    InputError,
    PolicyError,
    PublishError,
    private_stage,
)
from anon_pipeline.facts import Facts, PerturbedFacts
from anon_pipeline.ledger import Asked, Ledger, asked_by, exact_text, ledger_at
from anon_pipeline.ledger.fence import fenced
from anon_pipeline.ledger.kinds import refuse_unless_of_kind
from anon_pipeline.locations import OFF, Locations
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.remembering import (
    ids_in,
    manifests_of,
    refuse_unless_known,
    refuse_unless_remembered,
)
from anon_pipeline.publish.writer import Fence, read_manifest

__all__ = [
    "Booking",
    "Opening",
    "booking",
    "epsilon_in",
    "holds",
    "release_id_in",
    "with_release_id",
]


@dataclass(frozen=True, slots=True, eq=False)
class Booking:
    """One release and the ledger it is entered in; without a ledger nothing is entered.

    asked: what is entered, with the policy's whole ε.
    folder: the destination.
    ledger: None where the deployment keeps none.
    """

    asked: Asked
    folder: Path
    ledger: Ledger | None

    @property
    def root(self) -> Path:
        """The release's folder without its partition."""
        return self.folder if self.asked.partition is None else self.folder.parent

    def open(self, epsilon: Fraction) -> str | None:
        """Open the release before its noise is drawn, after entering what a crash has left open.

        A destination that cannot be read shows nothing, so what is open stays so; `publish` refuses it.

        Args:
            epsilon: that the release spends.
        Raises:
            GateRefused: beyond the budget.
            InputError: the ledger does not have what is out.
        """
        if self.ledger is None:
            return None
        self._find(self.ledger)
        return self.ledger.open(self._asking(epsilon))

    def counted(self, memory: Memory) -> Memory:
        """Return the memory in which only what this ledger has booked can be published again for nothing.

        What was published while another ledger was in use, or none, for another dataset, or what a crash
        leaves in doubt, is booked when it is published again. Without a ledger all is as it was.
        """
        if self.ledger is None:
            return memory
        self._find(self.ledger)
        return memory.booked_in(self.ledger.tables(self.asked))

    def remembered(self, memory: Memory) -> None:
        """Refuse a memory that does not know what the ledger has as published, see `remembering`."""
        if self.ledger is not None:
            self._find(self.ledger)
            refuse_unless_remembered(self.ledger, self.asked, memory)

    def _find(self, ledger: Ledger) -> None:
        """Enter what the destination shows, if it can be read; refuse if the ledger lacks what is out."""
        with suppress(PublishError):
            ledger.found(read_manifest(self.folder))
        release = self.asked.release
        refuse_unless_known(ledger, release, ids_in(manifests_of(self.root, release)))

    def _asking(self, epsilon: Fraction) -> Asked:
        return replace(self.asked, epsilon=exact_text(epsilon))

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
    def writing(self, release_id: str | None, data_digest: str, epsilon: Fraction) -> Iterator[Fence]:
        """Enter that a table is about to be written, then that it was, or that it was not.

        Args:
            release_id: that the release was opened under.
            data_digest: of the table.
            epsilon: that the release was opened with.
        Yields:
            What the rename of the manifest must be done in: it holds the ledger, see `fence.fenced`.
        Raises:
            GateRefused: the ledger does not let this release be written.
            InputError: the release went out after somebody had closed it: it is entered, and counts.
        """
        if self.ledger is None or release_id is None:
            yield nullcontext
            return
        self.ledger.found(read_manifest(self.folder))
        self._find(self.ledger)
        asked = self._asking(epsilon)
        if asked != self.asked and not self.ledger.knows(release_id):
            raise GateRefused(
                f"the release spends ε = {asked.epsilon} of {self.asked.epsilon}, and this ledger has not "
                f"opened it: what it re-uses may be booked nowhere. Materialize perturbed again."
            )
        token = self.ledger.begin(release_id, asked, data_digest)
        try:
            yield partial(fenced, self.ledger, release_id, token)
        except BaseException:
            self._settle(self.ledger, release_id, token)
            raise
        self.ledger.published(release_id, data_digest)

    def _settle(self, ledger: Ledger, release_id: str, token: str) -> None:
        """Enter what the destination shows after writing failed; if it cannot be told, it stays open.

        It is failed only if nobody has begun to write it after us: he may still do it.
        """
        with suppress(AnonPipelineError):
            if holds(self.folder, release_id):
                ledger.found(read_manifest(self.folder))
            else:
                ledger.failed(release_id, begun=True, token=token)


@dataclass(slots=True, eq=False)
class Opening:
    """A release that is opened in the ledger when its turn comes, and fails if its stages do."""

    booked: Booking
    release_id: str | None = None

    def __call__(self, epsilon: Fraction) -> str | None:
        """Open the release, see `Booking.open`."""
        with private_stage("ledger"):
            self.release_id = self.booked.open(epsilon)
        return self.release_id

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Mark the release as failed if this work ends after it was opened and before its writing began."""
        try:
            yield
        except BaseException:
            self.booked.failed(self.release_id)
            raise


def booking(policy: Policy, locations: Locations, *, partition: str | None = None, run: str = "") -> Booking:
    """Open the deployment's ledger for a release.

    Args:
        policy: of the release.
        locations: with the ledger's URL.
        partition: of a partitioned release.
        run: of the orchestrator, for the owner of the entries.
    Raises:
        PolicyError: the policy has a budget, and the deployment keeps no ledger.
        InputError: the ledger cannot be opened, or the budget is for partitions of another kind.
    """
    refuse_unless_of_kind(policy, partition)
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


def epsilon_in(policy: Policy, facts: Facts) -> Fraction:
    """Return the ε that a release was opened with: the policy's whole ε unless its noise is sticky.

    Raises:
        InputError: the facts of a sticky release do not say.
    """
    if policy.perturb is None:
        return Fraction(0)
    whole = exact_fraction(policy.perturb.epsilon)
    if policy.perturb.republish == "fresh":
        return whole
    composed = facts.get(PerturbedFacts.stage, {}).get("composition")
    said = composed.get("epsilon_spent") if isinstance(composed, dict) else None
    spent = Fraction(said) if isinstance(said, str) and _FRACTION.fullmatch(said) else None
    if spent is None or spent > whole:
        raise InputError(
            "the facts of a sticky release must say what ε it spends. Materialize perturbed again."
        )
    return spent


_FRACTION = re.compile(r"[0-9]{1,400}(/[1-9][0-9]{0,400})?")


def with_release_id(facts: Facts, *, ledger: Ledger | None) -> tuple[Facts, str | None]:
    """Return the facts with an id for the ledger, also where the noise was drawn without one."""
    found = release_id_in(facts)
    if ledger is None or found is not None:
        return facts, found
    new, stage = uuid.uuid4().hex, PerturbedFacts.stage
    return {**facts, stage: {**facts.get(stage, {}), "release_id": new}}, new
