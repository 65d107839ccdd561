"""Generalization hierarchies whose labels list their members: ``Ann/Bob`` for a group of five."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.hierarchy import Hierarchy, code_column
from anon_pipeline.policy.hierarchies import HierarchySpec, hierarchy_kind
from anon_pipeline.policy.model import Policy

_LISTED = 2  # members that a label names
_LETTER = re.compile(r"[^\W\d_]")


def listing_labels(frame: Table, policy: Policy, *, hierarchies: Path = Path()) -> tuple[str, ...]:
    """Name the columns released by a hierarchy of which a label names members that only few records have.

    A label counts that has two or more values of its own group in it, as whole words, each of which fewer
    than k records have: k records share the label, and it says which few values are among them. Numbers and
    intervals are none, nor are labels of categories that many have ("widowed/divorced").

    Args:
        frame: (n, columns) accepted data.
        hierarchies: folder of the hierarchy tables.
    Returns:
        Names in the policy's order.
    """
    found = []
    for name, spec in labeled_columns(policy).items():
        try:
            codes, hierarchy = code_column(frame[name], spec, folder=hierarchies)
        except InputError:
            continue  # values that are no leaves: the stage that generalizes them says so
        many = np.bincount(codes, minlength=hierarchy.leaves)
        rare = np.flatnonzero((many > 0) & (many < policy.gate_k)).tolist()
        rare = [leaf for leaf in rare if _text(hierarchy, leaf)]
        if len(rare) >= _LISTED and _lists(hierarchy, rare):
            found.append(name)
    return tuple(found)


def labeled_columns(policy: Policy) -> dict[str, HierarchySpec]:
    """Return the columns that are released by a hierarchy whose labels no rule computes from the values."""
    specs = {name: getattr(column, "hierarchy", None) for name, column in policy.columns.items()}
    released = {*policy.generalized, *policy.coarsened}
    return {
        name: spec
        for name, spec in specs.items()
        if spec is not None and name in released and not hierarchy_kind(spec).computed
    }


def _text(hierarchy: Hierarchy, leaf: int) -> str:
    """Return a leaf that has letters, as it is compared; empty for numbers, intervals and missing values."""
    value = hierarchy.values[0][leaf]
    text = "" if value is None else str(value).strip()
    return text.casefold() if _LETTER.search(text) else ""


def _lists(hierarchy: Hierarchy, rare: list[int]) -> bool:
    """Tell whether some label above the leaves has two of its rare leaves in it."""
    texts = {leaf: re.compile(rf"(?<!\w){re.escape(_text(hierarchy, leaf))}(?!\w)") for leaf in rare}
    for level in range(1, hierarchy.height):
        members: dict[int, list[int]] = {}
        for leaf in rare:
            members.setdefault(int(hierarchy.lookups[level][leaf]), []).append(leaf)
        for group, leaves in members.items():
            label = str(hierarchy.values[level][group]).casefold()
            if sum(texts[leaf].search(label) is not None for leaf in leaves) >= _LISTED:
                return True
    return False
