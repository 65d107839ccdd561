"""One run at a time in a folder of the vault: held against other runs on this machine."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.vault.identity import project_of
from anon_pipeline.vault.local import LocalStore, private_folder
from anon_pipeline.vault.store import Store


@contextmanager
def hold_vault_folder(
    store: Store, inside: str, *, here: Path, project: Path | None, what: str
) -> Iterator[None]:
    """Hold a folder of a vault; ends with the process, however that dies.

    Args:
        inside: the folder's path in the vault.
        here: local folder in which the lock is where the vault is remote; other machines do not see it.
        project: folder of the project, whose vault it must be; None: the vault alone says whose it is.
        what: could not be done, see `writable`.
    Raises:
        InputError: the vault is another project's, or cannot be written.
    """
    root = store.root if isinstance(store, LocalStore) else here
    with writable(what):
        project_of(store, project=project)
        private_folder(root / inside, root=root)
        handle = os.open(root / inside, os.O_RDONLY)
    try:
        with writable(what):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # closing alone keeps it where a forked child has the handle
        os.close(handle)


@contextmanager
def writable(what: str) -> Iterator[None]:
    """Say in words of our own that the vault cannot be written.

    Args:
        what: could not be done there, such as ``records that wait could not be kept there``.
    """
    try:
        yield
        return
    except OSError as error:
        reason = error_words(error)
    raise InputError(f"the vault must be writable, {what}: {reason}")
