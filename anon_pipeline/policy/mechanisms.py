"""Rules on the noise of a policy's columns: which mechanism needs what, and which fit instead.

Belongs here: rules on mechanisms, ε and δ. Does not belong here: other rules between sections (`rules`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from anon_pipeline.policy.columns import Perturb, PerturbCategories
from anon_pipeline.policy.fields import Mechanism

__all__ = [
    "CATEGORY_EPSILON",
    "SMALLEST_DELTA",
    "STAIRCASE_EPSILON",
    "broken_mechanisms",
    "without_public_scale",
]

STAIRCASE_EPSILON = 10
"""Largest ε of a column with staircase noise: its sampler tries again about exp(ε/2)/2 times."""

SMALLEST_DELTA = 1e-12

CATEGORY_EPSILON = 1_000
"""Largest ε of a column with categories."""


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
    by_kind = {kind: [name for name, own in kinds.items() if own == kind] for kind in get_args(Mechanism)}
    gaussian, uniform = by_kind["discrete_gaussian"], by_kind["uniform"]
    if gaussian and section.delta is None:
        yield (
            f"perturb.delta: must be given for mechanism: discrete_gaussian in {', '.join(gaussian)}. "
            "Without one fit discrete_laplace, staircase."
        )
    if not gaussian and section.delta is not None:
        yield "perturb.delta: must be left out when no column has mechanism: discrete_gaussian"
    if uniform and not section.without_guarantee:
        yield (
            f"perturb.without_guarantee: must be true for mechanism: uniform in {', '.join(uniform)}, which "
            "guarantees nothing. These guarantee ε: discrete_laplace, staircase, discrete_gaussian."
        )
    if not uniform and section.without_guarantee:
        yield "perturb.without_guarantee: must be left out when no column has mechanism: uniform"
    yield from _shares(columns, section, by_kind)
    if sections.get("budget") is not None and (gaussian or uniform):
        yield (
            "budget: counts ε alone, so that every column must have mechanism: discrete_laplace or "
            f"staircase, got others in {', '.join(name for name in kinds if name in {*gaussian, *uniform})}"
        )


def without_public_scale(columns: Mapping[str, Any], section: Any) -> dict[str, str]:
    """Return why the noise of a perturb column cannot stay over releases, by the names of such columns.

    The scale of noise is public where it comes from the policy alone: numbers with ``sensitivity: declared``,
    and categories, whose domain is listed. Uniform noise has no ε that could have been paid.

    Args:
        columns: parsed columns by name; one that did not parse is None.
        section: ``perturb``; None without noise.
    Returns:
        ``class`` or ``uniform`` by name, in the order of the columns.
    """
    found = {}
    for name, column in columns.items():
        if not isinstance(column, Perturb):
            continue
        if column.sensitivity == "class":
            found[name] = "class"
        elif (column.mechanism or getattr(section, "mechanism", None)) == "uniform":
            found[name] = "uniform"
    return found


def _shares(columns: Mapping[str, Any], section: Any, by_kind: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield which columns' shares of ε and δ their mechanism could not draw."""
    categories = [name for name, column in columns.items() if isinstance(column, PerturbCategories)]
    weights = {name: columns[name].weight for names in (*by_kind.values(), categories) for name in names}
    whole = sum(weights.values())
    large = [name for name in categories if section.epsilon * weights[name] / whole > CATEGORY_EPSILON]
    if large:
        yield (
            f"perturb.epsilon: must leave at most {CATEGORY_EPSILON:,} for a column with categories, got "
            f"more for {', '.join(large)}"
        )
    sharp = [
        name for name in by_kind["staircase"] if section.epsilon * weights[name] / whole > STAIRCASE_EPSILON
    ]
    if sharp:
        yield (
            f"perturb.epsilon: must leave at most {STAIRCASE_EPSILON} for a column with mechanism: "
            f"staircase, got more for {', '.join(sharp)}. Beyond fit discrete_laplace, discrete_gaussian."
        )
    gaussian = sum(weights[name] for name in by_kind["discrete_gaussian"])
    small = [
        name
        for name in by_kind["discrete_gaussian"]
        if section.delta is not None and section.delta * weights[name] / gaussian < SMALLEST_DELTA
    ]
    if small and len(by_kind["discrete_gaussian"]) > 1:
        yield f"perturb.delta: must leave at least 1e-12 for each column, got less for {', '.join(small)}"
