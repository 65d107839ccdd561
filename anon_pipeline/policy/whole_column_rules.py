"""Rules on perturb columns that are changed as a whole: their amounts, and what needs a distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from anon_pipeline.catalog.entries import Mechanism
from anon_pipeline.catalog.mechanisms import MECHANISMS, joint_mechanisms
from anon_pipeline.catalog.whole_column import AmountKind
from anon_pipeline.policy.columns import Perturb, PerturbCategories

MOST_FACTOR, MOST_COUNT = 10, 1_000
"""Largest amounts of mechanisms that take a factor, or a whole number."""

_AMOUNTS: Mapping[AmountKind, str] = {
    "share": "a share of the records, above 0 and at most 1",
    "factor": f"above 0 and at most {MOST_FACTOR}",
    "count": f"a whole number from 2 to {MOST_COUNT:,}",
    "step": "a multiple of the column's resolution, larger than it and at most 2^40 times it",
}


def broken_amounts(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the amounts of perturb columns, and with what else does not fit them.

    Args:
        columns: parsed columns by name; one that did not parse is None.
        sections: parsed sections by name; one that did not parse is absent.
    """
    kinds = kinds_of_noise(sections)
    changed = {name: kind for name, kind in kinds.items() if kind.whole_column is not None}
    changed |= kinds_of_changes(columns)
    for name, kind in (kinds | changed).items():
        yield from _amount(name, columns[name], kind)
    for name in changed:
        yield from _list_unused(name, columns[name])
    yield from _together(columns, changed)
    yield from _joint(columns, kinds | changed)


def _amount(name: str, column: Perturb | PerturbCategories, kind: Mechanism) -> Iterator[str]:
    """Yield what is wrong with the amount of one column."""
    wanted: AmountKind = "none" if kind.whole_column is None else kind.whole_column.amount
    if wanted == "none":
        if column.amount is not None:
            yield f"columns.{name}.amount: must be left out: mechanism: {kind.name} takes none"
    elif column.amount is None:
        yield f"columns.{name}.amount: must be given for mechanism: {kind.name}, {_AMOUNTS[wanted]}"
    elif not _fits(column.amount, wanted, column):
        yield (
            f"columns.{name}.amount: must be {_AMOUNTS[wanted]} for mechanism: {kind.name}, "
            f"got {column.amount:g}"
        )


def _fits(amount: float, kind: AmountKind, column: Perturb | PerturbCategories) -> bool:
    if kind == "share":
        return amount <= 1
    if kind == "factor":
        return amount <= MOST_FACTOR
    if kind == "count":
        return amount == math.floor(amount) and 2 <= amount <= MOST_COUNT
    unit = column.resolution if isinstance(column, Perturb) else 1  # of categories: codes
    steps = Fraction(repr(float(amount))) / Fraction(repr(float(unit)))
    return steps.denominator == 1 and 2 <= steps <= 2**40


def _list_unused(name: str, column: Perturb | PerturbCategories) -> Iterator[str]:
    """Yield what is said of noise that such a column does not get."""
    why = "its mechanism changes the whole column, without noise of a scale"
    if isinstance(column, Perturb) and column.sensitivity != "class":
        yield f"columns.{name}.sensitivity: must be left out: {why}"
    if column.weight != 1:
        yield f"columns.{name}.weight: must be left out: {why}, and takes no share of ε"


def _together(columns: Mapping[str, Any], changed: Mapping[str, Mechanism]) -> Iterator[str]:
    """Yield which columns are changed together by different amounts."""
    for kind in {one.name: one for one in changed.values()}.values():
        own = [name for name, one in changed.items() if one is kind]
        amounts = {columns[name].amount for name in own}
        if kind.whole_column is not None and kind.whole_column.together and len(amounts - {None}) > 1:
            yield (
                f"columns: {', '.join(own)} must have the same amount: mechanism: {kind.name} changes them "
                "together"
            )


def _joint(columns: Mapping[str, Any], kinds: Mapping[str, Mechanism]) -> Iterator[str]:
    """Yield which columns cannot move together with others.

    Args:
        kinds: of the columns; one of drawn categories has none.
    """
    joint: dict[str, list[str]] = {}
    for name in (name for name, column in columns.items() if getattr(column, "together", False)):
        kind = kinds.get(name)
        if kind is None or kind.whole_column is None or not kind.whole_column.joint:
            own = columns[name].mechanism if kind is None else kind.name
            yield (
                f"columns.{name}.together: must be left out with mechanism: {own}, which gives each column "
                f"values of its own. It is for {joint_mechanisms()}."
            )
        else:
            joint.setdefault(kind.name, []).append(name)
    for own, names in joint.items():
        if len(names) == 1:
            yield (
                f"columns.{names[0]}.together: needs a second column with mechanism: {own} and together: "
                f"true, whose values move with it, got {names[0]} alone"
            )


def needs_distribution(wanted: Any, sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield that a field can only be computed from a distribution, which some columns do not have.

    For the mark `marks.Fits` of such a field.
    """
    kinds = kinds_of_noise(sections) if wanted is not None else {}
    changed = {name: kind.name for name, kind in kinds.items() if kind.whole_column is not None}
    if changed:
        names = ", ".join(dict.fromkeys(changed.values()))
        yield f"must be left out: {names} ({', '.join(changed)}) has no distribution to compute it from"


def kinds_of_noise(sections: Mapping[str, Any]) -> dict[str, Mechanism]:
    """Return the mechanism of each perturb column with numbers; none without the section."""
    section = sections.get("perturb")
    if section is None:
        return {}
    return {
        name: MECHANISMS[column.mechanism or section.mechanism]
        for name, column in (sections.get("columns") or {}).items()
        if isinstance(column, Perturb)
    }


def kinds_of_changes(columns: Mapping[str, Any]) -> dict[str, Mechanism]:
    """Return the mechanism of each column of categories that is changed as a whole.

    Args:
        columns: parsed columns by name; one that did not parse is None.
    """
    return {
        name: MECHANISMS[column.mechanism]
        for name, column in columns.items()
        if isinstance(column, PerturbCategories) and column.whole_column
    }
