"""A vault that was begun without a key gets one: all of it, resumable, and nothing planted with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest

from anon_pipeline.base.disk import Disk, use_disk
from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.artifacts import Rotated, Survey, Vault, rotate, survey
from anon_pipeline.vault.crypto import VaultKey
from anon_pipeline.vault.keys import Keys
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.vault.store import store_at

Put = Callable[[Vault, str, bytes], None]
CANARY = b"CANARY-7f3a"
NAMES = [
    "clinic/draws/0123",
    "clinic/memory-staged.parquet",
    "clinic/memory.parquet",
    "clinic/raw.parquet",
    "clinic/raw/2026-01-05.parquet",
]


class Killed(BaseException):
    """What a process does when it is killed: nothing more."""


@pytest.fixture(params=["local", "memory", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "s3":
        yield str(request.getfixturevalue("s3"))
        return
    yield f"{tmp_path}/vault" if request.param == "local" else "memory://vault-encrypting/inner"
    files = fsspec.filesystem("memory")
    if files.exists("/vault-encrypting"):
        files.rm("/vault-encrypting", recursive=True)


def begun(place: str, put: Put) -> Vault:
    vault = Vault(store_at(place))
    for name in NAMES:
        put(vault, name, CANARY + name.encode())
    return vault


def whole(vault: Vault) -> bool:
    return all(bytes(vault.read(name)) == CANARY + name.encode() for name in NAMES)


def test_all_of_it_is_encrypted_anywhere(place: str, key: VaultKey, put: Put) -> None:
    vault = replace(begun(place, put), keys=Keys(key))
    with pytest.raises(InputError, match="anon-pipeline vault rotate"):
        vault.read("clinic/memory.parquet")
    assert rotate(vault) == Rotated(0, 0, 0, 0, encrypted=5)
    assert survey(vault.store) == Survey({key.id: 5}, 0, 0, 0)
    assert vault.store.names() == NAMES
    assert whole(vault)
    for name in NAMES:
        with vault.store.reading(name) as file:
            assert CANARY not in file.read()
    assert rotate(vault) == Rotated(0, 5, 0, 0)


def test_no_plain_bytes_are_left_in_the_folder(tmp_path: Path, key: VaultKey, put: Put) -> None:
    vault = replace(begun(f"{tmp_path}/vault", put), keys=Keys(key))
    dead = tmp_path / "vault" / "other" / ".raw.parquet.abc.part"
    dead.parent.mkdir()
    dead.write_bytes(CANARY)
    assert rotate(vault).unfinished == 0
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in found if CANARY in path.read_bytes()]
    names = {path.name for path in found if path.parent == tmp_path / "vault"}
    assert names == {".gitignore", "sealed-with-key"}


def _points(tmp_path: Path, key: VaultKey, put: Put) -> list[str]:
    seen: list[str] = []
    vault = replace(begun(f"{tmp_path}/seen", put), keys=Keys(key))
    with use_disk(Disk(at=seen.append)):
        rotate(vault)
    return seen


def test_it_goes_on_after_a_crash_at_every_point(tmp_path: Path, key: VaultKey, put: Put) -> None:
    count = len(_points(tmp_path, key, put))
    assert count > 60
    for stop in range(count):
        root = tmp_path / str(stop)
        vault, done = replace(begun(str(root), put), keys=Keys(key)), []

        def at(name: str, stop: int = stop, done: list[str] = done) -> None:
            done.append(name)
            if len(done) == stop + 1:
                raise Killed

        with use_disk(Disk(at=at)), pytest.raises(Killed):
            rotate(vault)
        planted = root / "clinic" / "suppressed.parquet"
        sealed_before = (root / "sealed-with-key").exists()
        planted.write_bytes(CANARY)
        after = rotate(vault)
        assert (after.plain, after.refused, after.unfinished) == (int(sealed_before), 0, 0), done[-1]
        assert whole(vault)
        if sealed_before:  # what came meanwhile is not laundered
            assert planted.read_bytes() == CANARY


def test_a_plain_table_in_a_sealed_vault_is_never_adopted_unasked(
    sealed: Vault, key: VaultKey, put: Put
) -> None:
    assert isinstance(sealed.store, LocalStore)
    put(sealed, "clinic/raw.parquet", b"mine")
    planted = sealed.store.root / "clinic" / "suppressed.parquet"
    planted.write_bytes(CANARY)
    assert rotate(sealed) == Rotated(0, 1, 1, 0)
    sealed.store.remove("clinic/raw.parquet")  # also where everything that was sealed has been deleted
    assert rotate(sealed) == Rotated(0, 0, 1, 0)
    with pytest.raises(InputError, match="is not encrypted, but a vault key is set"):
        sealed.read("clinic/suppressed.parquet")
    assert rotate(sealed, encrypt_plain=True) == Rotated(0, 0, 0, 0, encrypted=1)
    assert bytes(sealed.read("clinic/suppressed.parquet")) == CANARY


def test_a_journal_vouches_for_bytes_not_for_names(tmp_path: Path, key: VaultKey, put: Put) -> None:
    vault = replace(begun(f"{tmp_path}/vault", put), keys=Keys(key))
    seen = 0

    def at(name: str) -> None:
        nonlocal seen
        seen += name == "after rename private table"
        if seen == 3:  # the journal, `sealed`, one artifact
            raise Killed

    with use_disk(Disk(at=at)), pytest.raises(Killed):
        rotate(vault)
    exchanged = tmp_path / "vault" / "clinic" / "raw.parquet"
    exchanged.write_bytes(b"planted")
    assert rotate(vault) == Rotated(0, 1, 1, 0, encrypted=3)
    assert exchanged.read_bytes() == b"planted"


def test_a_journal_of_another_key_vouches_for_nothing(
    tmp_path: Path, key: VaultKey, other_key: VaultKey, put: Put
) -> None:
    forged = replace(begun(f"{tmp_path}/forged", put), keys=Keys(other_key))
    mine = Vault(store_at(f"{tmp_path}/vault"), Keys(key))
    put(mine, "clinic/shuffled.parquet", b"mine")

    def at(name: str) -> None:
        if (tmp_path / "forged" / "rotation-journal").exists():
            raise Killed

    with use_disk(Disk(at=at)), pytest.raises(Killed):
        rotate(forged)
    (tmp_path / "vault" / "rotation-journal").write_bytes(
        (tmp_path / "forged" / "rotation-journal").read_bytes()
    )
    (tmp_path / "vault" / "clinic" / "raw.parquet").write_bytes(CANARY + b"clinic/raw.parquet")
    assert rotate(mine) == Rotated(0, 1, 1, 0)


def test_a_full_rotation_after_the_first_key(
    tmp_path: Path, key: VaultKey, other_key: VaultKey, put: Put
) -> None:
    vault = replace(begun(f"{tmp_path}/vault", put), keys=Keys(key))
    rotate(vault)
    after = replace(vault, keys=Keys(other_key, (key,)))
    assert rotate(after) == Rotated(5, 0, 0, 0)
    assert whole(replace(vault, keys=Keys(other_key)))
