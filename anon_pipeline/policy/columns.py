"""What a column is: its role, how it is protected, and the hierarchies that generalize it.

Belongs here: the pydantic models of one column. Does not belong here: rules between columns and sections
(`rules`), reading files (`hierarchy`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from anon_pipeline.policy.frozen import FrozenTree
from anon_pipeline.policy.names import escaped, plain

__all__ = [
    "Column",
    "Dates",
    "Generalize",
    "HierarchySpec",
    "Identifier",
    "Insensitive",
    "Intervals",
    "Mask",
    "Numbers",
    "Order",
    "Perturb",
    "Plain",
    "Real",
    "Sensitive",
    "Separator",
    "Strict",
    "Suppress",
    "Table",
    "Tree",
    "Whole",
]


def _no_switch(value: Any) -> Any:
    """Refuse true and false where a number belongs: ``linking_risk: true`` would be a limit of 100 %."""
    if isinstance(value, bool):
        raise ValueError(f"must be a number, got {str(value).lower()}")
    return value


def _plain(value: str) -> str:
    """Refuse what a reader of the policy would not see, or what a file system ends a path at."""
    if not plain(value):
        raise ValueError(f"must not hold control characters, got {escaped(value)}")
    return value


Plain = Annotated[str, AfterValidator(_plain)]
Real = Annotated[float, BeforeValidator(_no_switch)]
Whole = Annotated[int, BeforeValidator(_no_switch)]
Separator = Annotated[str, Field(pattern=r"^[\t -!#-~]$")]

_DEEPEST = 50  # levels of a taxonomy; a YAML alias can make one without an end
_MOST = 2**53  # intervals of one width in the next; beyond, a float no longer counts them


class Strict(BaseModel):
    """A frozen model that refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, str_min_length=1)


class Table(Strict):
    """A table file without header: leaf, level 1, …, top; a line per leaf, also those not in the data."""

    table: Plain = Field(description="Path of the CSV file, relative to the folder of hierarchies.")
    separator: Separator = Field(";", description="Between two fields.")


class Intervals(Strict):
    """Numbers in half-open intervals whose widths are each a multiple of the one before; then ``*``."""

    intervals: tuple[Annotated[Real, Field(gt=0)], ...] = Field(
        min_length=1, description="Interval widths, level by level."
    )
    anchor: Real = Field(0, description="A point where an interval of every width begins.")
    bottom: Real | None = Field(None, description="All smaller values fall into one open-ended interval.")
    top: Real | None = Field(None, description="All values from here on fall into one open-ended interval.")

    @model_validator(mode="after")
    def _nested(self) -> Intervals:
        widths = self.intervals
        for small, large in pairwise(widths):
            ratio = large / small
            if not 1 < ratio < _MOST or abs(ratio - round(ratio)) > 1e-9:
                raise ValueError(
                    f"each width must be a multiple of the one before, got {small!r} then {large!r}"
                )
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise ValueError(f"bottom must be below top, got {self.bottom:g} and {self.top:g}")
        return self


class Mask(Strict):
    """Text masked by ``*`` from the right, step by step: ``mask: [1, 3]`` hides one, then three, then all."""

    mask: tuple[Annotated[Whole, Field(ge=1)], ...] = Field(
        min_length=1, description="Characters hidden, level by level."
    )

    @model_validator(mode="after")
    def _increasing(self) -> Mask:
        if any(b <= a for a, b in pairwise(self.mask)):
            raise ValueError(f"the numbers of hidden characters must increase, got {list(self.mask)}")
        return self


class Dates(Strict):
    """Dates by calendar unit, each coarser than the one before; then ``*``."""

    dates: tuple[Literal["month", "quarter", "year", "decade"], ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _coarser(self) -> Dates:
        order = ("month", "quarter", "year", "decade")
        ranks = [order.index(unit) for unit in self.dates]
        if any(b <= a for a, b in pairwise(ranks)):
            raise ValueError(f"each unit must be coarser than the one before, got {list(self.dates)}")
        return self


def _taxonomy(value: Any, depth: int = 0) -> Any:
    """Check a taxonomy and write its names as text: YAML reads ``1990`` as a number."""
    if depth < _DEEPEST and isinstance(value, Mapping) and value:
        below = {_leaf(name): _taxonomy(subtree, depth + 1) for name, subtree in value.items()}
        if len(below) == len(value):
            return below
    if depth and isinstance(value, (list, tuple)) and value:
        return [_leaf(leaf) for leaf in value]
    raise ValueError("must be made of mappings with lists of leaves, none of them empty or named twice")


def _leaf(name: Any) -> str:
    if isinstance(name, bool) or not isinstance(name, (str, int, float)):
        raise ValueError("must have names that are texts or numbers (put yes, no, null and dates in quotes)")
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


class Numbers(Strict):
    """The number itself, or ``*``; recoders that need no levels release ranges of numbers."""

    numbers: Literal[True]


def _texts(value: Any) -> Any:
    return [_leaf(name) for name in value] if isinstance(value, (list, tuple)) else value


class Order(Strict):
    """The value itself, or ``*``; recoders that need no levels release ranges in this order."""

    order: Annotated[tuple[Plain, ...], BeforeValidator(_texts)] = Field(
        min_length=1, description="Every value, lowest first, also those not in the data."
    )

    @model_validator(mode="after")
    def _once(self) -> Order:
        if len(set(self.order)) != len(self.order):
            raise ValueError("order must name each value once")
        return self


class Tree(Strict):
    """A taxonomy: nested mappings of names, with lists of leaves, all at the same depth; then ``*``."""

    tree: Annotated[FrozenTree, BeforeValidator(_taxonomy)]


class Suppress(Strict):
    """The value itself, or ``*``."""

    suppress: Literal[True]


_KINDS = {
    "table": Table,
    "intervals": Intervals,
    "mask": Mask,
    "dates": Dates,
    "tree": Tree,
    "numbers": Numbers,
    "order": Order,
    "suppress": Suppress,
}


def _kind(value: Any) -> str | None:
    keys = set(value) if isinstance(value, dict) else set(getattr(type(value), "model_fields", ()))
    found = [kind for kind in _KINDS if kind in keys]
    return found[0] if len(found) == 1 else None


HierarchySpec = Annotated[
    Annotated[Table, Tag("table")]
    | Annotated[Intervals, Tag("intervals")]
    | Annotated[Mask, Tag("mask")]
    | Annotated[Dates, Tag("dates")]
    | Annotated[Tree, Tag("tree")]
    | Annotated[Numbers, Tag("numbers")]
    | Annotated[Order, Tag("order")]
    | Annotated[Suppress, Tag("suppress")],
    Discriminator(
        _kind,
        custom_error_type="hierarchy",
        custom_error_message="must name exactly one of " + ", ".join(_KINDS),
    ),
]

Missing = Literal["error", "suppress"]


class Identifier(Strict):
    """Names a person directly; never reaches the release as it is."""

    role: Literal["identifier"]
    action: Literal["drop", "mask", "hash"] = Field(
        "drop", description="Remove it, replace it by ***, or by its HMAC-SHA256 under the policy's key."
    )


class Generalize(Strict):
    """A quasi-identifier that is generalized until classes have k records."""

    role: Literal["generalize"]
    hierarchy: HierarchySpec | None = Field(
        None, description="None: all values are equally far apart, for recoders that need no levels."
    )


class Perturb(Strict):
    """A numeric quasi-identifier that receives noise scaled to its equivalence class."""

    role: Literal["perturb"]
    resolution: Real = Field(gt=0, description="Grid of the released values, in the column's unit.")
    unit: Plain | None = Field(None, description="For people: cm, kg, USD.")
    weight: Real = Field(1, gt=0, description="Share of ε, relative to the other perturb columns.")
    output_bounds: tuple[Real, Real] | None = Field(
        None, description="Public bounds, in the column's unit; released values are clamped to them."
    )
    missing: Missing = "error"

    @model_validator(mode="after")
    def _ordered(self) -> Perturb:
        if self.output_bounds is not None and self.output_bounds[0] >= self.output_bounds[1]:
            raise ValueError(f"output_bounds must increase, got {list(self.output_bounds)}")
        return self


class Sensitive(Strict):
    """What an attacker wants to learn; released unchanged, measured by t-closeness and l-diversity."""

    role: Literal["sensitive"]
    distance: Literal["ordered", "equal", "hierarchical"] = "equal"
    order: tuple[str, ...] | None = Field(None, description="For ordered text: every value, lowest first.")
    hierarchy: HierarchySpec | None = Field(None, description="For distance: hierarchical.")
    missing: Missing = "error"

    @model_validator(mode="after")
    def _fits(self) -> Sensitive:
        if (self.distance == "hierarchical") != (self.hierarchy is not None):
            raise ValueError("hierarchy must be given with distance: hierarchical, and only with it")
        if self.order is not None and self.distance != "ordered":
            raise ValueError("order must be given only with distance: ordered")
        if self.order is not None and len(set(self.order)) != len(self.order):
            raise ValueError("order must name each value once")
        return self


class Insensitive(Strict):
    """Public and of no use to an attacker, as the policy's author states; released unchanged."""

    role: Literal["insensitive"]


_ROLES = ("identifier", "generalize", "perturb", "sensitive", "insensitive")


def _role(value: Any) -> Any:
    return value.get("role") if isinstance(value, dict) else getattr(value, "role", None)


def _mapping(value: Any) -> Any:
    if isinstance(value, (dict, BaseModel)):
        return value
    raise ValueError("must be a mapping with a role")


Column = Annotated[
    Annotated[
        Annotated[Identifier, Tag("identifier")]
        | Annotated[Generalize, Tag("generalize")]
        | Annotated[Perturb, Tag("perturb")]
        | Annotated[Sensitive, Tag("sensitive")]
        | Annotated[Insensitive, Tag("insensitive")],
        Discriminator(
            _role,
            custom_error_type="role",
            custom_error_message="role must be one of " + ", ".join(_ROLES),
        ),
    ],
    BeforeValidator(_mapping),
]
