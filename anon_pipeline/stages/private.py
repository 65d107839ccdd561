"""What goes from stage to stage: a private table with its facts, and what else the stages need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.observer import Observer, ignore
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.perturb.entropy import Entropy
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts.records import StageFacts, with_facts
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.lineage import STAGES as STAGES  # noqa: PLC0414 - for those who import it from here
from anon_pipeline.stages.lineage import Lineage, Where


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the noise of a release is made with.

    key: of all its noise.
    release_id: under which the ledger has booked it; None without a ledger.
    """

    key: NoiseKey
    release_id: str | None = None


Opens = Callable[[Fraction, str], Drawn]
"""Called before there is noise, with the ε to be spent and the digest of all that the noise is added to.

Finds or makes the draw, see `publish.draws.draw_keys`, or raises.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Staged:
    """What a stage returns: a private table, the facts of all stages so far, and what it was made from.

    lineage: private; None where it is not known, which the gate refuses.
    """

    frame: Table = field(repr=False)
    facts: Mapping[str, Mapping[str, Any]]
    lineage: Lineage | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """What the stages need in addition to policy and data.

    hierarchies: folder of the hierarchy tables.
    key: for ``action: hash``; None where the policy hashes nothing.
    entropy: source of random words, of the operating system but in tests.
    opens: finds or makes the draw; None: a fresh key of ``entropy`` in each call, which nobody counts.
    memory: what was published before; None without ``record_key``.
    observe: called when a stage begins, and now and then with how far a search is.
    where: the tables belong; None: in memory, a release of one piece.
    """

    hierarchies: Path
    key: bytes | None = field(repr=False)
    entropy: Entropy
    opens: Opens | None = None
    memory: Memory | None = None
    observe: Observer = ignore
    where: Where | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """The private results that the gate needs: the table after recoding, and the one to be released."""

    k_anonymized: Staged
    suppressed: Staged


def stage_result(policy: Policy, before: Staged, frame: Table, facts: StageFacts) -> Staged:
    """Return a stage's table with its facts and lineage appended to those of the previous stages."""
    return_freed_memory(len(frame))  # the digest needs memory of its own
    lineage = None if before.lineage is None else before.lineage.after(facts.stage, frame)
    return_freed_memory(len(frame))
    return Staged(frame, with_facts(before.facts, facts, made_by=policy.making), lineage)


def refuse_strangers(before: Staged, originals: Staged) -> None:
    """Refuse originals that a table was not made from; where lineage is not known the gate refuses."""
    mine, theirs = before.lineage, originals.lineage
    if mine is None or theirs is None:
        return
    if mine.where != theirs.where or dict(mine.tables) | dict(theirs.tables) != dict(mine.tables):
        raise InputError(
            "shuffled must be made from the table of k_anonymized that is there now, it was made from "
            "another one. Materialize perturbed again, and all that follows."
        )
