"""What a column is: its role, and how it is protected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag, model_validator

from anon_pipeline.catalog.identifiers import DEFAULT_ACTION, IDENTIFIER_ACTIONS
from anon_pipeline.catalog.mechanisms import amount_mechanisms, joint_mechanisms
from anon_pipeline.policy.allow import Allowing
from anon_pipeline.policy.categories import PerturbCategories, has_categories
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.fields import Missing, Plain, Real, Strict
from anon_pipeline.policy.hierarchies import HierarchySpec
from anon_pipeline.policy.kind_names import Action, Mechanism
from anon_pipeline.policy.marks import COUNTED, LATER, SHOWN
from anon_pipeline.policy.protection import NEUTRAL, WIDER, by_rank, rank_by

__all__ = [
    "COLUMN_TAGS",
    "Column",
    "Generalize",
    "Identifier",
    "Insensitive",
    "Perturb",
    "PerturbCategories",
    "Sensitive",
    "bounds_of",
    "columns_of",
]


def _tells(action: str) -> int:
    """Rank what happens to an identifier: the less of it is released, the better."""
    found = IDENTIFIER_ACTIONS[action]
    return 2 - found.released - found.tells_apart


class Identifier(Strict):
    """Names a person directly; never reaches the release as it is."""

    role: Annotated[Literal["identifier"], SHOWN]
    action: Annotated[Action, SHOWN, rank_by(_tells)] = Field(
        DEFAULT_ACTION,
        description="Remove it, replace it by ***, or by its HMAC-SHA256 under the policy's key.",
    )


class Generalize(Allowing):
    """A quasi-identifier that is generalized until classes have k records."""

    role: Annotated[Literal["generalize"], SHOWN]
    hierarchy: HierarchySpec | None = Field(
        None, description="Not set: all values are equally distant (only for recoders without levels)."
    )


class Perturb(Allowing):
    """A numeric quasi-identifier that receives noise, scaled to its equivalence class or to public bounds."""

    role: Annotated[Literal["perturb"], SHOWN]
    resolution: Annotated[Real, SHOWN] = Field(
        gt=0, description="Grid of the released values, in the column's unit."
    )
    unit: Annotated[Plain | None, SHOWN, NEUTRAL] = Field(None, description="For people: cm, kg, USD.")
    weight: Annotated[Real, SHOWN] = Field(
        1, gt=0, description="Share of ε, relative to the other perturb columns."
    )
    output_bounds: Annotated[tuple[Real, Real] | None, SHOWN] = Field(
        None, description="Public bounds, in the column's unit; released values are clamped to them."
    )
    mechanism: Annotated[Mechanism | None, SHOWN] = Field(
        None, description="Kind of noise. Default: perturb.mechanism."
    )
    amount: Annotated[Real | None, SHOWN, LATER] = Field(
        None, gt=0, description=f"How much the mechanism changes, for {amount_mechanisms()}."
    )
    together: Annotated[bool, SHOWN, LATER, by_rank(True, False)] = Field(
        False,
        description=f"For {joint_mechanisms()}: the values of all columns that have it move together, and "
        "stay one person's.",
    )
    sensitivity: Annotated[Literal["class", "declared"], SHOWN, by_rank("class", "declared")] = Field(
        "class", description="What the noise must hide: differences in the class, or within input_bounds."
    )
    input_bounds: Annotated[tuple[Real, Real] | None, SHOWN, WIDER] = Field(
        None,
        description="For sensitivity: declared. Public bounds, in the column's unit; values are clamped to "
        "them before the noise.",
    )
    missing: Annotated[Missing, SHOWN, NEUTRAL] = "error"

    @model_validator(mode="after")
    def _declared(self) -> Perturb:
        if (self.sensitivity == "declared") != (self.input_bounds is not None):
            raise ValueError("input_bounds must be given with sensitivity: declared, and only with it")
        if self.input_bounds is not None:
            step = Fraction(repr(float(self.resolution)))
            low, high = (Fraction(repr(float(bound))) / step for bound in self.input_bounds)
            if math.ceil(low) >= math.floor(high):
                raise ValueError(
                    "input_bounds must increase and hold at least two points of the grid, "
                    f"got {list(self.input_bounds)}"
                )
        return self

    @model_validator(mode="after")
    def _ordered(self) -> Perturb:
        if self.output_bounds is not None and self.output_bounds[0] >= self.output_bounds[1]:
            raise ValueError(f"output_bounds must increase, got {list(self.output_bounds)}")
        return self


class Sensitive(Coarsened):
    """What an attacker wants to learn; released without noise, measured by t-closeness and l-diversity."""

    role: Annotated[Literal["sensitive"], SHOWN]
    distance: Annotated[Literal["ordered", "equal", "hierarchical"], SHOWN] = "equal"
    order: Annotated[tuple[str, ...] | None, COUNTED] = Field(
        None, description="For ordered text: every value, lowest first."
    )
    hierarchy: HierarchySpec | None = Field(None, description="For distance: hierarchical, or for level.")
    missing: Annotated[Missing, SHOWN, NEUTRAL] = "error"

    @model_validator(mode="after")
    def _fits(self) -> Sensitive:
        if (self.distance == "hierarchical") != (self.hierarchy is not None) and self.level is None:
            raise ValueError(
                "hierarchy must be given with distance: hierarchical or level, and only with them"
            )
        if self.level is not None and self.distance != "equal":
            raise ValueError("level must be given only with distance: equal: its values have no order")
        if self.bounded and (self.order is not None or self.distance == "hierarchical"):
            raise ValueError(
                "round, top and bottom must be given only for numbers, without order or hierarchy"
            )
        if self.order is not None and self.distance != "ordered":
            raise ValueError("order must be given only with distance: ordered")
        if self.order is not None and len(set(self.order)) != len(self.order):
            raise ValueError("order must name each value once")
        return self


class Insensitive(Coarsened):
    """Public and of no use to an attacker, as the policy's author states; released without noise."""

    role: Annotated[Literal["insensitive"], SHOWN]

    @model_validator(mode="after")
    def _fits(self) -> Insensitive:
        if self.hierarchy is not None and self.level is None:
            raise ValueError("hierarchy must be given with level, and only with it")
        return self


_ROLES = ("identifier", "generalize", "perturb", "sensitive", "insensitive")


def _role(value: Any) -> Any:
    role = value.get("role") if isinstance(value, dict) else getattr(value, "role", None)
    if role == "perturb" and (
        has_categories(value) if isinstance(value, dict) else isinstance(value, PerturbCategories)
    ):
        return "categories"
    return role


def _require_mapping(value: Any) -> Any:
    if isinstance(value, (dict, BaseModel)):
        return value
    raise ValueError("must be a mapping with a role")


COLUMN_TAGS = (*_ROLES, "categories")
"""Tags of the union `Column`, which pydantic writes into the place of a mistake."""

Column = Annotated[
    Annotated[
        Annotated[Identifier, Tag("identifier")]
        | Annotated[Generalize, Tag("generalize")]
        | Annotated[Perturb, Tag("perturb")]
        | Annotated[PerturbCategories, Tag("categories")]
        | Annotated[Sensitive, Tag("sensitive")]
        | Annotated[Insensitive, Tag("insensitive")],
        Discriminator(
            _role, custom_error_type="role", custom_error_message="role must be one of " + ", ".join(_ROLES)
        ),
    ],
    BeforeValidator(_require_mapping),
]


def bounds_of(column: Any) -> tuple[float, float] | None:
    """Return the lowest and the highest number that a column can have in the release; None: it is unbounded.

    Numbers of a perturb column are clipped before the noise, after it, or both: the narrower bound counts.
    """
    if isinstance(column, Perturb):
        given = [bounds for bounds in (column.input_bounds, column.output_bounds) if bounds is not None]
    elif isinstance(column, Coarsened) and (column.bottom is not None or column.top is not None):
        given = [
            (
                -math.inf if column.bottom is None else column.bottom,
                math.inf if column.top is None else column.top,
            )
        ]
    else:
        given = []
    return (max(low for low, _ in given), min(high for _, high in given)) if given else None


def columns_of(columns: Mapping[str, Any], model: type[BaseModel]) -> list[str]:
    """Name the columns of a model; one that did not parse is None, and of none."""
    return [name for name, column in columns.items() if isinstance(column, model)]
