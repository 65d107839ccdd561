"""Object stores as a destination, by fsspec: each object is put at once, the manifest last.

There is no rename. Names of data files carry their digests, so no object that a reader may follow is changed
but the manifest; whoever reads the manifest finds its files.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from anon_pipeline.base.errors import InputError, PublishError, error_words
from anon_pipeline.base.places import OBJECT_STORES, remote_problem
from anon_pipeline.base.size_bounds import MANIFEST_BYTES
from anon_pipeline.catalog.releases import RELEASE_FORMATS
from anon_pipeline.policy.locations import Locations, plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.deliver.delivery import KEY, Parcel, is_later
from anon_pipeline.publish.deliver.unfit_columns import Columns
from anon_pipeline.publish.manifest.manifest import BESIDE, MANIFEST
from anon_pipeline.publish.writer import named_files
from anon_pipeline.sources.urls import Place, source_url, url_in

TRIED = "_anon-pipeline-check"
"""Name of the object by which it is tried whether a place can be written; readers of tables skip it."""
UNWRITABLE = (
    "the bucket must be there, and the login must be allowed to write, replace and read objects in it"
)
_TRY = b"anon-pipeline has tried whether it may write here. This can be removed.\n"


def at_url(policy: Policy, locations: Locations, partition: str | None) -> ObjectStore:
    """Return the place at ``publish.deliver.url``; see `ObjectStore`."""
    deliver = policy.publish.deliver
    return _open_store(str(deliver and deliver.url), f"{KEY}.url", policy, locations, partition)


def at_url_env(policy: Policy, locations: Locations, partition: str | None) -> ObjectStore:
    """Return the place at the URL that a variable holds.

    Raises:
        InputError: no such variable, or another kind of URL.
    """
    deliver, key = policy.publish.deliver, f"{KEY}.url_env"
    url = url_in(str(deliver and deliver.url_env), key)
    problem = remote_problem(url, secret=True, kinds=OBJECT_STORES)
    if problem:
        raise InputError(f"{key}: the variable {problem}")
    return _open_store(url, key, policy, locations, partition)


def _open_store(
    url: str, key: str, policy: Policy, locations: Locations, partition: str | None
) -> ObjectStore:
    place = url.rstrip("/")
    for name, private in (("the vault", locations.remote_vault), ("the source", source_url(policy))):
        if private is not None and overlap(place, private):
            raise InputError(
                f"{key}: must be a place of the release alone, got one that holds or is in {name}"
            )
    if partition is not None:
        place += f"/{plain_partition(partition)}"
    return ObjectStore(Place.at(place, key), policy.name, partition)


def overlap(one: str, other: str) -> bool:
    """Tell whether one place is the other or lies within it, whatever login or options the URLs have."""
    one, other = (f"{_bare(url).rstrip('/')}/" for url in (one, other))
    return one.startswith(other) or other.startswith(one)


def _bare(url: str) -> str:
    """Return a URL without a login that has a password, and without options."""
    kind, _, place = url.partition("://")
    host, slash, path = re.split("[?#]", place, maxsplit=1)[0].partition("/")
    login, _, own = host.rpartition("@")
    return f"{kind}://{own if ':' in login else host}{slash}{path}"


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A prefix in an object store that holds one release.

    place: what fsspec reaches; messages name its key, never the URL.
    release: name of the release; ``partition``: its key, if it has any.
    """

    place: Place
    release: str
    partition: str | None

    def ready(self) -> None:
        """Refuse a place that does not answer, holds another release, or may not be written.

        An object is put there, read back and removed. Where the login may not remove it, it stays.
        """
        self._manifest()
        with self._withhold_errors(UNWRITABLE):
            self.place.fs.pipe_file(self._path(TRIED), _TRY)
            self.place.fs.invalidate_cache()
            same = self.place.fs.cat_file(self._path(TRIED)) == _TRY
        if not same:
            raise PublishError(f"{self.place.key}: what was written does not read back the same")
        with suppress(PublishError), self._withhold_errors("it must be removable"):
            self.place.fs.rm_file(self._path(TRIED))

    def refuse_unfit(self, columns: Columns) -> None:
        """Refuse nothing: files are sent as they are."""

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Tell whether this is the manifest that is there; it is put last."""
        return self._manifest() == document

    def deliver(self, parcel: Parcel) -> None:
        """Put the files, read each back, then put the manifest; then remove what only older ones named.

        Raises:
            PublishError: readers see the release before, or none, unless the manifest was the last to be put:
                then they may see this one, which is complete.
        """
        before = self._manifest()
        if is_later(before, parcel.document):
            raise PublishError(
                f"{self.place.key}: must not hold a later release than the one that is delivered. Another "
                f"deployment has delivered there: give each a place of its own."
            )
        for name, data in parcel.files.items():
            self._put_object(name, data)
        self._put_object(MANIFEST, parcel.manifest)
        self._remove_others(before, parcel.document)

    def _put_object(self, name: str, data: bytes) -> None:
        """Put an object in one request, and compare what is read back.

        Raises:
            PublishError: it could not be put, or is another one.
        """
        fs, path = self.place.fs, self._path(name)
        with self._withhold_errors(
            f"{MANIFEST if name == MANIFEST else 'a file'} must be written and read back"
        ):
            fs.pipe_file(path, data)
            fs.invalidate_cache()
            same = hashlib.sha256(fs.cat_file(path)).digest() == hashlib.sha256(data).digest()
        if not same:
            raise PublishError(f"{self.place.key}: what was written does not read back the same")

    def _manifest(self) -> Mapping[str, Any]:
        """Return the manifest that is there; an empty one where there is none.

        Raises:
            PublishError: the place cannot be read, or holds what is no manifest of this release.
        """
        fs, path = self.place.fs, self._path(MANIFEST)
        with self._withhold_errors("the place must be readable"):
            fs.invalidate_cache()
            try:
                size = int(fs.info(path)["size"])
                data = fs.cat_file(path) if size <= MANIFEST_BYTES else b""
            except FileNotFoundError:
                return {}
        try:
            document = json.loads(data)
            own = (document["release"], document.get("partition")) == (self.release, self.partition)
            known = own and isinstance(document["files"], list)
        except (ValueError, LookupError, TypeError, RecursionError):
            known = False
        if not known:
            raise PublishError(
                f"{self.place.key}: must be the place of the release {self.release} alone, or of one of its "
                f"partitions, got a {MANIFEST} of something else. Give each release a place of its own."
            )
        return dict(document)

    def _remove_others(self, *documents: Mapping[str, Any]) -> None:
        """Remove files of this release that neither manifest names; what stays, the next delivery removes."""
        named = {name for document in documents for name in named_files(document)}
        fs = self.place.fs
        with suppress(PublishError), self._withhold_errors("old files must be removable"):
            fs.invalidate_cache()
            for path in fs.ls(self.place.path, detail=False):
                name = str(path).rpartition("/")[2]
                if name not in named and is_released_name(self.release, name):
                    fs.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self.place.path.rstrip('/')}/{name}"

    @contextmanager
    def _withhold_errors(self, said: str) -> Iterator[None]:
        """Withhold what a package says of errors, which quotes URLs and requests."""
        kind = ""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - each package has errors of its own
            kind = error_words(error)
        if kind:
            raise PublishError(f"{self.place.key}: {said}: {kind}")


def is_released_name(release: str, name: str) -> bool:
    """Tell whether publishing gives a file of this release such a name.

    >>> is_released_name("a", "a-0123456789abcdef.csv"), is_released_name("a", "b.csv")
    (True, False)
    """
    digits, forms = "[0-9a-f]{16}", "|".join(map(re.escape, RELEASE_FORMATS))
    beside = "|".join(rf"{part}-{digits}\.{ending}" for part, ending in BESIDE.items())
    return re.fullmatch(rf"{re.escape(release)}-(?:{beside}|{digits}\.(?:{forms}))", name) is not None
