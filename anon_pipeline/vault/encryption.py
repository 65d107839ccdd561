"""Encrypting a vault that was begun without a key: tables, memories and draws, one at a time.

Nobody vouches for a plain file in a vault that has a key: who can write there may have planted it. So what is
encrypted is listed first, by name and digest, in a journal that is sealed itself; an interrupted rotation
goes on with that list alone. Overwriting is not tried: the old bytes of a file that was replaced may stay on
the disk, in snapshots and in backups.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.crypto import HEADER, Sealer, VaultKey, key_id_of, unseal
from anon_pipeline.vault.names import JOURNAL
from anon_pipeline.vault.store import Store


def write_journal(store: Store, names: Iterable[str], key: VaultKey) -> dict[str, str]:
    """Write into the journal what is about to be encrypted.

    Args:
        names: of plain files.
    Returns:
        SHA-256 by name.
    """
    found = {name: digest for name in names if (digest := _digest(store, name)) is not None}
    with store.writing(JOURNAL) as target:
        sealer = Sealer(target, key, JOURNAL)
        sealer.write(json.dumps(found).encode())
        sealer.finish()
    return found


def read_journal(store: Store, keys: Mapping[str, VaultKey]) -> dict[str, str]:
    """Return what an interrupted rotation had listed; empty where nothing was, or it does not open."""
    try:
        with store.reading(JOURNAL) as source:
            text = b"".join(unseal(source, JOURNAL, keys))
    except (FileNotFoundError, InputError):
        return {}
    return {str(name): str(digest) for name, digest in json.loads(text).items()}


def close_journal(store: Store) -> None:
    """Remove the journal: nothing of it is left to do."""
    if store.exists(JOURNAL):
        store.remove(JOURNAL)


def encrypt_file(store: Store, name: str, *, digest: str, key: VaultKey) -> bool:
    """Put a plain file's encrypted form in its place, in one step.

    Args:
        digest: SHA-256 that it was listed with.
    Returns:
        False if the file is gone, or has become another one meanwhile: it stays as it is.
    """
    try:
        with store.open_replacement(name) as (source, target):
            plain = source.read()
            if key_id_of(plain[:HEADER]) is not None or hashlib.sha256(plain).hexdigest() != digest:
                raise _OtherError
            sealer = Sealer(target, key, name)
            sealer.write(plain)
            sealer.finish()
    except (FileNotFoundError, _OtherError):
        return False
    return True


class _OtherError(Exception):
    """The file is another one than was listed: leaves the replacing undone."""


def _digest(store: Store, name: str) -> str | None:
    try:
        with store.reading(name) as source:
            return hashlib.sha256(source.read()).hexdigest()
    except FileNotFoundError:
        return None
