"""A folder of the vault is held by one at a time, and by nobody whose process has ended."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.held_folder import hold_vault_folder
from anon_pipeline.vault.local import LocalStore


def _hold_and_end(root: Path, began: object) -> None:
    with hold_vault_folder(LocalStore(root), "release/waiting", here=root, project=None, what="x"):
        began.set()  # type: ignore[attr-defined]
        os._exit(1)  # without leaving the block


def _hold(root: Path, held: object) -> None:
    with hold_vault_folder(LocalStore(root), "release/waiting", here=root, project=None, what="x"):
        held.set()  # type: ignore[attr-defined]


def test_the_second_waits_for_the_first(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    held = spawn.Event()
    other = spawn.Process(target=_hold, args=(tmp_path, held))
    with hold_vault_folder(LocalStore(tmp_path), "release/waiting", here=tmp_path, project=None, what="x"):
        other.start()
        assert not held.wait(3)
    assert held.wait(60)
    other.join(60)
    assert (tmp_path / "release" / "waiting").stat().st_mode & 0o077 == 0


def test_a_process_that_dies_holds_nothing(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    began = spawn.Event()
    other = spawn.Process(target=_hold_and_end, args=(tmp_path, began))
    other.start()
    other.join(60)
    assert began.is_set()
    with hold_vault_folder(LocalStore(tmp_path), "release/waiting", here=tmp_path, project=None, what="x"):
        pass


def test_the_vault_of_another_project_is_refused(tmp_path: Path) -> None:
    for name in ("one", "other"):
        project, vault = tmp_path / name, tmp_path / name / "vault"
        project.mkdir()
        with hold_vault_folder(LocalStore(vault), "a", here=vault, project=project, what="x"):
            pass
    theirs = tmp_path / "one" / "vault"
    with (
        pytest.raises(InputError),
        hold_vault_folder(LocalStore(theirs), "a", here=theirs, project=tmp_path / "other", what="x"),
    ):
        raise AssertionError("it was held")


def test_a_vault_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("no folder")
    with (
        pytest.raises(InputError, match="the vault must be writable, it could not be kept: ") as refused,
        hold_vault_folder(
            LocalStore(tmp_path), "a/b", here=tmp_path, project=None, what="it could not be kept"
        ),
    ):
        raise AssertionError("it was held")
    assert str(tmp_path) not in str(refused.value)
