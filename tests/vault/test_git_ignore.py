"""A project that is scaffolded keeps its vault out of git; what its ``.gitignore`` says stays."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from dagster.components.scaffold.scaffold import ScaffoldRequest

from anon_pipeline.orchestration.component import ReleaseScaffolder
from anon_pipeline.vault.git_ignore import ignore_all, ignore_file, ignore_vault


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "/vault/\n"),
        ("", "/vault/\n"),
        (".venv/", ".venv/\n/vault/\n"),
        (".venv/\n", ".venv/\n/vault/\n"),
        ("vault/\n", "vault/\n"),
        ("  /vault\nx", "  /vault\nx"),
        ("#/vault/\n!vault/\n", "#/vault/\n!vault/\n/vault/\n"),
    ],
)
def test_the_line_is_added_once(tmp_path: Path, before: str | None, after: str) -> None:
    file = tmp_path / ".gitignore"
    if before is not None:
        file.write_text(before)
    for _ in range(2):
        ignore_vault(tmp_path)
        assert file.read_text() == after


def test_a_file_that_cannot_be_changed_is_left(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"\xff\xfe")
    ignore_vault(tmp_path)
    assert (tmp_path / ".gitignore").read_bytes() == b"\xff\xfe"
    ignore_vault(tmp_path / "not there")


def test_scaffolding_extends_the_projects_file_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "project" / "src" / "defs" / "clinic"
    request = ScaffoldRequest("c.C", target, "yaml", None, None, False)
    ReleaseScaffolder().scaffold(request)
    assert not list(tmp_path.rglob(".gitignore"))  # without a project
    (tmp_path / "project" / "pyproject.toml").write_text("")
    ReleaseScaffolder().scaffold(request)
    assert [path.parent for path in tmp_path.rglob(".gitignore")] == [tmp_path / "project"]
    assert (tmp_path / "project" / ".gitignore").read_text() == "/vault/\n"


NAMES = (
    "town.csv",
    "a b.csv",
    "end ",
    "[x]*?.csv",
    "#x",
    "!x",
    "back\\slash",
    "two\nlines",
    "\u00e9.csv",
    "-x",
)


@pytest.mark.parametrize("name", NAMES)
def test_git_ignores_the_one_file(tmp_path: Path, name: str) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / name).write_text("private")
    (tmp_path / "other.csv").write_text("not private")
    for _ in range(2):
        ignore_file(tmp_path / name)
    assert untracked(tmp_path) == {".gitignore", "other.csv"}
    assert len((tmp_path / ".gitignore").read_text().splitlines()) == 1


def test_git_ignores_a_whole_folder(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / ".gitignore").write_text("*.tmp")
    (folder / "town.csv").write_text("private")
    for _ in range(2):
        ignore_all(folder)
    ignore_file(folder / "town.csv")
    assert untracked(tmp_path) == set()
    assert (folder / ".gitignore").read_text() == "*.tmp\n*\n"


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def untracked(folder: Path) -> set[str]:
    found = git(folder, "status", "--porcelain", "-z", "--untracked-files=all").split("\0")
    return {line[3:] for line in found if line}
