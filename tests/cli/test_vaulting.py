"""The commands on the vault: numbers only, exit codes, resumable."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import validate

from anon_pipeline import cli
from anon_pipeline.cli.documents import schema_of
from anon_pipeline.cli.examples import EXAMPLES
from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.crypto import vault_key
from anon_pipeline.vault.keys import Keys
from anon_pipeline.vault.local import LocalStore

OLD, NEW = os.urandom(32), os.urandom(32)
Call = Callable[..., tuple[int, str]]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    def run(*arguments: str, key: bytes | None = None) -> tuple[int, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["anon-pipeline", "vault", *arguments])
        monkeypatch.delenv("ANON_PIPELINE_VAULT_KEY", raising=False)
        if key is not None:
            monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", key.hex())
        with pytest.raises(SystemExit) as exit_:
            cli.main()
            sys.exit(0)
        shown = capsys.readouterr()
        said = shown.out + shown.err
        assert OLD.hex() not in said
        assert NEW.hex() not in said
        assert "CANARY" not in said
        return int(exit_.value.code or 0), said

    return run


def put(root: Path, name: str, key: bytes | None) -> None:
    with Vault(LocalStore(root / "vault"), Keys(vault_key(key) if key else None)).writing(name) as file:
        file.write(b"CANARY")


def test_status_counts_and_names_nothing(call: Call, tmp_path: Path) -> None:
    put(tmp_path, "CANARY_release/raw.parquet", OLD)
    put(tmp_path, "CANARY_release/raw/p.parquet", NEW)
    put(tmp_path, "CANARY_release/deidentified.parquet", None)
    code, said = call("status", key=NEW)
    assert code == 0
    assert f"encrypted   1 under {vault_key(NEW).id} (the key)" in said
    assert f"encrypted   1 under {vault_key(OLD).id} (a key not given here)" in said
    (tmp_path / "vault" / "CANARY_notes.txt").write_text("CANARY")
    assert call("status", key=NEW)[1].splitlines()[-3:] == [
        "plain       1 (not encrypted)",
        "unfinished  0 (left by a crash)",
        "other       1 (not written by anon-pipeline)",
    ]
    assert "CANARY" not in said
    assert "not encrypted: no key is set" in call("status")[1]


def test_rotate_with_a_file_of_old_keys(call: Call, tmp_path: Path) -> None:
    for name in ("r/raw.parquet", "r/suppressed.parquet"):
        put(tmp_path, name, OLD)
    (tmp_path / "old").write_text(OLD.hex())
    code, said = call("rotate", key=NEW)
    assert code == 2
    assert "no given key opens: 2" in said
    code, said = call("rotate", "--old-keys-file", "old", key=NEW)
    assert (code, "rewrapped   2" in said) == (0, True)
    code, said = call(*shlex.split(EXAMPLES["vault rotate"])[2:], key=NEW)
    assert (code, "before      2" in said) == (0, True)
    put(tmp_path, "r/perturbed.parquet", None)
    code, said = call("rotate", key=NEW)
    assert code == 2
    assert "plain artifacts, although the vault has had a key: 1" in said
    assert call("rotate")[0] == 2


def test_purge_by_age(call: Call, tmp_path: Path) -> None:
    for name in ("r/raw.parquet", "r/raw/p.parquet", "r/memory/p.parquet"):
        put(tmp_path, name, OLD)
    os.utime(tmp_path / "vault/r/raw/p.parquet", (0, 0))
    os.utime(tmp_path / "vault/r/memory/p.parquet", (0, 0))
    assert "deleted     1" in call("purge", "--older-than", "30")[1]
    assert LocalStore(tmp_path / "vault").names() == ["r/memory/p.parquet", "r/raw.parquet"]
    assert call("purge")[0] == 2


def test_a_broken_key_is_an_input_error(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY_FILE", "/not/there")
    code, said = call("status")
    assert (code, "it is not there" in said) == (2, True)


def test_another_vault_by_option(call: Call, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere", "r/raw.parquet", None)
    assert "plain       1" in call("status", "--vault", str(tmp_path / "elsewhere" / "vault"))[1]
    assert "plain       0" in call("status", "--vault", "memory://empty")[1]


def test_rotate_prints_its_counts_as_json(call: Call, tmp_path: Path) -> None:
    put(tmp_path, "r/raw.parquet", None)
    code, said = call("rotate", "--json", key=NEW)
    document = json.loads(said)
    validate(document, schema_of("vault rotate"))
    assert (code, document["encrypted"], document["refused"]) == (0, 1, 0)


def test_rotate_encrypts_a_vault_that_was_begun_without_a_key(call: Call, tmp_path: Path) -> None:
    for name in ("r/raw.parquet", "r/memory.parquet"):
        put(tmp_path, name, None)
    code, said = call("rotate", key=NEW)
    assert (code, "encrypted   2" in said) == (0, True)
    assert "plain       0" in call("status", key=NEW)[1]
    put(tmp_path, "r/shuffled.parquet", None)
    code, said = call("rotate", key=NEW)
    assert (code, "--encrypt-plain" in said, "encrypted   0" in said) == (2, True, True)
    code, said = call("rotate", "--encrypt-plain", key=NEW)
    assert (code, "encrypted   1" in said) == (0, True)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_status_says_how_many_files_git_tracks(call: Call, tmp_path: Path) -> None:
    put(tmp_path, "CANARY/raw.parquet", None)
    assert "git tracks" not in call("status")[1]
    for words in (["init", "-q"], ["add", "--force", "vault"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert "git tracks 1 files of the vault" in call("status")[1]  # its .gitignore is not counted
