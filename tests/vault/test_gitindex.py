"""A vault of which git tracks a file is refused: the reader of the index counts what git itself lists."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.artifacts import Vault, survey
from anon_pipeline.vault.gitindex import tracked_files
from anon_pipeline.vault.keys import Keys
from anon_pipeline.vault.local import LocalStore

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
Put = Callable[[Vault, str, bytes], None]
CANARY = "CANARY-7f3a"


def git(folder: Path, *words: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *who, *words], cwd=folder, env=clean, capture_output=True, check=True)
    return done.stdout.decode()


def by_git(vault: Path) -> int:
    """What git says: the slow twin."""
    return len([name for name in git(vault, "ls-files", "-z", "--", ".").split("\0") if name])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "work")
    return tmp_path / "work"


def fill(repository: Path) -> Path:
    vault = repository / "vault" / "clinic"
    vault.mkdir(parents=True)
    for i in range(30):
        (vault / f"{'long' * (i % 3) * 20}{CANARY}-{i}.parquet").write_bytes(b"x")
        (repository / f"other{'y' * i}").write_bytes(b"x")
        (repository / f"vaults{i}").write_bytes(b"x")
    return repository / "vault"


@pytest.mark.parametrize("form", ["2", "3", "4", "split", "sha256", "sparse", "skip hash"])
def test_it_counts_what_git_lists(repository: Path, form: str) -> None:
    if form == "sha256":
        shutil.rmtree(repository)
        git(repository.parent, "init", "-q", "--object-format=sha256", "work")
    vault = fill(repository)
    assert tracked_files(vault) == 0
    if form == "skip hash":
        git(repository, "config", "index.skipHash", "true")
    git(repository, "add", "-A")
    if form in ("2", "3", "4"):
        git(repository, "update-index", "--index-version", form)
    if form == "3":
        (vault / "intended").write_bytes(b"")
        git(repository, "add", "-N", "vault/intended")
    if form == "split":
        git(repository, "update-index", "--split-index")
        (vault / "later").write_bytes(b"")
        git(repository, "add", "vault/later")
    if form == "sparse":
        git(repository, "commit", "-q", "-m", "one")
        git(repository, "sparse-checkout", "set", "--cone", "--sparse-index", "elsewhere")
        (repository / "vault").mkdir(exist_ok=True)
        assert tracked_files(vault) == 1  # the folder itself, which stands for its files
        return
    assert tracked_files(vault) == by_git(vault) >= 30
    assert tracked_files(vault / "clinic") == by_git(vault / "clinic")
    assert tracked_files(repository) == by_git(repository)
    git(repository, "rm", "-r", "-q", "--cached", "vault")
    assert tracked_files(vault) == by_git(vault) == 0


def test_a_long_path_is_read_whole(repository: Path) -> None:
    deep = repository / "vault" / Path(*(["d" * 200] * 18))
    deep.parent.parent.parent.mkdir(parents=True)
    (deep.parent.parent.parent / "f").write_bytes(b"")
    for i in range(8):
        folder = repository / "vault" / Path(*(["e" * 250] * (i + 8)))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "f").write_bytes(b"")
    git(repository, "add", "-A")
    assert tracked_files(repository / "vault") == by_git(repository / "vault") == 9


def test_worktrees_submodules_and_links_are_followed(repository: Path, tmp_path: Path) -> None:
    (repository / "a").write_bytes(b"")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "one")
    git(repository, "worktree", "add", "-q", "../beside")
    vault = fill(tmp_path / "beside")
    git(tmp_path / "beside", "add", "-A")
    assert tracked_files(vault) == 30
    (tmp_path / "link").symlink_to(vault)
    assert tracked_files(tmp_path / "link") == 30
    assert tracked_files(repository / "vault") == 0


def test_nothing_is_written_into_a_tracked_vault_until_it_is_mended(
    repository: Path, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository / "vault"
    (root / "clinic").mkdir(parents=True)
    (root / "clinic" / f"{CANARY}.parquet").write_bytes(b"x")
    git(repository, "add", "-A")
    vault = Vault(LocalStore(root), Keys())
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    with pytest.raises(InputError, match="git tracks 1 of its files") as caught:
        put(vault, "clinic/raw.parquet", b"names")
    assert CANARY not in str(caught.value)
    assert not (root / "clinic" / "raw.parquet").exists()
    git(repository, "rm", "-r", "-q", "--cached", "vault")
    put(vault, "clinic/raw.parquet", b"names")


def test_git_add_all_takes_nothing_of_a_vault(repository: Path, put: Put) -> None:
    vault = Vault(LocalStore(repository / "vault"), Keys())
    put(vault, "clinic/raw.parquet", b"names")
    (repository / "policy.yaml").write_text("")
    git(repository, "add", "-A")
    assert git(repository, "ls-files").split() == ["policy.yaml"]
    assert (repository / "vault" / ".gitignore").read_text() == "*\n"
    assert survey(vault.store).other == 0
    assert vault.store.names() == ["clinic/raw.parquet"]
    (repository / "vault" / ".gitignore").write_bytes(b"")  # what a crash left
    put(vault, "clinic/raw.parquet", b"names")
    git(repository, "add", "-A")
    assert tracked_files(repository / "vault") == 0


def test_the_root_of_a_repository_is_no_vault_to_ignore(repository: Path, put: Put) -> None:
    put(Vault(LocalStore(repository), Keys()), "clinic/raw.parquet", b"names")
    assert not (repository / ".gitignore").exists()


@pytest.mark.parametrize("config", ["fsmonitor", "hooksPath", "alias"])
def test_nothing_of_a_hostile_repository_is_run(repository: Path, tmp_path: Path, config: str) -> None:
    vault, ran = fill(repository), tmp_path / "ran"
    git(repository, "add", "-A")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o700)
    with (repository / ".git" / "config").open("a") as file:
        file.write(
            f"[core]\n\tfsmonitor = {program}\n\thooksPath = {tmp_path}\n[alias]\n\tls-files = !{program}\n"
        )
    assert tracked_files(vault) == 30
    assert not ran.exists(), config


@pytest.mark.parametrize("cut", [0, 4, 12, 33, 80, 700])
def test_an_index_that_is_none_says_nothing(repository: Path, cut: int) -> None:
    vault = fill(repository)
    git(repository, "add", "-A")
    index = repository / ".git" / "index"
    index.write_bytes(index.read_bytes()[:cut])
    assert tracked_files(vault) in range(31)
    index.write_bytes(os.urandom(5000))
    assert tracked_files(vault) == 0
    (repository / ".git" / "HEAD").unlink()
    assert tracked_files(vault) == 0
