"""The map of the code names what is there: every room, and every module that a new kind touches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "anon_pipeline"
MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MODULE = re.compile(r"`((?:[a-z0-9_]+/)+[a-z0-9_*]+\.py)`")


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, without its own heading."""
    section = re.split(r"^## ", MAP.partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def named(text: str) -> set[str]:
    """Return the modules that a text names, by their place in the package."""
    return set(MODULE.findall(text))


def absent(modules: set[str]) -> set[str]:
    """Return those that are not there; a name may hold a star."""
    return {module for module in modules if not [*PACKAGE.glob(module), *ROOT.glob(module)]}


def test_every_room_is_on_the_map() -> None:
    said = {name for row in rows("The rooms") for name in re.findall(r"`([a-z_]+)`", row[0])}
    assert said == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_modules_that_a_new_kind_touches_are_there() -> None:
    found = named(" ".join(cell for row in rows("Where to add what") for cell in row))
    assert len(found) > 20
    assert absent(found) == set()


NEW = {
    "hierarchy/prefixes.py",
    "perturb/geometric_law.py",
    "perturb/geometric_noise.py",
    "perturb/triangle_law.py",
    "perturb/triangle_noise.py",
    "recode/blocks.py",
    "sources/zipped.py",
}
"""Modules that were written to add a kind once, and went again."""


def test_modules_that_were_touched_are_there_but_for_those_that_were_written() -> None:
    assert absent(named(" ".join(cell for row in rows("Measured") for cell in row))) == NEW


@pytest.mark.parametrize("row", rows("Measured"), ids=lambda row: row[0][:40])
def test_the_number_of_files_is_that_of_the_files_named(row: list[str]) -> None:
    many, _, files = row[1].partition(":")
    assert int(many) == len(named(files))


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md", "docs/plugins.md", "docs/policy.md"])
def test_modules_that_other_pages_name_are_there(page: str) -> None:
    found = named((ROOT / page).read_text(encoding="utf-8"))
    assert {module for module in absent(found) if not module.startswith("anon_example/")} == set()


def test_the_sizes_of_all_rooms_add_up() -> None:
    *rooms, whole = rows("Size")
    numbers = [[int(cell.replace(",", "").strip("*–") or 0) for cell in row[1:4]] for row in (*rooms, whole)]
    assert [sum(column) for column in zip(*numbers[:-1], strict=True)] == numbers[-1]
    now = {row[0].strip("*`"): size for row, (_, _, size) in zip((*rooms, whole), numbers, strict=True)}
    for path in PACKAGE.glob("*/__init__.py"):
        lines = sum(len(module.read_text().splitlines()) for module in path.parent.rglob("*.py"))
        assert now[path.parent.name] == pytest.approx(lines, rel=0.05), f"{path.parent.name}: {lines:,}"
    named_rooms = {name for row in rooms for name in re.findall(r"^`([a-z_]+)`$", row[0])}
    assert named_rooms == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
