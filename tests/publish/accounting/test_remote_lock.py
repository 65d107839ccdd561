"""A memory in a vault on a real S3 server: one run at a time, and no crash loses it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from anon_pipeline import InputError, Locations, Policy, make_release
from anon_pipeline.base.disk import Disk, use_disk
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.publish.lock import LOCK
from anon_pipeline.publish.writer import read_manifest
from anon_pipeline.stages.private import STAGES
from anon_pipeline.vault.artifacts import survey
from anon_pipeline.vault.remote import RemoteStore
from anon_pipeline.vault.store import Store, store_at
from tests.forked import killed

Make = Callable[..., Any]
KEEPS: dict[str, Any] = {
    "deidentify": {"key_env": "ANON_TEST_KEY"},
    "record_key": "person",
    "columns": {"height": {"sensitivity": "declared", "input_bounds": [100, 250]}},
    "perturb": {"republish": "sticky"},
    "suppress": None,
    "gate": {"suppression": None, "cross_release_k": 3},
    "publish": {"wait": 0},
}
MEASURED, MEMORY = ["small/gate.json"], ["small/memory.parquet"]


class World:
    """A project whose vault is elsewhere; ``folder`` is one machine's copy of it."""

    def __init__(self, folder: Path, policy: Policy, people: pd.DataFrame, vault: str) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.policy, self.people = folder, policy, people
        self.locations = Locations.of(folder, {"ANON_PIPELINE_VAULT": vault})
        self.archive = VaultArchive(policy, self.locations)

    @property
    def store(self) -> Store:
        return store_at(self.locations.vault_place)

    def release(self, taller: int = 0) -> None:
        self.people.assign(height=self.people["height"] + taller).to_csv(
            self.folder / "people.csv", index=False
        )
        make_release(self.policy, self.locations, archive=self.archive)

    def digest(self) -> str | None:
        manifest = read_manifest(self.folder / "out")
        return None if manifest is None else str(manifest["data_digest"])

    def known(self) -> list[str]:
        with self.archive.alone():
            return [past.digest for past in self.archive.read(None).releases]


@pytest.fixture
def elsewhere(
    tmp_path: Path,
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., World]:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")

    def make(vault: str, folder: str = "here") -> World:
        return World(tmp_path / folder, small_policy(**KEEPS), small_people(60), vault)

    return make


def test_it_learns_of_each_release_and_leaves_nothing_else(elsewhere: Make, s3: str) -> None:
    world = elsewhere(s3)
    seen = []
    for taller in range(2):
        world.release(taller)
        seen.append(world.digest())
    assert world.known() == seen
    assert world.store.names() == [*MEASURED, *MEMORY]
    assert not (world.folder / "vault" / "small" / "memory.parquet").exists()


def test_a_file_is_created_by_one_alone(s3: str) -> None:
    store = store_at(s3)
    assert isinstance(store, RemoteStore)
    start = threading.Barrier(8)

    def create(number: int) -> bool:
        start.wait()
        return store.create("small/lock", b"%d" % number)

    with ThreadPoolExecutor(8) as pool:
        created = list(pool.map(create, range(8)))
    assert sum(created) == 1
    with store.reading("small/lock") as file:
        assert file.read() == b"%d" % created.index(True)


def test_another_machine_is_waited_for_then_named_whatever_the_age(elsewhere: Make, s3: str) -> None:
    here, there = elsewhere(s3), elsewhere(s3, "there")
    with there.archive.alone(), pytest.raises(InputError, match="held by process") as raised:
        here.release()
    assert f"process {os.getpid()} on {socket.gethostname()}" in str(raised.value)
    assert "delete .anon-pipeline.lock" in str(raised.value)
    assert str(there.folder) not in str(raised.value)
    here.release()
    with there.archive.alone():
        lock = here.store.reading(f"small/{LOCK}").read()
    old = json.loads(lock) | {"since": "1999-01-01T00:00:00+00:00", "host": "elsewhere"}
    assert here.store.create(f"small/{LOCK}", json.dumps(old).encode())
    with pytest.raises(InputError, match="on elsewhere since 1999"):
        here.release(1)
    assert here.store.names() == [f"small/{LOCK}", *MEASURED, *MEMORY]


@pytest.mark.parametrize("odd", [b" ", b"{", b"[]", b'{"pid": 1}'])
def test_an_unreadable_lock_is_respected(elsewhere: Make, s3: str, odd: bytes) -> None:
    world = elsewhere(s3)
    assert world.store.create(f"small/{LOCK}", odd)
    with pytest.raises(InputError, match="held by another process"):
        world.release()


def _killed_at(world: World, name: str, count: int) -> None:
    """Make a release in a child that dies when it passes a point for the count-th time."""
    left = [count]

    def at(point: str) -> None:
        left[0] -= point == name
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    with use_disk(Disk(at)):
        assert killed(lambda: world.release(1))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, dict[str, bytes]]:
    """A folder and a bucket for one project, and what the bucket holds after its first release."""
    return tmp_path_factory.mktemp("kept"), f"kept-{uuid.uuid4().hex}", {}


@pytest.fixture
def published(
    kept: tuple[Path, str, dict[str, bytes]],
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    s3: str,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    """A project with a first release, byte by byte as it was made, in the same folder and bucket."""
    import s3fs

    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    folder, bucket, objects = kept
    files, here, copy = s3fs.S3FileSystem(), folder / "here", folder / "copy"
    if objects:
        shutil.rmtree(here)
        shutil.copytree(copy, here, symlinks=True)
        files.rm(files.find(bucket))
        files.pipe(objects)
    world = World(here, small_policy(**KEEPS), small_people(60), f"s3://{bucket}/inner")
    if not objects:
        files.mkdir(bucket)
        world.release()
        shutil.copytree(here, copy, symlinks=True)
        assert world.known() == [world.digest()]
        files.invalidate_cache()
        objects |= {name: files.cat_file(name) for name in files.find(bucket)}
    return world


POINTS: list[tuple[str, int, bool | None]] = [
    ("create remote file", 1, False),
    ("create remote file", 2, False),
    ("write remote table", 1, False),
    ("move remote table", 1, False),
    ("rename manifest", 1, None),
    ("write remote table", 2, False),  # of what was measured; the first one is of the draw
    ("move remote table", 2, False),
    ("write remote table", 3, False),
    ("move remote table", 3, False),
    ("write remote table", 4, True),
    ("move remote table", 4, True),
    ("remove remote file", 2, True),
    ("remove remote file", 3, True),
]
"""Steps of a release, the how manieth of its kind, and whether it goes out where that one is killed."""


@pytest.mark.parametrize(
    ("when", "step", "count", "goes_out"),
    [  # a file is moved as soon as it is written: nothing happens between the two
        (when, *point)
        for when in ("before", "after")
        for point in POINTS
        if (when, point[0]) != ("after", "write remote table")
    ],
)
def test_killed_anywhere_it_agrees_with_what_is_published(
    published: World, when: str, step: str, count: int, goes_out: bool | None
) -> None:
    world, first = published, published.digest()
    _killed_at(world, f"{when} {step}", count)
    goes_out = when == "after" if goes_out is None else goes_out
    assert (world.digest() != first) is goes_out
    seen = [first, world.digest()] if goes_out else [first]
    assert world.known() == seen  # the dead are taken over: the lock is of this folder
    world.release(2)
    assert world.known() == [*seen, world.digest()]
    assert world.store.names() == [*MEASURED, *MEMORY]


class Careless(MemoryFileSystem):
    """A place that overwrites whatever it is asked, as FTP servers do."""

    protocol = "careless"
    store: dict[str, Any] = {}  # noqa: RUF012 - as in MemoryFileSystem
    pseudo_dirs = [""]  # noqa: RUF012

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return super()._open(path, mode.replace("x", "w"), **options)


class Unable(Careless):
    """A place that knows no exclusive creation."""

    protocol = "unable"

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if "x" in mode:
            raise NotImplementedError
        return super()._open(path, mode, **options)


@pytest.fixture(params=[Careless, Unable])
def no_lock(request: pytest.FixtureRequest) -> Iterator[str]:
    fsspec.register_implementation(request.param.protocol, request.param, clobber=True)
    yield f"{request.param.protocol}://vault"
    request.param.store.clear()


def test_a_place_without_a_lock_is_refused_for_a_memory(elsewhere: Make, no_lock: str) -> None:
    world = elsewhere(no_lock)
    with pytest.raises(InputError, match="a file can be created only if there is none"):
        world.release()
    assert world.digest() is None
    assert world.store.names() == []


def test_a_whole_release_through_dagster_and_s3(
    dagster_project: Make, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sealed private tables, a memory, nothing retained: all in S3, nothing of it here."""
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    monkeypatch.setenv("ANON_PIPELINE_VAULT", s3)
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", os.urandom(32).hex())
    made = dagster_project(**KEEPS)
    assert made.run("small_release").success
    assert sum(survey(store_at(s3)).sealed.values()) == len(STAGES) + len(MEASURED) + len(MEMORY)
    assert store_at(s3).names() == sorted(
        [*MEASURED, *MEMORY, *(f"small/{stage}.parquet" for stage in STAGES)]
    )
    assert not list((made.folder / "vault").rglob("*.parquet"))
    again = dagster_project(**KEEPS, vault={"retain": "none"})
    assert again.run("small_release").success
    assert store_at(s3).names() == MEMORY  # what the gate measured goes with the tables
