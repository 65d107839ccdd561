"""Crashes and full disks at every point of publishing: what readers see, and what the next run makes of it.

A child process runs the library's own writing on a disk that kills it (SIGKILL) before or after one
operation; then the parent looks as a reader would, and publishes once more. The point moves on until every
one was tried.

Run: python -m tests.adversarial.faults
"""

from __future__ import annotations

import errno
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.disk import Disk, use_disk
from anon_pipeline.base.errors import PublishError
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.publish.file_formats import from_files, to_files
from anon_pipeline.publish.writer import DataFile, data_file, write_release
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged
from anon_pipeline.vault.names import IGNORED
from tests.adversarial import crash_dagster, crashes, small_disks
from tests.adversarial.faulty_disk import (
    CHUNK,
    FaultResult,
    Full,
    debris,
    killed_at,
    points_of,
    quiet,
    seen_by_reader,
    summed,
)


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A small release as bytes: data files, manifest."""

    files: tuple[DataFile, ...]
    document: dict[str, Any]


def made(seed: int) -> Made:
    """Make a small release without the pipeline: this is about writing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"city": rng.choice(["Cork", "Galway"], 300), "height": rng.integers(150, 200, 300)})
    written = to_files(frame, "parquet", records_per_file=200)
    files = tuple(data_file("small", "parquet", data, 200 - 100 * at) for at, data in enumerate(written))
    document = {
        "manifest_version": 1,
        "release": "small",
        "made_at": f"2026-01-0{seed + 1}T00:00:00+00:00",
        "files": [
            {key: getattr(file.described, key) for key in ("name", "sha256", "size", "records")}
            for file in files
        ],
        "data_digest": digest_frame(from_files(written, "parquet")),
    }
    return Made(files, document)


def publish_made(folder: Path, release: Made) -> None:
    """Write a release as `publish` does."""
    write_release(
        folder,
        release.files,
        release.document,
        page=report_page,
        policy=policy_file(release.document),
    )


def policy_file(document: Mapping[str, Any]) -> bytes:
    """Return a policy of some thousand bytes, another one for each release."""
    return json.dumps({"made_at": document["made_at"], "attributes": ["public"] * 200}).encode()


def report_page(document: Mapping[str, Any]) -> bytes:
    """Return a report of some thousand bytes."""
    return f"<!DOCTYPE html><title>{document['data_digest']}</title>".encode() * 20


_Fault = Callable[[Callable[[], None], int], bool | None]
"""Runs some work with a fault at a point; tells whether the work claims to be done, None if it cannot say."""


@dataclass(frozen=True, slots=True, eq=False)
class Situation:
    """A folder as publishing finds it, and what it publishes there.

    prepare: makes the folder.
    old: digest of what readers see before; None where there is no release yet.
    """

    name: str
    prepare: Callable[[Path], None]
    old: str | None
    release: Made


def kill(work: Callable[[], None], point: int) -> None:
    assert killed_at(work, point), "the process did not die there"


def _raise(number: int) -> _Fault:
    def fault(work: Callable[[], None], point: int) -> bool:
        with use_disk(Disk(Full(point, number), CHUNK)):
            try:
                work()
            except PublishError as error:
                return error.in_place
        return True

    return fault


def at_each_point(situation: Situation, fault: _Fault, label: str) -> FaultResult:
    """Put a fault at each point of publishing, each in a fresh copy of the situation's folder."""
    lost = []
    with quiet(), tempfile.TemporaryDirectory() as scratch:
        found = Path(scratch) / "found"
        situation.prepare(found / "out")
        folder = Path(shutil.copytree(found, found.with_name("whole"))) / "out"
        names = points_of(partial(publish_made, folder, situation.release))
        for i, name in enumerate(names):
            folder = Path(shutil.copytree(found, found.with_name(str(i)))) / "out"
            wrong = _wrong_after(folder, situation, fault, i)
            if wrong:
                lost.append(f"{label}, {situation.name}, {name}: {wrong}")
    return FaultResult(len(names), len(names) - len(lost), tuple(lost))


def _wrong_after(folder: Path, situation: Situation, fault: _Fault, point: int) -> str | None:
    """Say what a fault broke, for readers and for the next run; None if nothing."""
    new, following = situation.release.document["data_digest"], made(5)
    try:
        claimed = fault(partial(publish_made, folder, situation.release), point)
        seen = seen_by_reader(folder)
        if seen not in {situation.old, new}:
            return "readers see a release that is neither the old nor the new one"
        if claimed is not None and claimed is not (seen == new):
            return "what was told of the release is not what readers see"
        publish_made(folder, following)
        if seen_by_reader(folder) != following.document["data_digest"]:
            return "the next run did not publish"
    except (AssertionError, OSError, PublishError) as error:
        return f"{type(error).__name__}: {error}"
    left = debris(folder)
    return f"the next run left {', '.join(left)}" if left else None


def _empty(folder: Path) -> None:
    folder.parent.mkdir(parents=True)


def _released(folder: Path) -> None:
    _empty(folder)
    publish_made(folder, made(0))
    publish_made(folder, made(1))


def _broken(folder: Path) -> None:
    """Leave what a run leaves that died before the manifest's rename: a part, a lock, new data."""
    _released(folder)
    copy = shutil.copytree(folder, folder.with_name("copy"))
    names = points_of(partial(publish_made, Path(copy), made(2)))
    shutil.rmtree(copy)
    assert killed_at(partial(publish_made, folder, made(2)), names.index("before rename manifest"))
    assert len(list(folder.glob(".*"))) == 2


def _digest(seed: int) -> str:
    return str(made(seed).document["data_digest"])


def situations() -> tuple[Situation, ...]:
    return (
        Situation("first release", _empty, None, made(0)),
        Situation("re-release", _released, _digest(1), made(3)),
        Situation("re-release after a crash", _broken, _digest(1), made(3)),
    )


def survive_kills() -> FaultResult:
    """Kill publishing at every point: first release, re-release, re-release over what a crash left."""
    return summed(at_each_point(each, kill, "kill") for each in situations())


def survive_full_disks() -> FaultResult:
    """Let the disk be full, or become read-only, from every point on."""
    return summed(
        at_each_point(each, _raise(number), errno.errorcode[number])
        for number in (errno.ENOSPC, errno.EROFS)
        for each in situations()
    )


def survive_vault() -> FaultResult:
    """Kill the vault's writing of a private table at every point, with none before and with one."""
    return summed(_vault(before=before) for before in (False, True))


def _vault(*, before: bool) -> FaultResult:
    old, new = (Staged(pd.DataFrame({"age": np.arange(300) * sign}), {}) for sign in (1, -1))
    lost = []
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "whole" / "raw.parquet"
        if before:
            write_staged(whole, old)
        names = points_of(partial(write_staged, whole, new))
        for i, name in enumerate(names):
            path = Path(scratch) / str(i) / "raw.parquet"
            if before:
                write_staged(path, old)
            kill(partial(write_staged, path, new), i)
            wrong = _wrong_in_vault(path, old if before else None, new)
            if wrong:
                lost.append(f"kill, vault, {name}: {wrong}")
    return FaultResult(len(names), len(names) - len(lost), tuple(lost))


def _wrong_in_vault(path: Path, old: Staged | None, new: Staged) -> str | None:
    if path.exists() or old is not None:
        found = unpack_table(read_staged(path).frame)
        if not any(found.equals(unpack_table(each.frame)) for each in (old, new) if each is not None):
            return "the vault holds neither the old nor the new table"
    write_staged(path, new)
    left = sorted(each.name for each in path.parent.iterdir() if each.name not in (path.name, IGNORED))
    return f"the next run left {', '.join(left)}" if left else None


def survive_all() -> FaultResult:
    """Put every fault at every point of publishing, of the vault's writing, and of whole releases."""
    return summed(survive() for survive in _all().values())


def _all() -> dict[str, Callable[[], FaultResult]]:
    """Return everything that is tried, by what it is."""
    return {
        "kill -9 while writing a release": survive_kills,
        "disk full or read-only while writing a release": survive_full_disks,
        "kill -9 while writing the vault": survive_vault,
        "kill -9 in a whole release": crashes.survive_commands,
        "disk full in a whole release": crashes.survive_full,
        "kill -9 in Dagster's published": crash_dagster.survive_dagster,
        "whole releases on file systems without room": _small_disks,
    }


def _small_disks() -> FaultResult:
    """Use real small file systems; what a machine does not allow is not counted."""
    return small_disks.survive_small_disks() or FaultResult(0, 0, ())


def main() -> None:
    """Print how many faults were put where and survived, and each that was not."""
    for name, survive in _all().items():
        result = survive()
        print(f"{name}: {result.points} points, {result.survived} survived, {len(result.lost)} lost")
        for line in result.lost:
            print(f"  {line}")


if __name__ == "__main__":
    main()
