"""What a stage says about its work: counts, levels, scales, losses; never a value of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

Facts = Mapping[str, Mapping[str, Any]]
"""Facts of every stage so far, by the stage's name; JSON types only."""


@dataclass(frozen=True, slots=True)
class RawFacts:
    """What came in."""

    stage: ClassVar[str] = "raw"
    records: int
    columns: int
    incomplete_records: int


@dataclass(frozen=True, slots=True)
class DeidentifiedFacts:
    """What happened to direct identifiers, by column name."""

    stage: ClassVar[str] = "deidentified"
    dropped: tuple[str, ...]
    masked: tuple[str, ...]
    hashed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KAnonymizedFacts:
    """The recoding: what it chose, lost and suppressed.

    suppressed_cells: in records that are released; they are at the top, whatever ``levels`` says.
    equal_distance: generalize columns without a hierarchy, whose values were taken as equally far apart.
    sse: mean squared distance of a microaggregated cell from its original, in [0, 1]; else None.
    """

    stage: ClassVar[str] = "k_anonymized"
    recoder: str
    k: int
    smallest_class: int
    classes: int
    levels: dict[str, int] | None
    hierarchies: dict[str, str]
    loss: str
    information_loss: float
    suppressed_incomplete: int
    suppressed_by_recoding: int
    suppressed_cells: int
    suppression_limit: float
    nodes_checked: int
    equal_distance: tuple[str, ...] = ()
    sse: float | None = None


@dataclass(frozen=True, slots=True)
class PerturbedFacts:
    """The noise: its budget, its scale, its error as expected before any is drawn.

    mechanism: of columns with numbers that name none themselves; None without numbers.
    composition: None without ``record_key``; else ``releases_before``, ``values_reused``, ``values_drawn``
    and ``epsilon_spent``: the largest ε that a record spends here, as the exact text of a fraction; what is
    re-used and was not booked counts as spent.
    release_id: under which the ledger has opened this release; None without a ledger.
    """

    stage: ClassVar[str] = "perturbed"
    passed_through: bool
    epsilon: float | None
    mechanism: str | None
    columns: dict[str, dict[str, str | float | int | None]]
    seeded: bool
    republish: str
    composition: dict[str, Any] | None
    release_id: str | None = None


@dataclass(frozen=True, slots=True)
class ShuffledFacts:
    """The order: how many records were permuted."""

    stage: ClassVar[str] = "shuffled"
    records: int
    seeded: bool


@dataclass(frozen=True, slots=True)
class SuppressedFacts:
    """What confidence-based suppression and the class limits took out."""

    stage: ClassVar[str] = "suppressed"
    passed_through: bool
    confidence: float | None
    released: int
    classes: int
    suppressed_unconfident: int
    suppressed_small_classes: int
    suppressed_by_limit: dict[str, int]
    suppressed_in_all: int


StageFacts = (
    RawFacts | DeidentifiedFacts | KAnonymizedFacts | PerturbedFacts | ShuffledFacts | SuppressedFacts
)


def with_facts(before: Facts, facts: StageFacts, *, made_by: str) -> dict[str, dict[str, Any]]:
    """Add one stage's facts to those before it.

    Args:
        before: facts of the stages before.
        made_by: digest of the policy's sections that decide what the tables are (`Policy.making`).
    """
    kept = {stage: dict(values) for stage, values in before.items()}
    return {**kept, facts.stage: {**asdict(facts), "made_by": made_by}}
