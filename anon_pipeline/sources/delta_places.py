"""Where a Delta Lake table lies, and how it is opened: here, or in an object store."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.places import remote_problem
from anon_pipeline.catalog.extras import import_extra
from anon_pipeline.policy.delta import STORES
from anon_pipeline.sources.paths import filled_in, local_path
from anon_pipeline.sources.urls import url_in

_LIBRARY = "deltalake"
_OPTIONS = {
    "max_retries": "4",
    "retry_timeout": "30s",
}  # else a store that is not there holds a run for minutes
_PARTITION = "{partition}"


class Named(Protocol):
    """A section of the policy that says where a table lies."""

    @property
    def path(self) -> str | None:
        """Folder of the table."""

    @property
    def url(self) -> str | None:
        """Its URL."""

    @property
    def url_env(self) -> str | None:
        """Name of the environment variable with its URL."""


@dataclass(frozen=True, slots=True)
class DeltaPlace:
    """A folder or a prefix that is a Delta Lake table, or becomes one.

    uri: as the library takes it.
    key: of the policy, which messages name in place of the URI.
    folder: the table's folder, links followed; None: it is in an object store.
    """

    uri: str
    key: str
    folder: Path | None = None

    def open(self, version: int | None = None) -> Any:
        """Open a version of the table, by default the newest; None: no table is there.

        Raises:
            InputError: the library cannot read it, there is no such version, the place does not answer.
        """
        library = import_extra(_LIBRARY)
        which = "a Delta Lake table" if version is None else f"a Delta Lake table with version {version}"
        said = f"must be {which} that the package {_LIBRARY} can read"
        with withhold_text(f"{self.key}: {said}", Exception):
            try:
                return library.DeltaTable(self.uri, version=version, storage_options=self.options)
            except library.exceptions.TableNotFoundError:
                return None
            except library.exceptions.DeltaError as error:
                unsupported = "Unsupported" in str(error)
        feature = (
            f"it needs a feature of tables that {_LIBRARY} does not have" if unsupported else "DeltaError"
        )
        raise InputError(f"{self.key}: {said}: {feature}")

    def files(self) -> Any:
        """Return the table's files as a filesystem of Arrow, its root the table."""
        import pyarrow.fs as pafs  # noqa: PLC0415 - only these tables need it

        import_extra(_LIBRARY)
        handler = import_module(f"{_LIBRARY}.fs").DeltaStorageHandler
        with withhold_text(f"{self.key}: must be a place that can be reached", Exception):
            return pafs.PyFileSystem(handler(self.uri, self.options))

    @property
    def options(self) -> dict[str, str] | None:
        """How the library reaches an object store; credentials are in the environment."""
        return dict(_OPTIONS) if self.folder is None else None


def source_place(named: Named, key: str, folder: Path, partition: str | None) -> DeltaPlace:
    """Return the place of a table that is read.

    Args:
        named: section of the policy.
        key: of the section.
        folder: what its ``path`` is relative to.
    Raises:
        InputError: no such folder or variable, another kind of URL.
    """
    if named.path is not None:
        path = local_path(named.path, f"{key}.path", folder, partition).resolve()
        if not path.is_dir():
            raise InputError(f"{key}.path: must be the folder of a Delta Lake table, got a file")
        return DeltaPlace(str(path), f"{key}.path", path)
    return store_place(named, key, partition)


def store_place(named: Named, key: str, partition: str | None) -> DeltaPlace:
    """Return the place of a table in an object store, see `source_place`."""
    if named.url is not None:
        return DeltaPlace(filled_in(named.url, partition).rstrip("/"), f"{key}.url")
    own = f"{key}.url_env"
    url = url_in(str(named.url_env), own)
    problem = remote_problem(url, kinds=STORES)
    if problem:
        raise InputError(f"{own}: the variable {problem}")
    if _PARTITION in url and partition is None:
        raise InputError(f"{own}: {_PARTITION} must be filled in, got no partition")
    return DeltaPlace(filled_in(url, partition).rstrip("/"), own)
