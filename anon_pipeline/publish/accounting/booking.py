"""The ledger's part in making and publishing a release: what is entered when, and what a crash leaves.

The ε of a draw is booked before there is noise, and stays spent. The row is begun before a byte is written,
closed after the manifest's rename.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

from anon_pipeline.base.errors import AnonPipelineError, GateRefused, InputError, PolicyError, PublishError
from anon_pipeline.ledger import Asked, Ledger, exact_text, ledger_at, requested_by
from anon_pipeline.ledger.draws import finished_draws, reopen
from anon_pipeline.ledger.fence import hold_fence
from anon_pipeline.ledger.kinds import refuse_another_kind, refuse_unless_of_kind
from anon_pipeline.ledger.recovery import unknown_releases
from anon_pipeline.ledger.requests import refuse_another, refuse_beyond_budget
from anon_pipeline.ledger.same_people import published_epsilon, uncompared_rows
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.locations import OFF, Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.accounting.memory_check import (
    manifests_of,
    refuse_unless_known,
    refuse_unless_remembered,
    release_ids_in,
)
from anon_pipeline.publish.post_rename_errors import Out, is_manifest_of, release_id_in
from anon_pipeline.publish.writer import Fence, read_manifest
from anon_pipeline.stages.facts.records import Facts, PerturbedFacts
from anon_pipeline.stages.history.in_ledger import NOTHING_IN_LEDGER, InLedger
from anon_pipeline.stages.history.memory import Memory

__all__ = ["Booking", "booking", "epsilon_in", "is_manifest_of", "release_id_in", "with_release_id"]


@dataclass(frozen=True, slots=True, eq=False)
class Booking:
    """One release and the ledger it is entered in; without a ledger nothing is entered.

    asked: what is entered, with the policy's whole ε.
    folder: the destination.
    ledger: None where the deployment keeps none.
    own_people: whether the source names the partition, so that each has people of its own.
    """

    asked: Asked
    folder: Path
    ledger: Ledger | None
    own_people: bool = False

    @property
    def noisy(self) -> bool:
        """Whether the policy adds noise: its ε is positive then."""
        return bool(Fraction(self.asked.epsilon))

    @property
    def root(self) -> Path:
        """The release's folder without its partition."""
        return self.folder if self.asked.partition is None else self.folder.parent

    def open(self) -> str | None:
        """Open a release without noise, after entering what a crash has left open.

        Returns:
            Its id; None without a ledger.
        """
        self.find()
        return None if self.ledger is None else self.ledger.open(self.asked)

    def book(self, release_id: str, asked: Asked, commitment: str) -> None:
        """Book a draw whose key is sealed, before it is used; without a ledger there is nothing to enter.

        Raises:
            GateRefused: beyond the budget.
            InputError: the ledger does not have what is out.
        """
        if self.ledger is not None:
            self.ledger.open(asked, release_id=release_id, draw=commitment)

    def again(self, release_id: str, asked: Asked, commitment: str) -> bool:
        """Tell whether a draw may be used again, and open its release; without a ledger it may."""
        return self.ledger is None or reopen(self.ledger, release_id, asked, commitment)

    def over(self, release_ids: Iterable[str]) -> frozenset[str]:
        """Return the draws that must not be used again; without a ledger none is known."""
        ids = tuple(release_ids)
        return frozenset() if self.ledger is None or not ids else finished_draws(self.ledger, ids)

    def is_unknown(self, release_id: str) -> bool:
        """Tell whether the ledger has never seen a draw; without a ledger none was."""
        return self.ledger is None or bool(unknown_releases(self.ledger, [release_id]))

    def id_of(self, draw: str) -> str | None:
        """Return the release id that a draw's table is marked with; None where no ledger knows it."""
        return None if self.ledger is None else draw

    def only_booked(self, memory: Memory) -> Memory:
        """Return the memory in which only what this ledger has booked can be published again for nothing.

        What was published while another ledger was in use, or none, for another dataset, or what a crash
        leaves in doubt, is booked when it is published again. Without a ledger all is as it was.
        """
        if self.ledger is None:
            return memory
        self.find()
        return memory.only_booked(self.ledger.tables(self.asked))

    def in_ledger(self, release_id: str | None) -> InLedger:
        """Return what the ledger has of releases but this one, for the gate."""
        if self.ledger is None:
            return NOTHING_IN_LEDGER
        same_columns = self.ledger.has_columns_elsewhere(self.asked)
        rows = uncompared_rows(self.ledger, self.asked, but=release_id, own_people=self.own_people)
        if not self.noisy:  # nothing adds up, and the ledger need not be held
            return InLedger(same_columns, rows=rows)
        return InLedger(same_columns, published_epsilon(self.ledger, self.asked, but=release_id), rows)

    def require_memory(self, memory: Memory) -> None:
        """Refuse a memory that does not know what the ledger has as published, see `memory_check`."""
        if self.ledger is not None:
            self.find()
            refuse_unless_remembered(self.ledger, self.asked, memory)

    def find(self) -> None:
        """Enter what the destination shows, if it can be read; refuse if the ledger lacks what is out.

        A destination that cannot be read shows nothing, so what is open stays so; `publish` refuses it.
        """
        if self.ledger is None:
            return
        with suppress(PublishError):
            self.ledger.enter_found(read_manifest(self.folder))
        self._refuse_unless_known(self.ledger)

    def _refuse_unless_known(self, ledger: Ledger) -> None:
        release = self.asked.release
        refuse_unless_known(ledger, release, release_ids_in(manifests_of(self.root, release)))

    def refuse_unbookable(self, *, fresh: bool) -> None:
        """Refuse a release that the ledger would not open now; nothing is entered.

        Args:
            fresh: whether its whole ε would be booked; sticky noise may cost less.
        Raises:
            GateRefused: beyond the budget.
            InputError: the ledger does not have what is out.
        """
        if self.ledger is None:
            return
        self._refuse_unless_known(self.ledger)
        if fresh:
            with self.ledger.page() as page:
                others, now = list(page.others("")), self.ledger.now()
                refuse_another_kind(others, self.asked, now=now)
                refuse_beyond_budget(others, self.asked, now=now)

    def request_for(self, epsilon: Fraction) -> Asked:
        """Return what is entered for a release that spends this ε."""
        return replace(self.asked, epsilon=exact_text(epsilon))

    def refuse_another(self, release_id: str | None, epsilon: Fraction) -> None:
        """Refuse noise that was booked for something else, such as another policy, before it is judged.

        Raises:
            GateRefused: naming what differs.
        """
        if self.ledger is None or release_id is None:
            return
        with self.ledger.page() as page:
            state = page.state(release_id)
        asked = self.request_for(epsilon)
        same = ("making", "partition", "epsilon")
        if state is None or any(getattr(state.last, name) != getattr(asked, name) for name in same):
            return  # tables of another policy or partition, or facts that say less: the gate says which
        refuse_another(state, asked)

    @contextmanager
    def fail_on_error(self, release_id: str | None) -> Iterator[None]:
        """Mark the release as failed if this work ends without its writing having begun."""
        try:
            yield
        except BaseException:
            self.enter_failed(release_id)
            raise

    def enter_failed(self, release_id: str | None) -> None:
        """Mark the release as failed, unless it was or may have been written. Its noise stays paid for.

        A ledger that cannot be reached now leaves the release open, which counts as spent.
        """
        if self.ledger is not None and release_id is not None:
            with suppress(AnonPipelineError):
                self.ledger.enter_failed(release_id)

    @contextmanager
    def writing(
        self, release_id: str | None, data_digest: str, epsilon: Fraction, *, rows_digest: str | None = None
    ) -> Iterator[Fence]:
        """Enter that a table is about to be written, then that it was, or that it was not.

        Args:
            release_id: that the release was opened under.
            epsilon: that the release was opened with.
            rows_digest: of the table's rows, whatever their order.
        Yields:
            What the rename of the manifest must be done in: it holds the ledger, see `fence.hold_fence`.
        Raises:
            GateRefused: the ledger does not let this release be written.
            PublishError: it is in place, and something failed after that, see `after_rename`.
        """
        if self.ledger is None or release_id is None:
            yield nullcontext
            return
        self.ledger.enter_found(read_manifest(self.folder))
        self.find()
        asked = self.request_for(epsilon)
        if asked != self.asked and not self.ledger.knows(release_id):
            raise GateRefused(
                f"the release spends ε = {asked.epsilon} of {self.asked.epsilon}, and this ledger has not "
                f"opened it: what it re-uses may be booked nowhere. Materialize perturbed again."
            )
        token = self.ledger.begin(release_id, asked, data_digest, rows_digest)
        out = Out(self.ledger, self.folder, release_id, data_digest, asked.epsilon)
        with out.name_release_in_errors():
            try:
                yield partial(hold_fence, self.ledger, release_id, token)
            except BaseException:
                self._settle(self.ledger, release_id, token)
                raise
            self.ledger.enter_published(release_id, data_digest)

    def _settle(self, ledger: Ledger, release_id: str, token: str) -> None:
        """Enter what the destination shows after writing failed; if that is unknown, the release stays open.

        It is failed only if nobody has begun to write it after us: he may still do it.
        """
        with suppress(AnonPipelineError):
            if is_manifest_of(self.folder, release_id):
                ledger.enter_found(read_manifest(self.folder))
            else:
                ledger.enter_failed(release_id, begun=True, token=token)


def booking(policy: Policy, locations: Locations, *, partition: str | None = None, run: str = "") -> Booking:
    """Open the deployment's ledger for a release.

    Args:
        locations: with the ledger's URL.
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
    return Booking(requested_by(policy, partition), folder, ledger, bool(policy.source.named_partitions()))


def epsilon_in(policy: Policy, facts: Facts) -> Fraction:
    """Return the ε that a release was opened with: the policy's whole ε unless its noise is sticky.

    Raises:
        InputError: the facts of a sticky release do not say.
    """
    if policy.perturb is None or policy.noise_epsilon is None:
        return Fraction(0)
    whole = exact_fraction(policy.noise_epsilon)
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
