"""Searches a module's syntax tree for kinds: their names, their models, their entries, their keys.

Docstrings and comments may name kinds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.catalog.column_types import COLUMN_TYPES
from anon_pipeline.catalog.destinations import DESTINATIONS
from anon_pipeline.catalog.detectors.table import DETECTORS
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.catalog.recoders import FAMILIES, RECODERS
from anon_pipeline.catalog.releases import PARTITION_KINDS, RELEASE_FORMATS
from anon_pipeline.catalog.sources import FORMATS, GENERATORS
from anon_pipeline.evidence.linkage import LINKAGES
from anon_pipeline.limits.sizes import POPULATION_RISKS
from anon_pipeline.limits.table import LIMITS
from anon_pipeline.policy.hierarchies import HIERARCHIES
from anon_pipeline.policy.source import SOURCES
from anon_pipeline.utility.measures import MEASURES

TABLES: tuple[Mapping[str, Any], ...] = (
    *(RECODERS, FAMILIES, MECHANISMS, CATEGORY_MECHANISMS, FORMATS, GENERATORS, HIERARCHIES, CLASS_LIMITS),
    *(IDENTIFIER_ACTIONS, RELEASE_FORMATS, PARTITION_KINDS, LOSSES, SOURCES, DESTINATIONS, COLUMN_TYPES),
)
LIMIT_NAMES = frozenset(limit.name for limit in LIMITS)
OF_UTILITY = frozenset(name for name in MEASURES if "_" in name)
"""Measures of utility; the others have names of what they count: records, classes, queries."""
NAMES = LIMIT_NAMES.union(*TABLES, LINKAGES, POPULATION_RISKS, OF_UTILITY, (one.name for one in DETECTORS))
ORDINARY = frozenset(
    (
        *("entropy", "precision", "path", "url", "asset", "generate", "delta"),
        *("text", "number", "integer", "date", "boolean", "auto", "exact", "threshold", "rules"),
    )
)
"""Names that are words of other things, too, in so many places that only a comparison with one tells."""
TELLING = NAMES - ORDINARY
UNMISTAKABLE = frozenset(name for name in TELLING if "_" in name)
KEYS: Mapping[str, Collection[str]] = {
    "gate": LIMIT_NAMES,
    "attacks": LIMIT_NAMES,
    "linkage": LINKAGES,
    "population": POPULATION_RISKS,
    "source": SOURCES,
    "deliver": DESTINATIONS,
}
"""Sections of a policy whose attributes are names of kinds."""
MODELS = frozenset(kind.model.__name__ for kind in HIERARCHIES.values())
ENTRIES = frozenset(map(id, (*LIMITS, *DETECTORS, *(one for table in TABLES for one in table.values()))))


def kinds_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield where a module says a kind: line, and what.

    ``ola`` for a name in a string constant; ``== text`` for a comparison with an ordinary word; ``is Tree``
    for one with the model of an entry; ``import ACCEPTED`` for an entry; ``gate.k`` for a key of the policy.
    """
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    modules = _modules(tree)
    for node in ast.walk(tree):
        if id(node) not in docstrings:
            line = getattr(node, "lineno", 0)
            yield from ((line, what) for what in (*_said(node), *_compared(node), *_taken(node, modules)))


def _said(node: ast.AST) -> Iterator[str]:
    """Yield the names that a string constant is, or has in it as words that are no others."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = {node.value} & TELLING or UNMISTAKABLE.intersection(re.findall(r"\w+", node.value))
        yield from sorted(words)


def _compared(node: ast.AST) -> Iterator[str]:
    """Yield ordinary words and models that are compared with, or matched."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        yield from (f"== {word}" for side in sides for word in sorted(_texts(side) & ORDINARY))
        if any(
            isinstance(how, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.In, ast.NotIn)) for how in node.ops
        ):
            yield from (f"is {name}" for side in sides for name in sorted(_names(side) & MODELS))
    elif isinstance(node, ast.MatchValue):
        yield from (f"== {word}" for word in sorted(_texts(node.value) & ORDINARY))
    elif isinstance(node, ast.MatchClass):
        yield from (f"is {name}" for name in sorted(_names(node.cls) & MODELS))
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
        yield from (f"is {name}" for name in sorted(_names(node.args[1]) & MODELS))


def _taken(node: ast.AST, modules: Mapping[str, ModuleType]) -> Iterator[str]:
    """Yield entries that are imported, alone or with their module, and keys of the policy's sections."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anon_pipeline"):
        of = import_module(str(node.module))
        yield from (f"import {one.name}" for one in node.names if id(getattr(of, one.name, None)) in ENTRIES)
    elif isinstance(node, ast.Attribute):
        base = getattr(node.value, "attr", getattr(node.value, "id", ""))
        if node.attr in KEYS.get(base, ()):
            yield f"{base}.{node.attr}"
        if isinstance(node.value, ast.Name) and id(getattr(modules.get(base), node.attr, None)) in ENTRIES:
            yield f"import {node.attr}"


def _modules(tree: ast.AST) -> dict[str, ModuleType]:
    """Return the modules of the package that a module imports as such, by the name that they have in it."""
    found: dict[str, ModuleType] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anon_pipeline"):
            of = import_module(str(node.module))
            members = {one.asname or one.name: getattr(of, one.name, None) for one in node.names}
            found |= {name: one for name, one in members.items() if isinstance(one, ModuleType)}
    return found


def _texts(node: ast.AST) -> set[str]:
    return {
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


def _names(node: ast.AST) -> set[str]:
    found = (getattr(one, "id", getattr(one, "attr", None)) for one in ast.walk(node))
    return {name for name in found if isinstance(name, str)}
