"""How a policy describes a hierarchy: one model per kind, of which a column names exactly one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from anon_pipeline.base.errors import PluginError
from anon_pipeline.catalog.entries import HierarchyKind
from anon_pipeline.catalog.plugins import table_of
from anon_pipeline.policy.fields import LocalPath, Plain, Real, Separator, Strict, Whole
from anon_pipeline.policy.frozen_mapping import FrozenTree
from anon_pipeline.policy.marks import COUNTED, SHOWN, Below
from anon_pipeline.policy.suppression_mark import TOP, looks_suppressed

_DEEPEST = 50  # levels of a taxonomy; a YAML alias can make one without an end
_WRITTEN = "anon_pipeline.hierarchy.table_files"
_MOST = 2**53  # intervals of one width in the next; beyond, a float no longer counts them


class Table(Strict):
    """A table file without header: leaf, level 1, …, top; a line per leaf, also those not in the data."""

    table: Annotated[LocalPath, Below("hierarchies"), COUNTED] = Field(
        description="Path of the CSV file, relative to the folder of hierarchies."
    )
    separator: Annotated[Separator, SHOWN] = Field(";", description="Field separator.")


class Intervals(Strict):
    """Numbers in half-open intervals whose widths are each a multiple of the one before; then ``*``."""

    intervals: Annotated[tuple[Annotated[Real, Field(gt=0)], ...], SHOWN] = Field(
        min_length=1, description="Interval widths, level by level."
    )
    anchor: Annotated[Real, SHOWN] = Field(0, description="A point where an interval of every width begins.")
    bottom: Annotated[Real | None, SHOWN] = Field(
        None, description="All smaller values fall into one open-ended interval."
    )
    top: Annotated[Real | None, SHOWN] = Field(
        None, description="All values from here on fall into one open-ended interval."
    )

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

    mask: Annotated[tuple[Annotated[Whole, Field(ge=1)], ...], SHOWN] = Field(
        min_length=1, description="Characters hidden, level by level."
    )

    @model_validator(mode="after")
    def _increasing(self) -> Mask:
        if any(b <= a for a, b in pairwise(self.mask)):
            raise ValueError(f"the numbers of hidden characters must increase, got {list(self.mask)}")
        return self

    @property
    def explained(self) -> str:
        """What the numbers mean, for a comment in a policy."""
        steps = ", ".join(map(str, self.mask))
        return f"hides the last {steps} character{'s' * (self.mask != (1,))}"


class Dates(Strict):
    """Dates by calendar unit, each coarser than the one before; then ``*``."""

    dates: Annotated[tuple[Literal["month", "quarter", "year", "decade"], ...], SHOWN] = Field(min_length=1)

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

    numbers: Annotated[Literal[True], SHOWN]


def as_texts(value: Any) -> Any:
    """Write a list of values as texts: YAML reads ``1990`` as a number."""
    return [_leaf(name) for name in value] if isinstance(value, (list, tuple)) else value


Names = Annotated[
    tuple[Plain, ...],
    BeforeValidator(
        as_texts, json_schema_input_type=Annotated[tuple[Plain | float, ...], Field(min_length=1)]
    ),
]
"""A list of values, in a file texts or numbers."""


class Order(Strict):
    """The value itself, or ``*``; recoders that need no levels release ranges in this order."""

    order: Annotated[Names, COUNTED] = Field(
        min_length=1, description="Every value, lowest first, also those not in the data."
    )

    @model_validator(mode="after")
    def _once(self) -> Order:
        if len(set(self.order)) != len(self.order):
            raise ValueError("order must name each value once")
        if any(map(looks_suppressed, self.order)):
            raise ValueError(f"order must not list {TOP}, which is how a suppressed value is released")
        return self


class Tree(Strict):
    """A taxonomy: nested mappings of names, with lists of leaves, all at the same depth; then ``*``."""

    tree: Annotated[Annotated[FrozenTree, BeforeValidator(_taxonomy)], COUNTED]


class Suppress(Strict):
    """The value itself, or ``*``."""

    suppress: Annotated[Literal[True], SHOWN]


def _one(spec: object) -> int:
    return 1


def _depth(tree: Any) -> int:
    """Count the levels of names above the leaves of a taxonomy."""
    return 1 + _depth(next(iter(tree.values()))) if isinstance(tree, Mapping) else 0


def leaves_of(tree: Any) -> Iterator[str]:
    """Yield the leaves of a taxonomy in their order."""
    if isinstance(tree, Mapping):
        for below in tree.values():
            yield from leaves_of(below)
    else:
        yield from tree


def _depths(tree: Any) -> Iterator[int]:
    if isinstance(tree, Mapping):
        for below in tree.values():
            yield from (depth + 1 for depth in _depths(below))
    else:
        yield 0


def _domain(spec: Tree) -> tuple[str, ...]:
    if len(set(_depths(spec.tree))) > 1:
        raise ValueError("all leaves of the hierarchy must be at the same depth")
    return tuple(leaves_of(spec.tree))


def _of(name: str, model: type[Strict], **traits: Any) -> HierarchyKind:
    builds = f"anon_pipeline.hierarchy.build:{name}_column"
    return HierarchyKind(name, model, builds, f"anon_pipeline.hierarchy.level_of_text:{name}_texts", **traits)


def _in_bands(spec: Intervals, level: int) -> str:
    ends = [f"below {spec.bottom:g} in one" if spec.bottom is not None else ""]
    ends += [f"from {spec.top:g} on in one" if spec.top is not None else ""]
    return ", ".join([f"in bands of {spec.intervals[level - 1]:g}", *filter(None, ends)])


_STARS = 12  # shown of a mask, at most


def _without_last(spec: Mask, level: int) -> str:
    hidden = spec.mask[level - 1]
    named = f"last {hidden} characters" if hidden > 1 else "last character"
    return f"{named} hidden (…{'*' * min(hidden, _STARS)})"


HIERARCHIES = table_of(
    "hierarchies",
    HierarchyKind,
    (
        _of(
            "table",
            Table,
            leaves=f"{_WRITTEN}:table_leaves",
            file="table",
            words=lambda spec, level: "coarser, by its table",
        ),
        _of(
            "intervals",
            Intervals,
            numbers=True,
            ordered=True,
            computed=True,
            words=_in_bands,
            steps=lambda spec: len(spec.intervals) + 1,
        ),
        _of("mask", Mask, computed=True, words=_without_last, steps=lambda spec: len(spec.mask) + 1),
        _of(
            "dates",
            Dates,
            ordered=True,
            computed=True,
            days=True,
            words=lambda spec, level: f"the {spec.dates[level - 1]}",
            steps=lambda spec: len(spec.dates) + 1,
        ),
        _of(
            "tree",
            Tree,
            leaves=f"{_WRITTEN}:tree_leaves",
            domain=_domain,
            words=lambda spec, level: "coarser, by its taxonomy",
            steps=lambda spec: _depth(spec.tree) + 1,
        ),
        _of("numbers", Numbers, numbers=True, ordered=True, computed=True, steps=_one),
        _of("order", Order, ordered=True, computed=True, leaves=f"{_WRITTEN}:order_leaves", steps=_one),
        _of("suppress", Suppress, computed=True, steps=_one),
    ),
)
ALL_OR_NOTHING: dict[str, Any] = {"suppress": True}
"""How a policy writes the hierarchy that has nothing between the value itself and the top."""
_BY_MODEL = {kind.model: kind for kind in HIERARCHIES.values()}


def _check_models() -> None:
    """Refuse a plugin's model that could be taken for another kind.

    Raises:
        PluginError: a model that is not strict, of two kinds, or has not the key of its kind alone.
    """
    for kind in HIERARCHIES.values():
        strict = isinstance(kind.model, type) and issubclass(kind.model, Strict)
        fields = kind.model.model_fields if strict else {}
        if [name for name in HIERARCHIES if name in fields] != [kind.name] or _BY_MODEL[kind.model] != kind:
            raise PluginError(
                f"the hierarchy {kind.name} must have a model of its own, derived from Strict, with the "
                f"field {kind.name} and no field that is another hierarchy's name. Correct the plugin."
            )


_check_models()


def hierarchy_kind(spec: Strict | None) -> HierarchyKind:
    """Return the kind of a hierarchy; without one all values are equally far apart."""
    return HIERARCHIES["suppress"] if spec is None else _BY_MODEL[type(spec)]


def _kind(value: Any) -> str | None:
    keys = set(value) if isinstance(value, dict) else set(getattr(type(value), "model_fields", ()))
    found = [kind for kind in HIERARCHIES if kind in keys]
    return found[0] if len(found) == 1 else None


HIERARCHY_TAGS = tuple(HIERARCHIES)
"""Tags of the union `HierarchySpec`, which pydantic writes into the place of a mistake."""

if TYPE_CHECKING:
    HierarchySpec = Table | Intervals | Mask | Dates | Tree | Numbers | Order | Suppress
else:
    HierarchySpec = Annotated[
        Union[tuple(Annotated[kind.model, Tag(kind.name)] for kind in HIERARCHIES.values())],  # noqa: UP007
        Discriminator(
            _kind,
            custom_error_type="hierarchy",
            custom_error_message="must name exactly one of " + ", ".join(HIERARCHIES),
        ),
    ]
