"""A perturb column of categories: its public domain, and its mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from anon_pipeline.catalog.mechanisms import (
    CATEGORY_CHANGES,
    CATEGORY_MECHANISMS,
    MECHANISMS,
    joint_mechanisms,
)
from anon_pipeline.policy.allow import Allowing
from anon_pipeline.policy.fields import Missing, Real
from anon_pipeline.policy.hierarchies import (
    HIERARCHIES,
    HierarchySpec,
    Names,
    as_texts,
    hierarchy_kind,
    leaves_of,
)
from anon_pipeline.policy.kind_names import CategoryMechanism
from anon_pipeline.policy.marks import COUNTED, LATER, SHOWN
from anon_pipeline.policy.protection import NEUTRAL, PROPORTION, by_rank
from anon_pipeline.policy.suppression_mark import TOP, looks_suppressed

MOST_VALUES = 1_000
"""Values of a domain; with more of them little is kept of any."""

_DISTANT = [name for name, one in CATEGORY_MECHANISMS.items() if one.by_distance]
_RANKED = [
    name
    for name, one in CATEGORY_CHANGES.items()
    if one.whole_column is not None and one.whole_column.categories == "ordered"
]
_NEEDED = dict.fromkeys(_DISTANT, " (with a hierarchy)") | dict.fromkeys(_RANKED, " (with ordered: true)")
_FITTING = ", ".join(f"{name}{_NEEDED.get(name, '')}" for name in (*CATEGORY_MECHANISMS, *CATEGORY_CHANGES))
_WITHOUT_HIERARCHY = ", ".join(name for name in CATEGORY_MECHANISMS if name not in _DISTANT)

_BY_SHARES = ", ".join(name for name, one in CATEGORY_MECHANISMS.items() if one.by_shares)

_PUBLIC = " or ".join(f"a {name}" for name, kind in HIERARCHIES.items() if kind.domain is not None)


def _leaves(written: Any) -> list[str]:
    """Return the leaves of a hierarchy as it is written, in their order; none where it lists none."""
    try:
        return [leaf for below in written.values() for leaf in leaves_of(below)]
    except (AttributeError, TypeError):  # what is wrong with it is said of the hierarchy
        return []


def _in_order(shares: Mapping[Any, Any], values: Any) -> list[Any]:
    """Return shares in the order of the values, from a mapping by values; a number in YAML is the text of it.

    Raises:
        ValueError: a value without a share, or the other way round.
    """
    if not isinstance(values, (list, tuple)):
        raise ValueError("shares must be given with values, or with a tree")
    names, wanted = as_texts(list(shares)), as_texts(list(values))
    if len({*names}) != len(names):
        raise ValueError("shares must name each value once")
    if {*names} != {*wanted}:
        raise ValueError(
            "shares must be given for each value of the domain and no other, got none for "
            f"{len({*wanted} - {*names})} of them and {len({*names} - {*wanted})} others"
        )
    found = dict(zip(names, shares.values(), strict=True))
    return [found[name] for name in wanted]


class PerturbCategories(Allowing):
    """A quasi-identifier of categories that is released as another value of its public domain."""

    role: Annotated[Literal["perturb"], SHOWN]
    mechanism: Annotated[CategoryMechanism, SHOWN] = Field(description="How the released value is chosen.")
    values: Annotated[Names | None, COUNTED] = Field(
        None, description="All values that the column may have, also those not in the data."
    )
    hierarchy: HierarchySpec | None = Field(
        None,
        description=f"Instead of values: {_PUBLIC}, whose leaves they are. Needed for {', '.join(_DISTANT)}.",
    )
    shares: Annotated[tuple[Annotated[Real, Field(gt=0)], ...] | None, SHOWN, LATER, PROPORTION] = Field(
        None,
        description=f"For {_BY_SHARES}, and required with it: how frequent each value is, by public "
        "knowledge and not by the data, as a list in the order of the domain or, with values, by value. They "
        "need not add up to 1.",
    )
    ordered: Annotated[bool, SHOWN, LATER] = Field(
        False,
        description=f"For {', '.join(_RANKED)}, and required with it: the values are listed from the lowest "
        "to the highest.",
    )
    amount: Annotated[Real | None, SHOWN, LATER] = Field(
        None, gt=0, description=f"How much the mechanism changes, for {', '.join(_RANKED)}."
    )
    together: Annotated[bool, SHOWN, LATER, by_rank(True, False)] = Field(
        False,
        description=f"For {joint_mechanisms()}: the values of all columns that have it move together, and "
        "stay one person's.",
    )
    weight: Annotated[Real, SHOWN] = Field(
        1, gt=0, description="Share of ε, relative to the other perturb columns."
    )
    missing: Annotated[Missing, SHOWN, NEUTRAL] = "error"

    @model_validator(mode="before")
    @classmethod
    def _of_categories(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        wanted = given.get("mechanism")
        if isinstance(wanted, str) and wanted in MECHANISMS and wanted not in CATEGORY_CHANGES:
            raise ValueError(f"mechanism: {wanted} is for numbers. For categories fit {_FITTING}.")
        strange = sorted(set(map(str, given)) - set(cls.model_fields))
        if strange and not {"values", "hierarchy"} & set(given):
            raise ValueError(
                f"mechanism: {wanted} is for categories (with values or a hierarchy), not for numbers. For "
                f"numbers fit {', '.join(MECHANISMS)}."
            )
        known = sorted(strange_key for strange_key in strange if strange_key in _OF_NUMBERS)
        if known:
            raise ValueError(
                f"{', '.join(known)} must be left out of a perturb column with categories. These fit: "
                f"{', '.join(cls.model_fields)}."
            )
        if isinstance(given.get("shares"), Mapping):
            values = given.get("values") or _leaves(given.get("hierarchy"))
            return {**given, "shares": _in_order(given["shares"], values)}
        return given

    @model_validator(mode="after")
    def _public(self) -> PerturbCategories:
        if (self.values is None) == (self.hierarchy is None):
            raise ValueError("exactly one of values and hierarchy must be given, the column's public domain")
        if self.hierarchy is None and self.mechanism in _DISTANT:
            raise ValueError(
                f"mechanism: {self.mechanism} needs a hierarchy, whose distances it keeps. Without one, use "
                f"{_WITHOUT_HIERARCHY}."
            )
        if self.hierarchy is not None and hierarchy_kind(self.hierarchy).domain is None:
            raise ValueError(
                f"hierarchy must be {_PUBLIC}: its leaves are the public domain, whatever the data"
            )
        self._check_leaves()
        self._check_shares()
        self._check_order()
        return self

    def _check_order(self) -> None:
        if self.ordered and self.mechanism not in _RANKED:
            raise ValueError(
                f"ordered must be left out with mechanism: {self.mechanism}, which uses no order; it is for "
                f"{', '.join(_RANKED)}"
            )
        if self.mechanism in _RANKED and not (self.ordered and self.values is not None):
            raise ValueError(
                f"mechanism: {self.mechanism} needs ordered: true and values, from the lowest to the "
                f"highest, got {'values' if self.hierarchy is None else 'a hierarchy'} "
                f"{'with' if self.ordered else 'without'} ordered: true"
            )
        if self.amount is not None and not self.whole_column:
            raise ValueError(f"amount must be left out: mechanism: {self.mechanism} takes none")

    def _check_shares(self) -> None:
        wanted = not self.whole_column and CATEGORY_MECHANISMS[self.mechanism].by_shares
        if not wanted and self.shares is not None:
            raise ValueError(f"shares must be left out with {self.mechanism}; they are for {_BY_SHARES}")
        if not wanted:
            return
        if self.shares is None or len(self.shares) != len(self.domain):
            raise ValueError(
                f"shares must be given for each value of the domain ({len(self.domain)}), got "
                f"{len(self.shares or ())}"
            )

    def _check_leaves(self) -> None:
        leaves = self.domain
        if len(set(leaves)) != len(leaves):
            raise ValueError("each value of the domain must be named once")
        if any(map(looks_suppressed, leaves)):
            raise ValueError(
                f"the domain must not have the value {TOP}, which is how a suppressed value is released. "
                "Take another name for it, and map it in clean.columns"
            )
        if not 2 <= len(leaves) <= MOST_VALUES:
            raise ValueError(f"the domain must have 2 to {MOST_VALUES} values, got {len(leaves)}")

    @property
    def whole_column(self) -> bool:
        """Whether the column is changed as a whole, instead of drawing a value for each record."""
        return self.mechanism in CATEGORY_CHANGES

    @property
    def domain(self) -> tuple[str, ...]:
        """All values, as the policy lists them."""
        kind = hierarchy_kind(self.hierarchy)
        return self.values or () if kind.domain is None else kind.domain(self.hierarchy)


_OF_NUMBERS = frozenset({"resolution", "unit", "output_bounds", "input_bounds", "sensitivity"})


def has_categories(column: Mapping[str, Any]) -> bool:
    """Tell whether a perturb column, as written, is one of categories: by its domain, or its mechanism."""
    mechanism = column.get("mechanism")
    return bool({"values", "hierarchy"} & set(column)) or (
        isinstance(mechanism, str) and mechanism in CATEGORY_MECHANISMS
    )
