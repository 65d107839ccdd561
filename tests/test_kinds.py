"""Names of kinds stand in their table and in their implementation, and nowhere else in the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.catalog.named import code
from anon_pipeline.catalog.recoders import FAMILIES, RECODERS
from anon_pipeline.catalog.sources import FORMATS, GENERATORS
from anon_pipeline.limits.table import LIMITS, limit_of
from anon_pipeline.policy.hierarchies import HIERARCHIES

PACKAGE = Path(__file__).resolve().parents[1] / "anon_pipeline"
ORDINARY = {"entropy", "precision"}
"""Losses with the names of other things: a kind of l-diversity, a measure of models."""
NAMES = {*RECODERS, *MECHANISMS, *CATEGORY_MECHANISMS, *LOSSES} - ORDINARY
ALLOWED = {
    "catalog/recoders.py": "the table",
    "catalog/entries.py": "families, which have names of recoders",
    "catalog/losses.py": "the table",
    "catalog/mechanisms.py": "the table",
    "publish/guarantee_v1.py": "sentences of manifest version 1, which must not change",
    "recode/fulldomain/values.py": "an ordinary word",
}


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the string constants of a module that are names of kinds, but those in ``__all__``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    listed = {
        id(constant)
        for node in tree.body
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in node.targets)
        for constant in ast.walk(node.value)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in NAMES and id(node) not in listed:
            yield node.lineno, node.value


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_no_name_of_a_recoder_mechanism_or_loss_outside_of_its_table(path: Path) -> None:
    if str(path.relative_to(PACKAGE)) in ALLOWED:
        return
    assert list(_strings(path)) == []


def test_what_is_excepted_is_there() -> None:
    assert all((PACKAGE / name).is_file() for name in ALLOWED)


@pytest.mark.parametrize(
    "place",
    [
        *(recoder.algorithm for recoder in RECODERS.values()),
        *(family.runs for family in FAMILIES.values()),
        *(loss.measures for loss in LOSSES.values()),
        *(mechanism.law for mechanism in MECHANISMS.values()),
        *(form.reads for form in FORMATS.values()),
        *(generator.makes for generator in GENERATORS.values()),
        *(kind.builds for kind in HIERARCHIES.values()),
        *(kind.recognizes for kind in HIERARCHIES.values()),
    ],
)
def test_every_record_names_code_that_is_there(place: str) -> None:
    assert code(place) is not None


def test_names_are_said_once_and_found() -> None:
    assert len({limit.name for limit in LIMITS}) == len(LIMITS)
    assert all(limit_of(limit.name) is limit for limit in LIMITS)
    for table in (RECODERS, LOSSES, MECHANISMS, CATEGORY_MECHANISMS, FORMATS, GENERATORS, HIERARCHIES):
        assert all(name == entry.name for name, entry in table.items())
