"""tests/a/test_b.py tests anon_pipeline/a/b.py, and tests/a/test_a.py the package a as a whole.

What does not mirror stands in mirror_exceptions.txt with its reason; private names that tests reach for
stand in private_names.txt with theirs. Both lists only shrink. A module of kernels is tested by the file of
a module that calls it.
"""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
PACKAGE = ROOT / "anon_pipeline"
OF_ITSELF = {"adversarial", "docs", "plugin", "whole"}
"""Folders that mirror no room: the harness, the documents, an example plugin, whole chains."""
OF_THE_HOUSE = {
    "deployment",
    "example_counts",
    "floors",
    "kinds",
    "mirror",
    "names",
    "pins",
    "postgres",
    "public",
    "repeatable_noise",
    "watched",
}
"""Tests of the repository as a whole, at the top level."""
KERNELS = ("_kernel", "_kernels")
EXCEPTIONS = TESTS / "mirror_exceptions.txt"
PRIVATE_NAMES = TESTS / "private_names.txt"


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


def _imports(module: str) -> set[str]:
    """Return the modules that a module imports by name."""
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anon_pipeline"):
            place = node.module.removeprefix("anon_pipeline").lstrip(".").replace(".", "/")
            found |= {place, *(f"{place}/{alias.name}" for alias in node.names)}
    return found


def untested() -> set[str]:
    """Return the modules without a test file of their name, but for kernels that a tested module calls."""
    modules, tested = _modules(), _tested()
    called = set().union(*(_imports(module) for module in modules & tested))
    return {m for m in modules - tested if not (m.endswith(KERNELS) and m in called)}


def misfits() -> set[str]:
    """Return what test files are named for that is neither a module nor a package."""
    packages = {str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("__init__.py")}
    return _tested() - _modules() - {f"{package}/{Path(package).name}" for package in packages}


def groups(path: Path) -> dict[str, list[str]]:
    """Return the groups of a list: the line with the reason, and the indented lines below it."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#") and line.strip():
            if line.startswith(" "):
                found[list(found)[-1]].append(line.strip())
            else:
                found[line] = []
    return found


def private_names() -> set[str]:
    """Return `file: name` for each private name of the package that a test reaches for."""
    found = set()
    for path in TESTS.rglob("*.py"):
        file, reached, imported = str(path.relative_to(TESTS)), set(), set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                if (node.module or "").startswith("anon_pipeline"):
                    imported |= {alias.asname or alias.name for alias in node.names}
                    found |= {(file, alias.name) for alias in node.names if _is_private(alias.name)}
            elif isinstance(node, ast.Attribute):
                if _is_private(node.attr) and isinstance(node.value, ast.Name):
                    reached.add((node.value.id, node.attr))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                parts = node.value.split(".")
                if parts[0] == "anon_pipeline" and node.value.isascii() and _is_private(parts[-1]):
                    found.add((file, node.value))
        found |= {(file, f"{name}.{attribute}") for name, attribute in reached if name in imported}
    return {f"{file}: {name}" for file, name in found}


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name.isidentifier()


def test_each_module_has_a_test_file_of_its_name_or_a_reason() -> None:
    listed = [module for group in groups(EXCEPTIONS).values() for module in group]
    found = untested()
    assert sorted(found - set(listed)) == [], "give the module its test file"
    assert sorted(set(listed) - found) == [], "take from the list what is as it should be"
    assert len(listed) == len(set(listed))


def test_each_test_file_is_named_for_a_module_or_a_package() -> None:
    assert sorted(misfits()) == [], "name it for the module that it tests, or move it to tests/whole"


def test_each_exception_has_a_reason_and_files_that_test_it() -> None:
    for line, modules in groups(EXCEPTIONS).items():
        reason, _, files = line.partition(": ")
        assert len(reason.split()) > 5, line
        assert modules, line
        missing = [file for file in files.split(", ") if not (TESTS / file).is_file()]
        assert files
        assert missing == [], line


def test_each_private_name_that_is_reached_for_has_a_reason() -> None:
    listed = {name for group in groups(PRIVATE_NAMES).values() for name in group}
    assert sorted(private_names() - listed) == [], "test it through what is public"
    assert sorted(listed - private_names()) == [], "take from the list what nobody reaches for"
    assert all(len(reason.split()) > 5 and names for reason, names in groups(PRIVATE_NAMES).items())
