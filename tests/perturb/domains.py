"""Domains of categories, regular and not, that the tests of their noise share."""

from __future__ import annotations

from typing import Any

from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.hierarchy.table_files import tree_levels
from anon_pipeline.perturb.category_law import (
    Domain,
    flat_domain,
    hierarchy_domain,
)

SAMPLES = 400_000


TREES: dict[str, Any] = {
    "regular": {
        "A": {"a": ["1", "2", "3"], "b": ["4", "5", "6"]},
        "B": {"c": ["7", "8", "9"], "d": ["10", "11", "12"]},
    },
    "irregular": {"A": {"a": ["1", "2", "3"], "b": ["4"]}, "B": {"c": ["5", "6"]}},
    "chain": {"all": {"one": ["1"], "more": ["2", "3", "4", "5", "6", "7", "8"]}},
}


def tree_domain(tree: Any) -> Domain:
    return hierarchy_domain(from_columns("x", tree_levels("x", tree)))


DOMAINS = {name: tree_domain(tree) for name, tree in TREES.items()} | {
    f"{size} values": flat_domain([str(i) for i in range(size)]) for size in (2, 3, 10, 40)
}


def regular(domain: Domain) -> bool:
    return bool((domain.rings() == domain.rings()[:, :1]).all())
