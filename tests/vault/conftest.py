"""Keys and vaults for tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.crypto import VaultKey, vault_key
from anon_pipeline.vault.keys import Keys
from anon_pipeline.vault.local import LocalStore


@pytest.fixture
def key() -> VaultKey:
    return vault_key(os.urandom(32))


@pytest.fixture
def other_key() -> VaultKey:
    return vault_key(os.urandom(32))


@pytest.fixture
def sealed(tmp_path: Path, key: VaultKey) -> Vault:
    """A local vault with a key."""
    return Vault(LocalStore(tmp_path / "vault"), Keys(key))


@pytest.fixture
def put() -> Callable[[Vault, str, bytes], None]:
    def write(vault: Vault, name: str, data: bytes) -> None:
        with vault.writing(name) as file:
            file.write(data)

    return write
