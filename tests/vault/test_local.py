"""A local vault is for its owner alone, and plain text is never on its disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.artifacts import Vault, rotate
from anon_pipeline.vault.crypto import VaultKey
from anon_pipeline.vault.keys import Keys

Put = Callable[[Vault, str, bytes], None]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777 & ~0o700, 0o777])
def test_private_whatever_the_umask(sealed: Vault, other_key: VaultKey, put: Put, umask: int) -> None:
    before = os.umask(umask)
    try:
        put(sealed, "r/s/p.parquet", b"x")
        rotate(Vault(sealed.store, Keys(other_key, sealed.keys.readable().values())))  # type: ignore[arg-type]
    finally:
        os.umask(before)
    root = sealed.store.root  # type: ignore[attr-defined]
    modes = {stat.S_IMODE(p.stat().st_mode) for p in root.rglob("*") if p.is_file()}
    assert modes == {0o600}
    assert {stat.S_IMODE(p.stat().st_mode) for p in (root, root / "r", root / "r/s")} == {0o700}


def test_folders_that_were_open_to_others_are_closed(sealed: Vault, put: Put) -> None:
    root = sealed.store.root  # type: ignore[attr-defined]
    folders = (root, root / "r", root / "r" / "s")
    (root / "r" / "s").mkdir(parents=True)
    for folder in folders:
        folder.chmod(0o777)
    above = stat.S_IMODE(root.parent.stat().st_mode)
    put(sealed, "r/s/p.parquet", b"x")
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}
    assert stat.S_IMODE(root.parent.stat().st_mode) == above


@pytest.mark.parametrize(
    ("mode", "ours", "said"),
    [
        (0o777, False, "of another user"),
        (0o1777, False, "shared by all"),
        (0o1777, True, "shared by all"),
        (0o775, False, None),
    ],
)
def test_a_vault_that_everybody_can_write_and_that_must_not_be_closed_is_refused(
    sealed: Vault, put: Put, monkeypatch: pytest.MonkeyPatch, mode: int, ours: bool, said: str | None
) -> None:
    root = sealed.store.root  # type: ignore[attr-defined]
    root.mkdir(parents=True)
    root.chmod(mode)
    if not ours:
        monkeypatch.setattr(os, "geteuid", lambda: root.stat().st_uid + 1000)
    if said is None:
        put(sealed, "p.parquet", b"x")
    else:
        with pytest.raises(InputError, match=said):
            put(sealed, "p.parquet", b"x")
    assert stat.S_IMODE(root.stat().st_mode) == mode
    assert bool(sealed.store.names()) is (said is None)


def test_plain_text_is_never_on_disk_not_even_while_writing(sealed: Vault, tmp_path: Path) -> None:
    looked = 0
    with sealed.writing("r/a.parquet") as file:
        for _ in range(40):
            file.write(b"CANARY-7f3a" * 10_000)
            looked += sum("CANARY" not in _text(p) for p in tmp_path.rglob(".*.part"))
    assert looked == 40
    assert all("CANARY" not in _text(p) for p in tmp_path.rglob("*") if p.is_file())


def _text(path: Path) -> str:
    return path.read_bytes().decode("latin-1")
