"""tests/a/test_b.py tests anon_pipeline/a/b.py; the lists of exceptions only shrink.

`python -m tests.test_mirror` writes them again, after a merge that moves modules.
"""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
PACKAGE = ROOT / "anon_pipeline"
OF_ITSELF = {"adversarial", "docs", "plugin", "whole"}
"""Folders that mirror no room: the harness, the documents, an example plugin, whole chains."""
OF_THE_HOUSE = {"deployment", "floors", "kinds", "mirror", "postgres", "public"}
"""Tests of the repository as a whole, at the top level."""
EXCEPTIONS = TESTS / "mirror_exceptions.txt"
"""Modules without a test file of their name, and test files without a module of theirs, sorted."""
PRIVATE_NAMES = TESTS / "private_names.txt"
"""How many private names of the package each test file reaches for, and which."""


def _modules() -> set[str]:
    found = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts)
    return {str(path.with_suffix("")) for path in found if path.name != "__init__.py"}


def _tested() -> set[str]:
    """Return what test files are named for; `a/test_a.py` may test the package `a` as a whole."""
    names = set()
    for path in TESTS.rglob("test_*.py"):
        place = path.relative_to(TESTS)
        if place.parts[0] in OF_ITSELF or (len(place.parts) == 1 and place.stem[5:] in OF_THE_HOUSE):
            continue
        names.add(str(place.with_name(place.stem[5:])))
    return names


def exceptions() -> list[str]:
    """Return what does not mirror today: `module x` has no test file, `tests x` names no module."""
    modules, tested = _modules(), _tested()
    packages = {str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("__init__.py")}
    whole = {f"{package}/{Path(package).name}" for package in packages}
    named = tested - modules - whole
    return sorted([*(f"module {m}" for m in modules - tested), *(f"tests {n}" for n in named)])


def private_names() -> list[str]:
    """Return `file: name` for each private name of the package that a test reaches for."""
    found = set()
    for path in TESTS.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anon_pipeline"):
                imported |= {alias.asname or alias.name for alias in node.names}
                private = (alias.name for alias in node.names if _is_private(alias.name))
                found |= {(str(path.relative_to(TESTS)), name) for name in private}
        for node in ast.walk(tree):
            of_ours = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            if of_ours and node.value.id in imported and _is_private(node.attr):
                found.add((str(path.relative_to(TESTS)), f"{node.value.id}.{node.attr}"))
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                parts = node.value.split(".")
                if parts[0] == "anon_pipeline" and node.value.isascii() and _is_private(parts[-1]):
                    found.add((str(path.relative_to(TESTS)), node.value))
    return sorted(f"{file}: {name}" for file, name in found)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name.isidentifier()


def _known(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_each_module_has_a_test_file_of_its_name_and_no_other_is_there() -> None:
    found, known = set(exceptions()), set(_known(EXCEPTIONS))
    assert sorted(found - known) == [], "give the module its test file, and the test file its module"
    assert sorted(known - found) == [], "take from the list what is as it should be"


def test_no_further_private_name_is_reached_for() -> None:
    found, known = set(private_names()), set(_known(PRIVATE_NAMES))
    assert sorted(found - known) == [], "test it through what is public"
    assert sorted(known - found) == [], "take from the list what nobody reaches for"


def main() -> None:
    """Write both lists as they are today."""
    EXCEPTIONS.write_text("\n".join([*_heading(EXCEPTIONS), *exceptions(), ""]), encoding="utf-8")
    PRIVATE_NAMES.write_text("\n".join([*_heading(PRIVATE_NAMES), *private_names(), ""]), encoding="utf-8")


def _heading(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]


if __name__ == "__main__":
    main()
