"""A room imports only from lower floors: the architecture of DESIGN, enforced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "anon_pipeline"

FLOORS: list[set[str]] = [
    {"base"},
    {"catalog"},
    {"policy"},
    {"vault"},
    {"hierarchy", "sources"},
    {"perturb"},
    {"risk", "encode", "ledger"},
    {"recode"},
    {"evidence"},
    {"stages"},
    {"utility", "windows"},
    {"limits"},
    {"gate"},
    {"report", "tuning"},
    {"publish"},
    {"testing", "declared"},
    {"epsilon_dp", "synthetic", "bucketized"},
    {"draft", "kinds"},
    {"division"},
    {"orchestration"},
    {"cli"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, f"{path}: relative imports hide the floor"
            if node.module == "anon_pipeline":
                yield from (f"anon_pipeline.{alias.name}" for alias in node.names)
            else:
                yield node.module


def test_every_room_has_a_floor() -> None:
    assert {_room(path) for path in _modules()} == set(FLOOR_OF)


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path: Path) -> None:
    own = _room(path)
    for name in _imported(path):
        parts = name.split(".")
        assert parts[0] not in {"assets", "resources", "tests", "benchmarks"}, f"the library imports {name}"
        if parts[0] == "anon_pipeline" and parts[1:] and parts[1] != own:
            assert FLOOR_OF[parts[1]] < FLOOR_OF[own], f"{own} imports {name} from its own floor or above"


def test_dagster_is_only_in_orchestration() -> None:
    users = {_room(path) for path in _modules() if any(n.split(".")[0] == "dagster" for n in _imported(path))}
    assert users == {"orchestration"}


def test_nothing_in_the_library_names_the_shared_folder() -> None:
    for folder in ("anon_pipeline", "assets", "resources"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".yaml", ".csv"}:
                assert "../shared" not in path.read_text(encoding="utf-8"), path


def test_no_name_of_a_module_stands_three_times() -> None:
    named = [path.stem for path in _modules() if path.stem != "__init__" and "migrations" not in path.parts]
    assert sorted(name for name in set(named) if named.count(name) > 2) == []
