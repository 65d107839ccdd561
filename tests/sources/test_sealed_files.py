"""Encrypted files of sources: read with the vault's key, and with nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.formats import read_file, read_folder
from anon_pipeline.sources.sealed_files import is_sealed, refuse_plain, unseal_file
from anon_pipeline.vault.crypto import Sealer, vault_key

SECRETS = [bytes(range(start, start + 32)) for start in (0, 100)]
TABLE = pd.DataFrame({"name": ["Quillfeather-4711", "b"], "age": [41, 5]})


def sealed(folder: Path, name: str = "d1.1.parquet", secret: bytes = SECRETS[0]) -> Path:
    path = folder / name
    with path.open("wb") as file:
        sealer = Sealer(file, vault_key(secret), name)
        sealer.write(TABLE.to_parquet(index=False))
        sealer.finish()
    return path


def read(path: Path | Held) -> pd.DataFrame:
    return read_file("parquet", path, SourceOptions(), Limits(), ())


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ANON_PIPELINE_VAULT")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", SECRETS[0].hex())


def test_an_encrypted_file_is_read_as_the_file_that_it_was(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    assert b"Quillfeather" not in path.read_bytes()
    assert is_sealed(path)
    pd.testing.assert_frame_equal(read(path), TABLE)


def test_other_files_and_bytes_are_returned_as_they_are(tmp_path: Path) -> None:
    plain = tmp_path / "a.parquet"
    TABLE.to_parquet(plain, index=False)
    held = Held("elsewhere", sealed(tmp_path).read_bytes())
    assert not is_sealed(plain)
    assert unseal_file(plain, Limits()) is plain
    assert unseal_file(held, Limits()) is held


def test_an_old_key_reads_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sealed(tmp_path)
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", SECRETS[1].hex())
    with pytest.raises(InputError, match=r"d1\.1\.parquet is encrypted with key .*divide the table again"):
        read(path)
    monkeypatch.setenv("ANON_PIPELINE_VAULT_OLD_KEYS", SECRETS[0].hex())
    pd.testing.assert_frame_equal(read(path), TABLE)


def test_without_a_key_the_message_says_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sealed(tmp_path)
    monkeypatch.delenv("ANON_PIPELINE_VAULT_KEY")
    with pytest.raises(InputError, match="Set ANON_PIPELINE_VAULT_KEY, "):
        read(path)


@pytest.mark.parametrize("change", ["renamed", "cut", "byte"])
def test_what_was_changed_is_refused(tmp_path: Path, change: str) -> None:
    path = sealed(tmp_path)
    data = bytearray(path.read_bytes())
    if change == "renamed":
        path = path.rename(tmp_path / "d1.2.parquet")
    else:
        data[-20] ^= 1
        path.write_bytes(data if change == "byte" else data[:-1])
    with pytest.raises(InputError, match=r"must be as it was written.*folder of sources") as caught:
        read(path)
    assert "Quillfeather" not in str(caught.value)


def test_a_file_beyond_the_limit_is_not_decrypted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file_bytes"):
        unseal_file(sealed(tmp_path), Limits(file_bytes=10))


def test_a_plain_file_is_refused_where_the_policy_says_that_it_is_encrypted(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    refuse_plain(path)
    TABLE.to_parquet(path, index=False)
    with pytest.raises(InputError, match=r"d1\.1\.parquet: must be encrypted.*who can write"):
        refuse_plain(path)
    with pytest.raises(InputError, match="must be encrypted"):
        refuse_plain(tmp_path)


def test_a_file_that_was_cut_within_its_head_is_no_plain_file(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    path.write_bytes(path.read_bytes()[:7])
    assert is_sealed(path)
    with pytest.raises(InputError, match="must be as it was written"):
        read(path)


def test_a_folder_of_encrypted_files_is_read(tmp_path: Path) -> None:
    files = {name: sealed(tmp_path, name) for name in ("a.parquet", "b.parquet")}
    assert len(read_folder("parquet", "folder", files, Limits())) == 4
