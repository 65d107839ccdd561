"""A disk that kills, or is full, at one operation; what a fault at each point came to; what readers see.

Belongs here: what all the drivers of faults share. Does not belong here: what is done on such a disk
(`faults`, `crashes`, `crash_dagster`, `small_disks`).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import logging
import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.disk import Disk, use_disk
from anon_pipeline.publish import lock
from anon_pipeline.publish.file_formats import from_files
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.writer import read_manifest
from tests.forked import killed

CHUNK = 1500
"""Bytes of one write, so that small files, too, are cut in their middle."""


@dataclass(frozen=True, slots=True)
class FaultResult:
    """What came of a fault at every point.

    points: faults tried, each at another point or in another situation.
    survived: after which readers saw a whole release and the next run left nothing behind.
    lost: the others, each as situation, point and what was wrong.
    """

    points: int
    survived: int
    lost: tuple[str, ...]

    def __add__(self, other: FaultResult) -> FaultResult:
        """Count two results together."""
        return FaultResult(self.points + other.points, self.survived + other.survived, self.lost + other.lost)


def points_of(work: Callable[[], None]) -> list[str]:
    """Run and return every point that was passed, in order."""
    passed: list[str] = []
    with use_disk(Disk(passed.append, CHUNK)):
        work()
    return passed


def killed_at(work: Callable[[], None], point: int, name: str | None = None) -> bool:
    """Run in a child process that dies by SIGKILL at a point, of those of a name; tell whether it did."""

    def dying() -> None:
        """Work on the disk that kills; what else goes wrong there is no death."""
        with contextlib.suppress(BaseException), use_disk(Disk(_Dying(point, name), CHUNK)):
            work()

    return killed(dying)


class _Dying:
    """Kills its process at a point, by number, of those of a name if one is given."""

    def __init__(self, point: int, name: str | None) -> None:
        self._left, self._name = point, name

    def __call__(self, name: str) -> None:
        if self._name not in {None, name}:
            return
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1


class Full:
    """Raises at a point, by number, and at all later ones of its kind, as a full disk does."""

    def __init__(self, point: int, number: int) -> None:
        self._left, self._number = point, number

    def __call__(self, name: str) -> None:
        self._left -= 1
        frees = name.removeprefix("before ").startswith("unlink")
        if self._left < 0 and name.startswith("before") and not frees:
            raise OSError(self._number, os.strerror(self._number))


def seen_by_reader(folder: Path) -> str | None:
    """Follow the manifest as a reader does; return the data's digest, None where there is no release.

    Raises:
        AssertionError: half a release.
    """
    document = read_manifest(folder)
    if document is None:
        return None
    files = [(folder / item["name"]).read_bytes() for item in document["files"]]
    for item, data in zip(document["files"], files, strict=True):
        assert hashlib.sha256(data).hexdigest() == item["sha256"], "another file than the manifest names"
    page, html = document["report"], (folder / document["report"]["name"]).read_bytes()
    assert hashlib.sha256(html).hexdigest() == page["sha256"], "another report than the manifest names"
    assert document["data_digest"].encode() in html, "a report of another release"
    beside = document["policy"]
    policy = (folder / beside["name"]).read_bytes()
    assert hashlib.sha256(policy).hexdigest() == beside["sha256"], "another policy than the manifest names"
    frame = from_files(files, "parquet")
    assert len(frame) == sum(item["records"] for item in document["files"]), "not all records"
    digest = digest_frame(frame)
    assert digest == document["data_digest"], "another content than the manifest names"
    return digest


def debris(folder: Path) -> list[str]:
    """Name what no release of this folder owns: parts, locks, files that nobody names."""
    document = json.loads((folder / MANIFEST).read_text())
    beside = {document[part]["name"] for part in ("report", "policy")}
    kept = {MANIFEST, *(item["name"] for item in document["files"]), *beside}
    others = sorted(path.name for path in folder.iterdir() if path.name not in kept)
    hidden = [name for name in others if name.startswith(".")]
    kinds = {".html": 1, ".json": 1, ".parquet": len(document["files"])}
    former = {name for kind, many in kinds.items() for name in _ending(others, kind)[:many]}
    return hidden or sorted({*others} - former)  # the files of the release before stay for slow readers


def _ending(names: Iterable[str], kind: str) -> list[str]:
    return [name for name in names if name.endswith(kind)]


def full_disk(point: int) -> Disk:
    """Return a disk that is full from a point on."""
    return Disk(Full(point, errno.ENOSPC), CHUNK)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leave out the notes that a dead run was taken over: here they are hundreds."""
    log = logging.getLogger(lock.__name__)
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def summed(results: Iterable[FaultResult]) -> FaultResult:
    return sum(results, FaultResult(0, 0, ()))


def limited_file_size(limit: int) -> None:
    """Let this process write no file beyond ``limit`` bytes; for a child."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
