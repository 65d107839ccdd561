"""Where the vault's bytes go: what every place offers, and which place a policy's text means."""

from __future__ import annotations

import datetime
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.locations import is_url, plain_vault
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.vault.remote import RemoteStore


class Store(Protocol):
    """Bytes by name: a relative path with slashes."""

    def reading(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open for reading; FileNotFoundError if it is not there."""

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open for writing; what was there before stays until the end, and if anything is raised."""

    def open_replacement(self, name: str) -> AbstractContextManager[tuple[BinaryIO, BinaryIO]]:
        """Open for reading and for writing its successor; nobody else replaces it meanwhile."""

    def names(self) -> list[str]:
        """Return the names of all files but `names.OWN`, unfinished ones too, sorted."""

    def read_or_create(self, name: str, data: bytes) -> bytes:
        """Return a small file's bytes; where it is not there, write ``data`` first, one writer alone."""

    def clear_unfinished(self) -> None:
        """Remove leftovers of dead writers, if the place can detect that they are dead."""

    def exists(self, name: str) -> bool:
        """Tell whether a file is there."""

    def remove(self, name: str) -> None:
        """Remove a file; one that is not there is none."""

    def modified_at(self, name: str) -> datetime.datetime:
        """Return when a file was written, with a time zone."""


def store_at(place: str) -> Store:
    """Return the store of a local folder or of a URL such as ``s3://bucket/vault``.

    Raises:
        InputError: a URL of a kind that is not installed, or with credentials.
    """
    plain_vault(place)
    if place.startswith("file://") or not is_url(place):
        return LocalStore(Path(place.removeprefix("file://")).absolute())
    import fsspec  # noqa: PLC0415 - only a remote vault needs it

    try:
        fs, root = fsspec.core.url_to_fs(place)
    except (ImportError, ValueError) as error:
        kind = type(error).__name__
    else:
        return RemoteStore(fs, str(root).rstrip("/"))
    raise InputError(f"the vault's URL must be of a kind that fsspec knows here: {kind}.")
