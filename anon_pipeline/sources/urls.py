"""Files and folders at any place that fsspec knows: object stores, servers of the web."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.places import remote_problem
from anon_pipeline.base.size_bounds import Held, limit_error
from anon_pipeline.catalog.extras import install_words
from anon_pipeline.catalog.sources import FORMATS
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.change_guard import change_message
from anon_pipeline.sources.formats import file_portions, read_file, read_folder
from anon_pipeline.sources.parquet_rows import read_rows
from anon_pipeline.sources.paths import filled_in

_KEY_OF_VARIABLE = "source.url_env"
_BLOCK = 2**22
_VERSIONS = ("etag", "versionid", "version_id", "generation", "md5", "content-md5", "content_md5", "digest")
_TIMES = ("lastmodified", "last_modified", "last-modified", "updated", "mtime", "modified", "created")
_HIDDEN = (".", "_")
_DIGITS = 16  # of the digest of a version


def url_in(variable: str, key: str) -> str:
    """Return the URL that an environment variable holds.

    Args:
        variable: its name.
        key: of the policy that names it, for messages.
    Raises:
        InputError: it is not set, or empty.
    """
    url = os.environ.get(variable, "").strip()
    if not url:
        raise InputError(f"{key}: the environment variable {variable} is not set: it must hold a URL")
    return url


def source_url(policy: Policy) -> str | None:
    """Return the URL at which the source of a policy lies; None: at none, or its variable is not set."""
    place, remote = policy.source.place, policy.source.kind.remote
    if remote is None or not isinstance(place, str):
        return None
    return (os.environ.get(place, "").strip() or None) if remote == "variable" else place


def url_frame(policy: Policy, folder: Path, partition: str | None) -> Table:
    """Read the file or folder at ``source.url``; see `read_source`."""
    return _frame(policy, str(policy.source.place), "source.url", partition)


def url_env_frame(policy: Policy, folder: Path, partition: str | None) -> Table:
    """Read what lies at the URL that a variable holds, which may have credentials; see `read_source`.

    Raises:
        InputError: no such variable, another kind of URL; or see `read_source`.
    """
    url = _url_in_variable(policy, partition)
    return _frame(policy, url, _KEY_OF_VARIABLE, partition)


def url_portions(policy: Policy, folder: Path) -> Iterator[pa.Table]:
    """Yield the records of the file or folder at ``source.url``; see `portions`."""
    return _portions(policy, str(policy.source.place), "source.url")


def url_env_portions(policy: Policy, folder: Path) -> Iterator[pa.Table]:
    """Yield the records of what lies at the URL that a variable holds; see `portions`."""
    return _portions(policy, _url_in_variable(policy, None), _KEY_OF_VARIABLE)


def remote_file(policy: Policy) -> Held | None:
    """Return the bytes of the file at the URL of a source, as they are; None: a folder is there.

    Args:
        policy: its source is of a kind with a URL, and has no partitions.
    Raises:
        InputError: see `url_frame` and `url_env_frame`.
    """
    by_variable = policy.source.kind.remote == "variable"
    url = _url_in_variable(policy, None) if by_variable else str(policy.source.place)
    place = Place.at(url, _KEY_OF_VARIABLE if by_variable else "source.url")
    return None if place.is_folder() else place.file(policy.source.limits)


def url_version(url: str, folder: Path) -> str:
    """Return an identifier of the version of what is at ``source.url`` , see `Place.version`.

    Args:
        folder: of sources, which a URL does not need.
    Raises:
        InputError: no package can use the URL, or nothing is there that can be read.
    """
    return Place.at(url, "source.url").version()


def _url_in_variable(policy: Policy, partition: str | None) -> str:
    url = url_in(str(policy.source.place), _KEY_OF_VARIABLE)
    problem = remote_problem(url, secret=True)
    if problem:
        raise InputError(f"{_KEY_OF_VARIABLE}: the variable {problem}")
    if "{partition}" in url and partition is None:
        raise InputError(f"{_KEY_OF_VARIABLE}: {{partition}} must be filled in, got no partition")
    return url


def _frame(policy: Policy, url: str, key: str, partition: str | None) -> Table:
    source = policy.source
    place = Place.at(filled_in(url, partition), key)
    if FORMATS[source.format].folder and place.is_folder():
        files = place.folder(source.limits)
        return read_folder(source.format, key, files, source.limits)
    return read_file(source.format, place.file(source.limits), source.options, source.limits, policy.numeric)


def _portions(policy: Policy, url: str, key: str) -> Iterator[pa.Table]:
    """Yield records some at a time; one file is held in memory at a time."""
    source = policy.source
    place = Place.at(url, key)
    if FORMATS[source.format].folder and place.is_folder():
        return read_rows(key, place.files(source.limits), source.limits)
    file = place.file(source.limits)
    return file_portions(source.format, file, source.options, source.limits, policy.numeric)


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder that fsspec reaches. Bytes are held in memory; no copy is on the disk.

    key: of the policy, which messages name in place of the URL.
    """

    fs: Any
    path: str
    key: str

    @classmethod
    def at(cls, url: str, key: str) -> Place:
        """Return the place of a URL.

        Raises:
            InputError: the package of its kind is not installed, or cannot use the URL.
        """
        import fsspec  # noqa: PLC0415 - only remote sources and vaults need it

        missing = ""
        try:
            fs, path = fsspec.core.url_to_fs(url)
            return cls(fs, str(path), key)
        except ImportError as error:
            missing = install_words(str(error.name or _package(url)))
        except Exception as error:  # noqa: BLE001 - each package has errors of its own, which quote the URL
            kind = error_words(error)
        if missing:
            raise InputError(f"{key}: a package must be installed to read this URL: {missing}")
        raise InputError(f"{key}: must be a URL that its package can use: {kind}")

    def is_folder(self) -> bool:
        """Tell whether it is a folder, or the beginning of names that objects have in common."""
        found: bool = self._ask(lambda: not self.fs.isfile(self.path) and self.fs.isdir(self.path))
        return found

    def file(self, limits: Limits) -> Held:
        """Return a file's bytes, of one version.

        Raises:
            InputError: not there, not readable, larger than ``file_bytes``, or changed meanwhile.
        """
        before = self._version(self.path)
        data = self.read_bytes(self.path, before.get("size"), limits.file_bytes)
        if self._version(self.path) != before or before.get("size") not in (None, len(data)):
            raise InputError(change_message(self.key))
        return Held(self.key, data)

    def folder(self, limits: Limits) -> dict[str, Held]:
        """Return the bytes of all files of a folder by their paths in it, see `files`."""
        return dict(self.files(limits))

    def files(self, limits: Limits) -> Iterator[tuple[str, Held]]:
        """Yield each file of a folder, by its path in it, none that begins with . or _.

        Args:
            limits: ``file_bytes`` of all together.
        Raises:
            InputError: see `file`; also if files came or went meanwhile.
        """
        before, left = self._list(), limits.file_bytes
        for inside, version in before.items():
            data = self.read_bytes(f"{self.path.rstrip('/')}/{inside}", version.get("size"), left)
            left -= len(data)
            yield inside, Held(self.key, data)
        if self._list() != before:
            raise InputError(change_message(self.key))

    def version(self) -> str:
        """Return a digest that identifies the version of the file, or of a folder's files.

        Raises:
            InputError: not there, or not readable.
        """
        told = self._list() if self.is_folder() else self._version(self.path)
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:_DIGITS]

    def _list(self) -> dict[str, Mapping[str, Any]]:
        self.fs.invalidate_cache()
        root = self.path.strip("/")
        found: Mapping[str, Any] = self._ask(lambda: self.fs.find(self.path, detail=True))
        inside = {str(path).strip("/").removeprefix(root).strip("/"): one for path, one in found.items()}
        return {
            name: _stamp(one)
            for name, one in sorted(inside.items())
            if name and not any(part.startswith(_HIDDEN) for part in name.split("/"))
        }

    def _version(self, path: str) -> Mapping[str, Any]:
        self.fs.invalidate_cache()
        return _stamp(self._ask(lambda: self.fs.info(path)))

    def read_bytes(self, path: str, size: int | None, most: int) -> bytes:
        """Read a file: in one request where its size is known, else up to the limit."""
        if size is not None and size > most:
            raise limit_error(self.key, "file_bytes", most, got=size)
        data: bytes = self._ask(
            lambda: self.fs.cat_file(path) if size is not None else self._piecewise(path, most)
        )
        if len(data) > most:
            raise limit_error(self.key, "file_bytes", most)
        return data

    def _piecewise(self, path: str, most: int) -> bytes:
        made = bytearray()
        with self.fs.open(path, "rb", cache_type="none") as file:
            while len(made) <= most and (block := file.read(_BLOCK)):
                made += block
        return bytes(made)

    def _ask(self, ask: Any) -> Any:
        """Ask the place something; what its package says of errors quotes the URL, and is withheld."""
        try:
            return ask()
        except Exception as error:  # noqa: BLE001 - each package has errors of its own
            kind = error_words(error)
        raise InputError(f"{self.key}: must be readable at its place: {kind}")


def _stamp(info: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what identifies a version of a file: its size, and ETag or version, otherwise its time."""
    plain = {str(name).lower(): value for name, value in info.items()}
    told = {name: str(plain[name]) for name in _VERSIONS if plain.get(name)}
    if not told:
        told = {name: str(plain[name]) for name in _TIMES if plain.get(name)}
    size = plain.get("size")
    return {**told, "size": size if isinstance(size, int) else None}


def _package(url: str) -> str:
    """Return the package that fsspec needs for a kind of URL."""
    packages = {"gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs", "abfss": "adlfs", "s3": "s3fs"}
    return packages.get(url.partition("://")[0], "aiohttp")
