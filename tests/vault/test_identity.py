"""The project's id in a vault that cannot be written: a named error, whoever asks."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.identity import project_of
from anon_pipeline.vault.local import LocalStore


def test_a_vault_that_cannot_be_written_is_a_named_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: LocalStore, name: str, data: bytes) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device: 'ann.csv'")

    monkeypatch.setattr(LocalStore, "read_or_create", full)
    with pytest.raises(InputError, match="the vault must be writable") as caught:
        project_of(LocalStore(tmp_path / "vault"), project=tmp_path)
    assert "ann" not in str(caught.value)
