"""The section ``gate.utility``: what a release may lose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from anon_pipeline.policy.columns import Perturb, bounds_of, columns_of
from anon_pipeline.policy.fields import Positive, Share, Strict, Whole
from anon_pipeline.policy.frozen_mapping import FrozenMapping, Keyed
from anon_pipeline.policy.marks import AFTER, LATER, SHOWN, Fits


def _with_numbers(wanted: Mapping[str, float], sections: Mapping[str, Any]) -> Iterator[str]:
    if wrong := sorted(set(wanted) - set(columns_of(sections["columns"], Perturb))):
        yield f"must name columns with the role perturb and numbers, got {', '.join(wrong)}"


def _unbounded_columns(wanted: Mapping[str, float], sections: Mapping[str, Any]) -> Iterator[str]:
    columns = sections["columns"]
    open_ = {name for name, column in columns.items() if column is not None and bounds_of(column) is None}
    if wrong := sorted(set(wanted) & open_ | set(wanted) - set(columns)):
        yield (
            "must name columns with public bounds (input_bounds, output_bounds, bottom or top), got "
            f"{', '.join(wrong)}"
        )


def _bounded_people(wanted: float | None, sections: Mapping[str, Any]) -> Iterator[str]:
    if wanted is not None and sections.get("rows_per_person", 1) is None:
        yield "needs rows_per_person: without it no record is beyond it"


class Usefulness(Strict):
    """What a release may lose. What is not set has a default, beyond which a release has a warning."""

    information_loss: Annotated[Share | None, SHOWN, AFTER] = Field(
        None,
        description="Largest information loss of the recoding, by anonymize.loss. Default: a warning "
        "beyond 0.8.",
    )
    relative_error: Annotated[Keyed[Positive], SHOWN, AFTER, Fits(_with_numbers, "every column")] = Field(
        default_factory=FrozenMapping,
        description="Perturb column with numbers → largest expected error, as a multiple of the value, on "
        "average. Default for each: a warning beyond 1.",
    )
    fully_generalized: Annotated[Whole | None, SHOWN, AFTER] = Field(
        None,
        ge=0,
        description="Most quasi-identifiers that have one value in the whole release, or are hidden in at "
        "least 95 % of its records. Default: a warning from the first on.",
    )
    released: Annotated[Share | None, SHOWN, AFTER] = Field(
        None, description="Least share of the input that is released. Default: a warning below 0.8."
    )
    clipped: Annotated[Keyed[Share], SHOWN, AFTER, LATER, Fits(_unbounded_columns, "every column")] = Field(
        default_factory=FrozenMapping,
        description="Column with public bounds → largest share of its values that lie beyond them. Default "
        "for each: a warning beyond 0.25.",
    )
    error_of_spread: Annotated[Keyed[Positive], SHOWN, AFTER, LATER, Fits(_with_numbers, "every column")] = (
        Field(
            default_factory=FrozenMapping,
            description="Perturb column with numbers → largest expected error, as a multiple of the standard "
            "deviation of its values, or of their middle half if that is less. Default for each: a warning "
            "beyond 2.",
        )
    )
    excess: Annotated[Share | None, SHOWN, AFTER, LATER, Fits(_bounded_people)] = Field(
        None,
        description="Largest share of the input's records that are left out beyond rows_per_person. "
        "Default: a warning beyond 0.25.",
    )
