"""Rules on the noise of a policy's columns: which mechanism needs what, and which fit instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anon_pipeline.catalog.entries import Mechanism
from anon_pipeline.catalog.mechanisms import (
    CATEGORY_MECHANISMS,
    DEFAULT_MECHANISM,
    MECHANISMS,
    mechanisms_with,
)
from anon_pipeline.policy.columns import Perturb, PerturbCategories
from anon_pipeline.policy.whole_column_rules import broken_amounts, kinds_of_changes

SMALLEST_DELTA = 1e-12


def broken_mechanisms(columns: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[str]:
    """Yield which mechanisms do not fit what the section says of the noise, with those that do.

    Args:
        columns: parsed columns by name; one that did not parse is None.
        sections: parsed sections by name; one that did not parse is absent.
    """
    section = sections.get("perturb")
    if section is None or None in columns.values():
        return
    kinds = {
        name: columns[name].mechanism or section.mechanism
        for name in columns
        if isinstance(columns[name], Perturb)
    }
    numbers = {name: MECHANISMS[kind] for name, kind in kinds.items()}
    yield from _delta([name for name, one in numbers.items() if one.needs_delta], numbers, section)
    chosen = numbers | kinds_of_changes(columns)
    unpromised = [name for name, one in chosen.items() if one.promises == "nothing"]
    if unpromised and not section.without_guarantee:
        yield (
            f"perturb.without_guarantee: must be true for mechanism: {_kinds(unpromised, chosen)} in "
            f"{', '.join(unpromised)}, which guarantees nothing. These guarantee ε: {mechanisms_with()}."
        )
    if not unpromised and section.without_guarantee:
        names = ", ".join(name for name, one in MECHANISMS.items() if one.promises == "nothing")
        yield f"perturb.without_guarantee: must be left out when no column has mechanism: {names}"
    yield from broken_amounts(columns, sections)
    yield from _shares(columns, sections, numbers)
    uncounted = [name for name, one in chosen.items() if not one.counted]
    if sections.get("budget") is not None and uncounted:
        fits = " or ".join(name for name, one in MECHANISMS.items() if one.counted)
        yield (
            f"budget: counts ε alone, so that every column must have mechanism: {fits}; these do not: "
            f"{', '.join(uncounted)}"
        )


def _kinds(names: Sequence[str], chosen: Mapping[str, Mechanism]) -> str:
    return ", ".join(dict.fromkeys(chosen[name].name for name in names))


def _delta(with_delta: list[str], chosen: Mapping[str, Mechanism], section: Any) -> Iterator[str]:
    """Yield whether δ is given where, and only where, a mechanism needs it."""
    if with_delta and section.delta is None:
        yield (
            f"perturb.delta: must be given for mechanism: {_kinds(with_delta, chosen)} in "
            f"{', '.join(with_delta)}. Mechanisms without delta: {mechanisms_with(promises=('epsilon',))}."
        )
    if not with_delta and section.delta is not None:
        names = ", ".join(name for name, one in MECHANISMS.items() if one.needs_delta)
        yield f"perturb.delta: must be left out when no column has mechanism: {names}"


def without_public_scale(columns: Mapping[str, Any], section: Any) -> dict[str, str]:
    """Return why the noise of a perturb column cannot stay over releases, by the names of such columns.

    The scale of noise is public where it comes from the policy alone: numbers with ``sensitivity: declared``,
    and drawn categories, whose domain is listed. What promises nothing has no ε that could have been paid.

    Args:
        columns: parsed columns by name; one that did not parse is None.
        section: ``perturb``; None without noise.
    Returns:
        ``class`` or ``no promise`` by name, in the order of the columns.
    """
    found = dict.fromkeys(kinds_of_changes(columns), "no promise")
    for name, column in columns.items():
        if not isinstance(column, Perturb):
            continue
        kind: str = column.mechanism or getattr(section, "mechanism", None) or DEFAULT_MECHANISM
        if column.sensitivity == "class" and MECHANISMS[kind].whole_column is None:
            found[name] = "class"
        elif MECHANISMS[kind].promises == "nothing":
            found[name] = "no promise"
    return {name: found[name] for name in columns if name in found}


def _shares(
    columns: Mapping[str, Any], sections: Mapping[str, Any], chosen: Mapping[str, Mechanism]
) -> Iterator[str]:
    """Yield which columns' shares of ε and δ their mechanism could not draw."""
    section, rows = sections["perturb"], sections.get("rows_per_person") or 1
    categories = [
        name
        for name, column in columns.items()
        if isinstance(column, PerturbCategories) and not column.whole_column
    ]
    with_noise = [name for name, one in chosen.items() if one.whole_column is None]
    weights = {name: columns[name].weight for name in (*with_noise, *categories)}
    whole = sum(weights.values()) * rows
    for kind in CATEGORY_MECHANISMS.values():
        large = [
            name
            for name in categories
            if columns[name].mechanism == kind.name
            and section.epsilon * weights[name] / whole > kind.most_epsilon
        ]
        if large:
            yield (
                f"perturb.epsilon: must leave at most {kind.most_epsilon:,} for a column with categories, "
                f"got more for {', '.join(large)}"
            )
    for limited in (one for one in MECHANISMS.values() if one.most_epsilon is not None):
        most = limited.most_epsilon or 0
        sharp = [name for name, one in chosen.items() if one is limited]
        sharp = [name for name in sharp if section.epsilon * weights[name] / whole > most]
        if sharp:
            beyond = [one for one in MECHANISMS.values() if one.most_epsilon is None]
            fits = ", ".join(one.name for one in beyond if one.promises != "nothing")
            yield (
                f"perturb.epsilon: must leave at most {most:g} for a column with mechanism: {limited.name}, "
                f"got more for {', '.join(sharp)}. Beyond fit {fits}."
            )
    with_delta = [name for name, one in chosen.items() if one.needs_delta]
    together = sum(weights[name] for name in with_delta) * rows
    small = [
        name
        for name in with_delta
        if section.delta is not None and section.delta * weights[name] / together < SMALLEST_DELTA
    ]
    if small and (len(with_delta) > 1 or rows > 1):
        yield f"perturb.delta: must leave at least 1e-12 for each column, got less for {', '.join(small)}"
