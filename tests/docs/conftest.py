"""A folder as a fresh clone has it, in which commands of the docs are run."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLONED = ("Makefile", "assets", "constraints.txt", "pyproject.toml", "resources", "workspace.yaml")


@dataclass(frozen=True)
class Clone:
    """The folder, and the environment of commands in it."""

    path: Path
    environ: dict[str, str]


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """Copy what the commands need, with an environment that `make` takes for its own."""
    for name in CLONED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path)
    (tmp_path / ".dagster_home").mkdir()
    shutil.copy(ROOT / ".dagster_home" / "dagster.yaml", tmp_path / ".dagster_home")
    made = tmp_path / ".venv"
    made.mkdir()
    for path in Path(sys.prefix).iterdir():
        if path.name not in {".dev", ".runtime"}:
            (made / path.name).symlink_to(path)
    (made / ".runtime").touch()
    (made / ".dev").touch()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    path = f"{made}/bin{os.pathsep}{os.environ['PATH']}"
    return Clone(tmp_path, kept | {"PATH": path, "PYTHONPATH": str(ROOT)})
