"""What a stage says about its work: counts, levels, scales, losses; never a value of the data.

Each field declares who sees it (`base.audience`): the vault keeps all of them, a manifest the public ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from anon_pipeline.base.audience import CURATORS, FILE, POLICY, RUN, Audience, Number, number_field

Facts = Mapping[str, Mapping[str, Any]]
"""Facts of every stage so far, by the stage's name; JSON types only."""

COUNTED = Number(
    ("originals",),
    Audience.PUBLIC,
    "readers must know first how many people a release is about. How many came in does not depend on the "
    "content of a record; how many are left out follows from that and from the released file, and depends on "
    "values as the released file does. An attacker who knows the number of all other people learns whether a "
    "person is in the input",
)
"""How many records came in, and what follows from that and from the released file."""
COMPOSED = Number(
    ("history",),
    Audience.PUBLIC,
    "readers and ledger add up what all releases reveal together. It says how many releases there were, and "
    "whether any value has changed since, of no person which",
)
NOISE_NUMBERS: Mapping[str, Number] = {
    **dict.fromkeys(("mechanism", "epsilon", "delta", "sensitivity", "resolution", "amount"), POLICY),
    **dict.fromkeys(("values", "least_kept", "most_kept", "mean_distance"), POLICY),
    **dict.fromkeys(("classes_without_noise", "mean_scale", "expected_relative_error"), CURATORS),
}
"""What facts say of each perturb column."""
COMPOSITION_NUMBERS: Mapping[str, Number] = {
    **dict.fromkeys(("releases_before", "epsilon_spent"), COMPOSED),
    **dict.fromkeys(("values_reused", "values_drawn"), Number(("originals", "history"))),
}
"""What facts say of earlier releases."""


@dataclass(frozen=True, slots=True)
class RawFacts:
    """What came in.

    repeated: columns whose values look like those of people with several records, see
        `stages.repeated_people`.
    value_maps: digests of the files of value maps, by column.
    """

    stage: ClassVar[str] = "raw"
    records: int = field(metadata=number_field(COUNTED))
    columns: int = field(metadata=number_field(POLICY))
    incomplete_records: int = field(metadata=number_field(CURATORS))
    repeated: tuple[str, ...] = field(default=(), metadata=number_field(CURATORS))
    value_maps: dict[str, str] = field(default_factory=dict, metadata=number_field(CURATORS))


@dataclass(frozen=True, slots=True)
class DeidentifiedFacts:
    """What happened to direct identifiers, by column name, and to people with several records.

    people: with a record; None without ``person``.
    excess_records: records beyond ``rows_per_person``, which were left out.
    following: released columns whose equal values mark one person's records, `evidence.released_columns`.
    holding: released columns in which values of an identifier stand, and which one: `held_identifiers`.
    listing: columns whose hierarchy has labels that list rare members: `evidence.listing_labels`.
    clipped: share of the values of each bounded column that its bounds replace: `evidence.clipped_values`.
    """

    stage: ClassVar[str] = "deidentified"
    dropped: tuple[str, ...] = field(metadata=number_field(POLICY))
    masked: tuple[str, ...] = field(metadata=number_field(POLICY))
    hashed: tuple[str, ...] = field(metadata=number_field(POLICY))
    people: int | None = field(default=None, metadata=number_field(COUNTED))
    excess_records: int = field(default=0, metadata=number_field(COUNTED))
    following: tuple[str, ...] = field(default=(), metadata=number_field(CURATORS))
    holding: dict[str, str] = field(default_factory=dict, metadata=number_field(CURATORS))
    listing: tuple[str, ...] = field(default=(), metadata=number_field(CURATORS))
    clipped: dict[str, float] = field(default_factory=dict, metadata=number_field(CURATORS))


@dataclass(frozen=True, slots=True)
class KAnonymizedFacts:
    """The recoding: what it chose, lost and suppressed.

    smallest_class: in records; in people with ``person``.
    suppressed_cells: in records that are released; they are at the top, whatever ``levels`` says.
    equal_distance: generalize columns without a hierarchy, whose values were taken as equally far apart.
    sse: mean squared distance of a microaggregated cell from its original, in [0, 1]; else None.
    telling: columns whose originals released columns reveal, and which ones: `evidence.told_originals`.
    lost: columns with a category that was suppressed as a whole: `evidence.lost_values`.
    """

    stage: ClassVar[str] = "k_anonymized"
    recoder: str = field(metadata=number_field(POLICY))
    k: int = field(metadata=number_field(POLICY))
    smallest_class: int = field(metadata=number_field(CURATORS))
    classes: int = field(metadata=number_field(CURATORS))
    levels: dict[str, int] | None = field(metadata=number_field(FILE))
    hierarchies: dict[str, str] = field(metadata=number_field(CURATORS))
    loss: str = field(metadata=number_field(POLICY))
    information_loss: float = field(metadata=number_field(CURATORS))
    suppressed_incomplete: int = field(metadata=number_field(CURATORS))
    suppressed_by_recoding: int = field(metadata=number_field(CURATORS))
    suppressed_cells: int = field(metadata=number_field(CURATORS))
    suppression_limit: float = field(metadata=number_field(POLICY))
    nodes_checked: int = field(metadata=number_field(CURATORS))
    equal_distance: tuple[str, ...] = field(default=(), metadata=number_field(POLICY))
    sse: float | None = field(default=None, metadata=number_field(CURATORS))
    telling: dict[str, str | list[str]] = field(default_factory=dict, metadata=number_field(CURATORS))
    lost: tuple[str, ...] = field(default=(), metadata=number_field(CURATORS))


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
    passed_through: bool = field(metadata=number_field(POLICY))
    epsilon: float | None = field(metadata=number_field(POLICY))
    mechanism: str | None = field(metadata=number_field(POLICY))
    columns: dict[str, dict[str, str | float | int | None]] = field(metadata=number_field(NOISE_NUMBERS))
    seeded: bool = field(metadata=number_field(RUN))
    republish: str = field(metadata=number_field(POLICY))
    composition: dict[str, Any] | None = field(metadata=number_field(COMPOSITION_NUMBERS))
    release_id: str | None = field(default=None, metadata=number_field(RUN))


@dataclass(frozen=True, slots=True)
class ShuffledFacts:
    """The order: how many records were permuted."""

    stage: ClassVar[str] = "shuffled"
    records: int = field(metadata=number_field(CURATORS))
    seeded: bool = field(metadata=number_field(RUN))


@dataclass(frozen=True, slots=True)
class SuppressedFacts:
    """What confidence-based suppression and the class limits took out.

    released_people: with a released record; None without ``person``.
    people_with_gaps: of whom at least one record was suppressed, by whatever stage; None without ``person``.
    """

    stage: ClassVar[str] = "suppressed"
    passed_through: bool = field(metadata=number_field(POLICY))
    confidence: float | None = field(metadata=number_field(POLICY))
    released: int = field(metadata=number_field(FILE))
    classes: int = field(metadata=number_field(FILE))
    suppressed_unconfident: int = field(metadata=number_field(CURATORS))
    suppressed_small_classes: int = field(metadata=number_field(CURATORS))
    suppressed_by_limit: dict[str, int] = field(metadata=number_field(CURATORS))
    suppressed_in_all: int = field(metadata=number_field(COUNTED))
    released_people: int | None = field(default=None, metadata=number_field(COUNTED))
    people_with_gaps: int | None = field(default=None, metadata=number_field(COUNTED))


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
