"""The expectations by name; limits without a named one have theirs by `limits.table`.

An argument is described where it is declared. Each result has ``observed_value``, what the gate measures.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from great_expectations.compatibility.pydantic import Field
from great_expectations.expectations.registry import (
    get_expectation_impl,
    list_registered_expectation_implementations,
)

from anon_pipeline.gate.great_expectations.arguments import Count, Name, Names, Share
from anon_pipeline.gate.great_expectations.base import ReleaseExpectation, needed_field
from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.meanings import meaning_of
from anon_pipeline.limits.table import LIMITS

_Distance = Literal["ordered", "equal", "hierarchical"]


class _InClasses(ReleaseExpectation):
    quasi_identifiers: Names = needed_field(
        "Generalized columns; equal values, missing ones too, are a class."
    )


class _OfColumn(_InClasses):
    column: Name = needed_field("The sensitive column.")
    distance: _Distance | None = Field(
        None, description="For numbers, or texts in order: ordered; equal is the default; hierarchical."
    )
    order: list[str] | None = Field(None, description="Every value of ordered texts, lowest first.")
    hierarchy: dict[str, Any] | None = Field(
        None, description="For the distance hierarchical, as in a policy."
    )


class ExpectReleaseToBeKAnonymous(_InClasses):
    """Expect every equivalence class of the release to have at least k records.

    Source:
        Samarati and Sweeney (1998); [methods 3].
    """

    k: Count = needed_field("Records in the smallest class.")


class ExpectReleaseToBeTClose(_OfColumn):
    """Expect a sensitive column to be distributed in each equivalence class as in the whole batch, within t.

    The whole batch is the prior of an observer: give all input records, suppressed ones marked by
    ``released``, to measure what the gate measures.

    Source:
        Li, Li, Venkatasubramanian (2007); [methods 8.2].
    """

    t: Share = needed_field("Largest distance of a class to the whole batch.")
    distance: _Distance | None = needed_field(
        "Ordered for numbers, or texts in order; equal for nominal values; hierarchical."
    )


class ExpectReleaseToBeLDiverse(_OfColumn):
    """Expect every equivalence class of the release to have l well-represented sensitive values.

    ``observed_value`` is None where a class has fewer than l distinct values and so no recursive ratio.

    Source:
        Machanavajjhala et al. (2007); [methods 8.3].
    """

    kind: Literal["distinct", "entropy", "recursive"] = needed_field(
        "distinct values; entropy: exp of the entropy; recursive (c, l)."
    )
    l: float = needed_field("Well-represented values; whole unless the kind is entropy.")  # noqa: E741 - the field's
    c: float | None = Field(None, description="For recursive (c, l)-diversity, the bound on r₁/(r_l + …).")


class ExpectReleaseSuppressionToBeAtMost(ReleaseExpectation):
    """Expect the share of the batch that is not released to be within a limit."""

    released: str | None = needed_field("Boolean column that is true for released records.")
    limit: Share = needed_field("Largest share of suppressed records.")


class ExpectReleaseLinkingRiskToBeAtMost(ReleaseExpectation):
    """Expect an attacker who knows the originals to link few released records.

    Source:
        [KE V-B]; [methods 8.1].
    """


class ExpectReleaseToBeConfidentlyKAnonymous(ReleaseExpectation):
    """Expect a released record to have no, or at least k, originals of its class in its confidence interval.

    Source:
        [KE V-C]; [methods 7].
    """


class ExpectReleaseToHideInPopulation(ReleaseExpectation):
    """Expect an attacker who knows the population to identify few people.

    Source:
        El Emam (2013); Dankar and El Emam (2010).
    """


class ExpectReleasesTogetherToBeKAnonymous(ReleaseExpectation):
    """Expect at least k people to match every class that any one person was published in.

    Source:
        Ganta, Kasiviswanathan, Smith (2008), the intersection attack.
    """


class ExpectReleaseToKeepPublishedNoise(ReleaseExpectation):
    """Expect values whose noise was published, and must stay, to be released as they were published."""


class ExpectReleaseToWithstandAttack(ReleaseExpectation):
    """Expect an attack on the release to stay within its limit."""


def expectation_of(limit: Limit) -> type[ReleaseExpectation]:
    """Return the expectation of a limit; one that is not declared here is made from the table's entry.

    It is called as the expectation, since not every name has a spelling in capitals.
    """
    name = limit.expectation_name
    if name not in list_registered_expectation_implementations(ReleaseExpectation):
        type(name, (ReleaseExpectation,), {"__doc__": meaning_of(limit, "a column")})
    return cast("type[ReleaseExpectation]", get_expectation_impl(name))


for _limit in LIMITS:
    if _limit.expectation_name:
        expectation_of(_limit)  # Great Expectations reads a stored suite by the names that are known
