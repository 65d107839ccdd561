"""Which project a vault belongs to: a random id, made once, in the vault and in the project's folder.

Nothing of it is derived from paths, so it stays when either is moved. The vault's copy serves machines that
keep no project folder; the project's copy shows a vault that was exchanged as a whole.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from anon_pipeline.base.disk import replace_file
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.vault.names import PROJECT
from anon_pipeline.vault.store import Store

PIN = ".anon-pipeline-project"
"""Name of the file in the project's folder; it holds nothing private and may be committed."""

_ID = re.compile(r"[0-9a-f]{32}")
_MOST = 100  # bytes that are read of it


def project_of(store: Store, *, project: Path | None) -> str:
    """Return the id of the project that a vault belongs to, made at first use.

    Args:
        project: folder of the project; None, or one that cannot be written: the vault alone keeps the id.
    Returns:
        32 hexadecimal digits.
    Raises:
        InputError: the vault is another project's, an id cannot be read, or the vault cannot be written.
    """
    pinned = None if project is None else _pinned_id(project / PIN)
    wanted = pinned or secrets.token_hex(16)
    found = _settle(store, wanted)
    if not _ID.fullmatch(found):
        raise InputError(
            f"the vault's file {PROJECT} must hold the project's id. Restore it, or delete it: the next run "
            f"makes it from {PIN}, and private tables may have to be made again."
        )
    if pinned is not None and found != pinned:
        raise InputError(_FOREIGN)
    if pinned is None and project is not None:
        with suppress(OSError):  # a folder that cannot be written: the vault keeps the id
            replace_file(project / PIN, f"{found}\n".encode(), mode=0o644, what="project id")
    return found


def refuse_foreign(store: Store, *, project: Path) -> None:
    """Refuse a vault that is known to be another project's; nothing is made or written."""
    pinned = _pinned_id(project / PIN)
    if pinned is None or not store.exists(PROJECT):
        return
    with store.reading(PROJECT) as file:
        found = file.read(_MOST).decode("ascii", "replace").strip()
    if found != pinned:
        raise InputError(_FOREIGN)


_FOREIGN = (
    f"the vault belongs to another project: {PIN} in the project's folder and {PROJECT} in the vault hold "
    "different ids. Give each project a vault of its own. If this vault was brought here on purpose, copy "
    f"its file {PROJECT} over {PIN}."
)


def _settle(store: Store, wanted: str) -> str:
    """Return the id that the vault holds; write the wanted one where it holds none."""
    try:
        return store.read_or_create(PROJECT, wanted.encode()).decode("ascii", "replace").strip()
    except OSError as error:
        reason = error_words(error)
    raise InputError(f"the vault must be writable, its file {PROJECT} could not be read or made: {reason}")


def _pinned_id(path: Path) -> str | None:
    """Return the id that the project's folder holds; None where it holds none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError:
        found = ""
    else:
        with os.fdopen(handle, "rb") as file:
            found = file.read(_MOST).decode("ascii", "replace").strip()
    if not _ID.fullmatch(found):
        raise InputError(
            f"{PIN} must hold the project's id (32 hexadecimal digits). Restore it, or delete it: the next "
            "run takes the vault's."
        )
    return found
