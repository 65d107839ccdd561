"""The expectations by name: which arguments they take on any table; limits have theirs by `limits.table`.

An argument is described where it is declared. Each result has ``observed_value``, what the gate measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from anon_pipeline.gate.great_expectations.arguments import Confidence, Count, Name, Names, Positives, Share
from anon_pipeline.gate.great_expectations.base import ReleaseExpectation, needed, optional
from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.meanings import meaning_of
from anon_pipeline.limits.sizes import POPULATION_RISKS
from anon_pipeline.limits.table import LIMITS

_Distance = Literal["ordered", "equal", "hierarchical"]
if TYPE_CHECKING:
    Risk = str
else:
    Risk = Literal[tuple(POPULATION_RISKS)]


class _InClasses(ReleaseExpectation):
    quasi_identifiers: Names = needed("Generalized columns; equal values, missing ones too, are a class.")


class _OfColumn(_InClasses):
    column: Name = needed("The sensitive column.")
    distance: _Distance | None = optional(
        "Ordered for numbers, or texts in order; equal (default) for nominal values; hierarchical."
    )
    order: list[str] | None = optional("Every value of ordered texts, lowest first.")
    hierarchy: dict[str, Any] | None = optional("For the distance hierarchical, as in a policy.")


class _Released(ReleaseExpectation):
    released_columns: Names = needed("Perturb columns as released.")
    resolutions: Positives = needed("Grid of each column, in its unit.")


class _BesideOriginals(_Released):
    original_columns: Names = needed("The same columns as they were, in the same order.")
    class_column: Name = needed("Class of each original record, a whole number; −1 for none.")


class ExpectReleaseToBeKAnonymous(_InClasses):
    """Expect every equivalence class of the release to have at least k records.

    Source:
        Samarati and Sweeney (1998); [methods 3].
    """

    k: Count = needed("Records in the smallest class.")

    sentence = "Each class of equal $quasi_identifiers must have at least $k records."


class ExpectReleaseToBeTClose(_OfColumn):
    """Expect a sensitive column to be distributed in each equivalence class as in the whole batch, within t.

    The whole batch is the prior of an observer: give all input records, suppressed ones marked by
    ``released``, to measure what the gate measures.

    Source:
        Li, Li, Venkatasubramanian (2007); [methods 8.2].
    """

    t: Share = needed("Largest distance of a class to the whole batch.")
    distance: _Distance | None = needed(
        "Ordered for numbers, or texts in order; equal for nominal values; hierarchical."
    )

    sentence = "In each class of equal $quasi_identifiers, $column must be $t-close to the whole ($distance)."


class ExpectReleaseToBeLDiverse(_OfColumn):
    """Expect every equivalence class of the release to have l well-represented sensitive values.

    ``observed_value`` is None where a class has fewer than l distinct values and so no recursive ratio.

    Source:
        Machanavajjhala et al. (2007); [methods 8.3].
    """

    kind: Literal["distinct", "entropy", "recursive"] = needed(
        "distinct values; entropy: exp of the entropy; recursive (c, l)."
    )
    l: float = needed("Well-represented values; whole unless the kind is entropy.")  # noqa: E741 - the field's
    c: float | None = optional("For recursive (c, l)-diversity, the bound on r₁/(r_l + …).")

    sentence = "In each class of equal $quasi_identifiers, $column must be $kind $l-diverse."


class ExpectReleaseSuppressionToBeAtMost(ReleaseExpectation):
    """Expect the share of the batch that is not released to be within a limit."""

    released: str | None = needed("Boolean column that is true for released records.")
    limit: Share = needed("Largest share of suppressed records.")

    sentence = "At most a share of $limit of the records may be suppressed."


class ExpectReleaseLinkingRiskToBeAtMost(_BesideOriginals):
    """Expect an attacker who knows the originals to link few released records by their perturbed values.

    Source:
        [KE V-B]; [methods 8.1].
    """

    limit: Share = needed("Largest share of linked records.")

    sentence = "At most a share of $limit of the released records may be linked by $released_columns."


class ExpectReleaseToBeConfidentlyKAnonymous(_BesideOriginals):
    """Expect a released record to have no, or at least k, originals of its class in its confidence interval.

    Source:
        [KE V-C]; [methods 7].
    """

    k: Count = needed("Originals within the interval, where any are.")
    confidence: Confidence = needed("Of the interval.")
    epsilons: Positives = needed("ε of each perturb column.")
    noises: list[dict[str, Any]] | None = optional(
        "What each column's noise is drawn under: mechanism; epsilon and delta as texts of exact fractions; "
        "inputs in grid units. Default: discrete Laplace by class, and epsilons."
    )

    sentence = "Each released record must have no or $k originals within its $confidence interval."


class ExpectReleaseToHideInPopulation(_InClasses):
    """Expect an attacker who knows the population to name few persons behind the released records.

    Source:
        El Emam (2013); Dankar and El Emam (2010).
    """

    population_column: Name = needed("Persons of the population whom the record's class may be about.")
    risk: Risk = needed("What is limited: the largest chance for a record, or the share on average.")
    limit: Share = needed("Largest chance or share.")

    sentence = "An attacker who knows the population must name persons with a $risk of at most $limit."


class ExpectReleasesTogetherToBeKAnonymous(ReleaseExpectation):
    """Expect at least k persons to match every class that any one person was published in.

    The batch has a row per person. Persons that the release to be published does not hold need no row: they
    match nobody of it. Where nobody was published before, the smallest class is observed.

    Source:
        Ganta, Kasiviswanathan, Smith (2008), the intersection attack.
    """

    class_columns: Names = needed(
        "Class of each person, a whole number, a column per release, the one to be published last; −1: none."
    )
    k: Count = needed("Persons who match.")

    sentence = "At least $k persons must match all classes of $class_columns that any one is in."


class ExpectReleaseToKeepPublishedNoise(_Released):
    """Expect values whose noise was published, and must stay, to be released as they were published."""

    published_columns: Names = needed("Values that must stay, in the same order; missing where none must.")

    sentence = "Values of $published_columns must be released in $released_columns as they were published."


class ExpectReleaseToWithstandAttack(_InClasses):
    """Expect an attack on the release to stay within its limit, on a batch as `gate_batch` makes it.

    Of limits on linking, the mean over the noise is judged where ``stages`` are given, unless they say
    ``linking: realized``; else what the batch's own noise realized.

    Source:
        `risk` names the source of each attack.
    """

    attack: str = needed("Name of a limit in attacks or stages, such as linkage.exact.")
    attacks: dict[str, Any] = needed("Limits, as under gate.attacks of a policy.")
    columns: dict[str, Any] = needed("Perturb, sensitive and insensitive columns, as in a policy.")
    perturb: dict[str, Any] | None = optional("The noise, as in a policy; None without perturb columns.")
    stages: dict[str, Any] | None = optional(
        "What the release is made with beside noise: k, confidence, and as gate the limits that classes "
        "keep and how linking is judged, as in a policy. Default: not known."
    )

    sentence = "The attack $attack must stay within its limit in $attacks."


NAMED: Mapping[str, type[ReleaseExpectation]] = {
    named.expectation_type: named
    for named in (
        ExpectReleaseToBeKAnonymous,
        ExpectReleaseToBeTClose,
        ExpectReleaseToBeLDiverse,
        ExpectReleaseSuppressionToBeAtMost,
        ExpectReleaseLinkingRiskToBeAtMost,
        ExpectReleaseToBeConfidentlyKAnonymous,
        ExpectReleaseToHideInPopulation,
        ExpectReleasesTogetherToBeKAnonymous,
        ExpectReleaseToKeepPublishedNoise,
        ExpectReleaseToWithstandAttack,
    )
}
"""The expectations that take arguments on any table, by their names."""


def expectation_of(limit: Limit) -> type[ReleaseExpectation]:
    """Return the expectation of a limit; one without arguments of its own is made from the table's entry."""
    name = limit.expectation_name
    return NAMED[name] if name in NAMED else _made(name, meaning_of(limit, "a column"))


@cache
def _made(name: str, meaning: str) -> type[ReleaseExpectation]:
    """Make a class; it is called as the expectation, since not every name has a spelling in capitals."""
    made: type[ReleaseExpectation] = type(name, (ReleaseExpectation,), {"__doc__": meaning})
    return made


for _limit in LIMITS:
    if _limit.expectation_name:
        expectation_of(_limit)  # Great Expectations reads a stored suite by the names that are known
