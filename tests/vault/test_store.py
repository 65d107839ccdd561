"""Each place keeps, lists, replaces and removes, and names stay in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.crypto import VaultKey
from anon_pipeline.vault.keys import Keys
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.vault.remote import RemoteStore
from anon_pipeline.vault.store import store_at

Put = Callable[[Vault, str, bytes], None]


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


def test_any_place_keeps_lists_replaces_and_removes(place: str, key: VaultKey, put: Put) -> None:
    store = store_at(place)
    assert isinstance(store, RemoteStore if place.startswith(("memory", "s3")) else LocalStore)
    assert store.names() == []
    vault = Vault(store, Keys(key))
    put(vault, "r/a.parquet", b"one")
    put(vault, "r/a.parquet", b"two")
    put(vault, "r/b/2026.01.parquet", b"three")
    assert store.names() == ["r/a.parquet", "r/b/2026.01.parquet"]
    assert bytes(vault.read("r/a.parquet")) == b"two"
    assert store.modified_at("r/a.parquet").tzinfo is not None
    store.remove("r/a.parquet")
    store.remove("r/a.parquet")
    assert store.names() == ["r/b/2026.01.parquet"]
    with pytest.raises(InputError, match="does not have"):
        vault.read("r/a.parquet")


def test_a_write_that_fails_leaves_what_was_there_anywhere(place: str, key: VaultKey, put: Put) -> None:
    vault = Vault(store_at(place), Keys(key))
    put(vault, "r/a.parquet", b"one")
    with pytest.raises(ZeroDivisionError), vault.writing("r/a.parquet") as file:
        file.write(b"x" * 3_000_000)
        raise ZeroDivisionError
    assert bytes(vault.read("r/a.parquet")) == b"one"
    assert vault.store.names() == ["r/a.parquet"]


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "", "."])
def test_names_stay_in_the_vault(place: str, name: str) -> None:
    vault = Vault(store_at(place))
    with pytest.raises(InputError, match="inside it"):
        vault.read(name)
    with pytest.raises(InputError, match="inside it"), vault.writing(name):
        pass


def test_an_unknown_kind_of_place() -> None:
    with pytest.raises(InputError, match="fsspec knows") as raised:
        store_at("nosuchkind://CANARY/place")
    assert "CANARY" not in f"{raised.value}{raised.value.__cause__}{raised.value.__context__}"
