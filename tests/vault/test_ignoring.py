"""A project that is scaffolded keeps its vault out of git; what its ``.gitignore`` says stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from dagster.components.scaffold.scaffold import ScaffoldRequest

from anon_pipeline.orchestration.component import ReleaseScaffolder
from anon_pipeline.vault.ignoring import ignore_vault


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
