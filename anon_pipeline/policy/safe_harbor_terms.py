"""Terms of the limit `safe_harbor`: columns that are not recognized by name, areas of few people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from anon_pipeline.policy.fields import Plain, Strict, Whole
from anon_pipeline.policy.marks import AFTER, SHOWN, Fits

SMALL_ZIPS = (
    "036", "059", "063", "102", "203", "556", "692", "790", "821",
    "823", "830", "831", "878", "879", "884", "890", "893",
)  # fmt: skip
"""First three digits of ZIP codes in whose area 20,000 people or fewer lived in the census of 2000.

Source: the list of three-digit ZIP Code Tabulation Areas that HHS publishes in its guidance on
de-identification (2012), on 45 CFR 164.514(b)(2)(i)(B). The rule speaks of the current census: who has a
newer list writes it in ``gate.safe_harbor_terms.small_zips``.
"""

Zip3 = Annotated[str, Field(pattern=r"^[0-9]{3}$")]


def _known_problems(names: tuple[str, ...], sections: Mapping[str, Any]) -> Iterator[str]:
    if wrong := sorted(set(names) - set(sections["columns"])):
        yield f"must name columns of the policy, got {', '.join(wrong)}"


def unused_terms(terms: SafeHarborTerms, sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield that terms are set of a limit that is not."""
    if terms.model_dump() != SafeHarborTerms().model_dump() and not sections["gate"].safe_harbor:
        yield "must be given with gate.safe_harbor: true, and only with it"


class SafeHarborTerms(Strict):
    """What software cannot know of a table that is to keep Safe Harbor."""

    ages: Annotated[tuple[Plain, ...], SHOWN, AFTER, Fits(_known_problems, "columns")] = Field(
        (), description="Columns of ages, in addition to those whose name or unit says so."
    )
    zips: Annotated[tuple[Plain, ...], SHOWN, AFTER, Fits(_known_problems, "columns")] = Field(
        (), description="Columns of ZIP codes, in addition to those whose name says so."
    )
    dates: Annotated[tuple[Plain, ...], SHOWN, AFTER, Fits(_known_problems, "columns")] = Field(
        (), description="Columns of dates, in addition to those whose name or values say so."
    )
    as_of: Annotated[Whole | None, SHOWN, AFTER] = Field(
        None,
        ge=1900,
        le=2200,
        description="Year in which those whose year of birth is released are counted old.",
    )
    small_zips: Annotated[tuple[Zip3, ...], SHOWN, AFTER] = Field(
        SMALL_ZIPS,
        description="First three digits of ZIP codes in whose area 20,000 people or fewer live. Default: the "
        "17 of the census of 2000 that HHS lists.",
    )
