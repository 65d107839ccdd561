"""What a release asks of the ledger, and why it is refused. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.ledger.budget import Entry, State, exact_text, sum_spent
from anon_pipeline.ledger.chain import Event, Kind
from anon_pipeline.ledger.kinds import kind_of
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.sections import Budget

STREAMED = "stream"
"""Note of an event ``opened``: the records of the release could wait for those of later partitions."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a release enters into the ledger: names, digests, numbers.

    epsilon: the exact text of what it spends, see `exact_text`.
    partition_kind: daily, weekly, monthly or none; None where it is not known.
    memory: the policy's ``record_key``, where it is made with a memory.
    source_columns: digest of the names of the source's columns, see `columns_digest`; None where they are
        not known.
    stream: whether its records may wait for those of later partitions.
    """

    dataset: str
    release: str
    partition: str | None
    policy_digest: str
    making: str
    k: int
    epsilon: str
    budget: Budget | None = None
    partition_kind: str | None = None
    memory: str | None = None
    source_columns: str | None = None
    stream: bool = False

    def note_of(self, kind: Kind) -> str | None:
        """Return the note of an event that nothing else is noted of."""
        return STREAMED if self.stream and kind == "opened" else None


def columns_digest(names: Iterable[str]) -> str:
    """Return the SHA-256 of the names of columns, in any order: sources with equal columns have the same."""
    return hashlib.sha256(json.dumps(sorted(names)).encode()).hexdigest()


def requested_by(policy: Policy, partition: str | None) -> Asked:
    """Return what a policy's release asks for: its whole ε."""
    epsilon = Fraction(0) if policy.noise_epsilon is None else exact_fraction(policy.noise_epsilon)
    return Asked(
        policy.dataset or policy.name,
        policy.name,
        partition,
        policy.digest,
        policy.making,
        policy.gate_k,
        exact_text(epsilon),
        policy.budget,
        kind_of(policy),
        policy.record_key,
        columns_digest(policy.columns),
        policy.stream is not None,
    )


def requested_in(event: Event) -> Asked:
    """Return what an event's release has asked for."""
    return Asked(
        event.dataset,
        event.release,
        event.partition,
        event.policy_digest,
        event.making,
        event.k,
        event.epsilon,
        partition_kind=event.partition_kind,
        memory=event.memory,
        source_columns=event.source_columns,
    )


def is_over(state: State) -> bool:
    """Tell whether a release's noise must not be used for another one: published once, or given up."""
    return state.published_at is not None or state.last.event == "withdrawn" or is_closed(state.last)


def refuse_another(state: State, asked: Asked) -> None:
    """Refuse to write what was withdrawn, closed, or opened for something else.

    Where there is noise, another policy is something else, whatever of it has changed: an author who may
    move a limit after looking at a refusal can choose what is accepted. It is the rule of `publish.draws`.

    Raises:
        GateRefused: naming what differs.
    """
    last = state.last
    if last.event == "withdrawn":
        raise GateRefused(f"the release {last.release_id} was withdrawn. Materialize perturbed again.")
    if is_closed(last):
        raise GateRefused(
            f"the release {last.release_id} was closed as failed on {last.at[:19]} (UTC), which is final. "
            f"Materialize perturbed again."
        )
    for name in ("dataset", "release", "partition", "making", "epsilon", "partition_kind"):
        older = name == "partition_kind" and last.partition_kind is None
        if getattr(last, name) != getattr(asked, name) and not older:
            raise GateRefused(
                f"the release {last.release_id} was opened in the ledger with another {name}. "
                f"Materialize perturbed again."
            )
    noisy = state.drawn_at is not None or bool(state.epsilon)
    if noisy and last.policy_digest != asked.policy_digest:
        raise GateRefused(
            f"the noise of the release {last.release_id} was drawn by another policy: a changed policy is "
            f"another draw. Set the policy back to what it was, or materialize perturbed again, which draws "
            f"anew and costs ε = {last.epsilon}."
        )


def refuse_other_rows(first: Event, data_digest: str, rows_digest: str | None) -> None:
    """Refuse to publish other rows under an id that is published: its ε has paid for one table.

    Their order may be another one. Where the rows were not entered (before version 4 of the ledger, adopted),
    the table must be the same.

    Args:
        first: of its events, the first that published it.
        rows_digest: of its rows, whatever their order; None where they are not known.
    Raises:
        GateRefused: they are others, or it cannot be known.
    """
    if None in (rows_digest, first.rows_digest):
        same = data_digest == first.data_digest
    else:
        same = rows_digest == first.rows_digest
    if not same:
        raise GateRefused(
            f"the release {first.release_id} must be published again with the rows that it was published "
            f"with, in any order: its ε has paid for one table, and this is another. Materialize perturbed "
            f"again, which draws anew and costs ε = {first.epsilon}."
        )


def is_closed(last: Event) -> bool:
    """Tell whether a release was closed as failed by somebody, which ends it for good.

    One that failed by itself (a refusal, a full disk) may be published after all, within its budget.
    """
    return last.event == "failed" and last.note is not None


def raise_if_late(state: State | None) -> None:
    """Raise if a release went out after it was called failed or withdrawn, which is entered by now.

    Args:
        state: that it had before; None if all is well.
    Raises:
        InputError: that it counts as published now.
    """
    if state is None:
        return
    last = state.last
    raise InputError(
        f"the release {last.release_id} is at its destination, though the ledger has had it as {last.event} "
        f"since {last.at[:19]} (UTC). It is out: it counts as published now, with ε = {last.epsilon}, also "
        f"beyond the budget. See anon-pipeline ledger list. The next run draws new noise: this costs ε again."
    )


def refuse_beyond_budget(others: Iterable[Entry], asked: Asked, *, now: datetime) -> None:
    """Refuse what would exceed the budget; say what is spent, requested and remaining.

    Args:
        others: all releases of the ledger but the one that asks, which is not counted against itself.
    Raises:
        GateRefused: beyond the budget.
    """
    budget, wanted, others = asked.budget, Fraction(asked.epsilon), list(others)
    if budget is None:
        return
    found = sum_spent(others, budget, dataset=asked.dataset, partition=asked.partition, now=now)
    limit = exact_fraction(budget.epsilon)
    if found.epsilon + wanted <= limit:
        return
    window = "" if budget.window is None else f" within {budget.window} days"
    lines = [
        f"budget: the releases of {asked.dataset} may spend ε = {exact_text(limit)} per {budget.per}"
        f"{window}: spent {exact_text(found.epsilon)}, requested {exact_text(wanted)}, "
        f"remaining {exact_text(max(limit - found.epsilon, Fraction(0)))}."
    ]
    own = [entry for entry in others if entry.partition == asked.partition]
    alone = sum_spent(own, budget, dataset=asked.dataset, partition=asked.partition, now=now).epsilon
    if budget.per == "record" and alone < found.epsilon:
        lines.append(
            f"{exact_text(found.epsilon - alone)} of this was spent by partitions of other groups or "
            "divisions, which may hold the same records (anon-pipeline ledger list)."
        )
    if found.open_releases:
        lines.append(
            f"{exact_text(found.open_epsilon)} of this is held by releases that are still open "
            f"({found.open_releases}). If nothing of them was written, run "
            f"anon-pipeline ledger close ID --as failed."
        )
    if found.unpublished:
        lines.append(
            f"{exact_text(found.unpublished_epsilon)} of this was spent on {found.unpublished} "
            f"draw{'s' * (found.unpublished != 1)} that {'were' if found.unpublished != 1 else 'was'} not "
            f"published. It stays spent. A run with the same data and policy uses such a draw again at no "
            f"cost while the vault holds its key: the next release published here deletes it, and so do "
            f"ledger close and vault purge."
        )
    raise GateRefused("\n".join(lines))
