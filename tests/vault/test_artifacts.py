"""A vault keeps artifacts private and complete, here and elsewhere, and wraps their keys anew."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.artifacts import Rotated, Survey, Vault, rotate, survey
from anon_pipeline.vault.crypto import VaultKey
from anon_pipeline.vault.keys import Keys
from anon_pipeline.vault.store import store_at

Put = Callable[[Vault, str, bytes], None]
NAMES = [f"clinic/{stage}.parquet" for stage in ("a", "b", "c", "d", "e")]


@pytest.fixture
def memory() -> Iterator[str]:
    yield "memory://vault-test/inner"
    files = fsspec.filesystem("memory")
    if files.exists("/vault-test"):
        files.rm("/vault-test", recursive=True)


@pytest.fixture(params=["local", "file", "memory", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param in ("memory", "s3"):
        return str(request.getfixturevalue(request.param))
    return f"file://{tmp_path}/vault" if request.param == "file" else f"{tmp_path}/vault"


def test_rotation_anywhere(place: str, key: VaultKey, other_key: VaultKey, put: Put) -> None:
    before = Vault(store_at(place), Keys(key))
    for name in NAMES:
        put(before, name, name.encode() * 100_000)
    after = replace(before, keys=Keys(other_key, (key,)))
    assert rotate(after) == Rotated(5, 0, 0, 0)
    assert rotate(after) == Rotated(0, 5, 0, 0)
    alone = replace(before, keys=Keys(other_key))
    assert all(bytes(alone.read(name)) == name.encode() * 100_000 for name in NAMES)
    assert survey(alone.store) == Survey({other_key.id: 5}, 0, 0, 0)
    with pytest.raises(InputError, match="The keys given are"):
        before.read(NAMES[0])


def test_an_interrupted_rotation_is_readable_and_can_be_resumed(
    sealed: Vault, key: VaultKey, other_key: VaultKey, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        put(sealed, name, name.encode())
    both, calls, real = replace(sealed, keys=Keys(other_key, (key,))), [], Path.replace

    def dying(self: Path, target: Any) -> Path:
        calls.append(target)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(Path, "replace", dying)
    with pytest.raises(KeyboardInterrupt):
        rotate(both)
    monkeypatch.undo()
    assert survey(sealed.store) == Survey(dict(sorted({key.id: 3, other_key.id: 2}.items())), 0, 0, 0)
    assert [bytes(both.read(name)) for name in NAMES] == [name.encode() for name in NAMES]
    assert rotate(both) == Rotated(3, 2, 0, 0)
    assert [bytes(replace(sealed, keys=Keys(other_key)).read(n)) for n in NAMES] == [
        n.encode() for n in NAMES
    ]


def test_a_rotation_leaves_what_it_cannot_open(
    sealed: Vault, key: VaultKey, other_key: VaultKey, put: Put
) -> None:
    put(sealed, "r/a.parquet", b"mine")
    put(replace(sealed, keys=Keys()), "r/plain.parquet", b"PAR1")
    put(replace(sealed, keys=Keys()), "r/notes.txt", b"x")
    third = VaultKey("ab" * 16, os.urandom(32))
    put(replace(sealed, keys=Keys(third)), "r/foreign.parquet", b"theirs")
    assert rotate(replace(sealed, keys=Keys(other_key, (key,)))) == Rotated(1, 0, 1, 1)
    assert bytes(replace(sealed, keys=Keys(third)).read("r/foreign.parquet")) == b"theirs"
    expected = dict(sorted({other_key.id: 1, third.id: 1}.items()))
    assert survey(sealed.store) == Survey(expected, plain=1, unfinished=0, other=1)
    with pytest.raises(InputError, match="must have a key"):
        rotate(replace(sealed, keys=Keys()))


def test_a_table_written_during_a_rotation_is_not_lost(
    sealed: Vault, key: VaultKey, other_key: VaultKey, put: Put
) -> None:
    """Another's write waits for the lock that the rotation holds, and so comes last."""
    put(sealed, "r/a.parquet", b"old")
    writer = threading.Thread(target=put, args=(sealed, "r/a.parquet", b"new"), daemon=True)
    with sealed.store.open_replacement("r/a.parquet") as (source, target):
        writer.start()
        writer.join(0.3)
        assert writer.is_alive()
        target.write(source.read())
    writer.join(20)
    assert bytes(sealed.read("r/a.parquet")) == b"new"


def test_swapped_and_renamed_files_are_errors(sealed: Vault, tmp_path: Path, put: Put) -> None:
    put(sealed, "r/a.parquet", b"same")
    put(sealed, "r/b.parquet", b"same")
    folder = tmp_path / "vault" / "r"
    a, b = (folder / "a.parquet").read_bytes(), (folder / "b.parquet").read_bytes()
    (folder / "a.parquet").write_bytes(b)
    (folder / "b.parquet").write_bytes(a)
    for name in ("r/a.parquet", "r/b.parquet"):
        with pytest.raises(InputError, match="renamed or exchanged"):
            sealed.read(name)
    (folder / "c.parquet").write_bytes(a)
    with pytest.raises(InputError, match="renamed or exchanged"):
        sealed.read("r/c.parquet")


def test_key_and_artifact_must_agree(sealed: Vault, put: Put) -> None:
    without = replace(sealed, keys=Keys())
    put(sealed, "r/a.parquet", b"secret")
    put(without, "r/b.parquet", b"plain")
    assert bytes(without.read("r/b.parquet")) == b"plain"
    with pytest.raises(InputError, match="is encrypted and there is no key"):
        without.read("r/a.parquet")
    with pytest.raises(InputError, match="is not encrypted, but a vault key is set"):
        sealed.read("r/b.parquet")


def test_what_a_crash_left_is_counted_and_not_read(sealed: Vault, put: Put, tmp_path: Path) -> None:
    put(sealed, "r/a.parquet", b"x")
    (tmp_path / "vault" / "r" / ".a.parquet.zz.part").write_bytes(b"half")
    assert survey(sealed.store).unfinished == 1
