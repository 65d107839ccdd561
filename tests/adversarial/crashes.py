"""A whole release, killed at each of its points: ledger, memory, destination and vault must agree again.

A child process makes a release as the command line does, and dies by SIGKILL before or after one operation
of the disk or one transaction of the ledger. Then the parent reads as a reader would, asks the ledger what is
spent, and makes the next release.
Belongs here: that, and what must hold afterwards. Does not belong here: points and readers (`faulty_disk`),
Dagster (`crash_dagster`), real file systems without room (`small_disks`).
"""

from __future__ import annotations

import datetime
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path, PurePath
from typing import NamedTuple

import numpy as np
import pandas as pd

from anon_pipeline import Locations, Policy, make_release
from anon_pipeline.base.disk import use_disk
from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.ledger.budget import State, release_states
from anon_pipeline.orchestration.vault import VaultIOManager, retain_by_policy
from anon_pipeline.policy import policy_from
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.publish.accounting.booking import release_id_in
from anon_pipeline.publish.writer import read_manifest
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.stages.vault_tables import write_staged
from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.local import LocalStore
from tests.adversarial.faulty_disk import (
    FaultResult,
    debris,
    full_disk,
    killed_at,
    points_of,
    quiet,
    seen_by_reader,
    summed,
)
from tests.adversarial.snapshots import digest_of, snapshots_of
from tests.drawn_points import drawn_below

__all__ = [
    "Point",
    "Way",
    "World",
    "at_each_point",
    "at_each_snapshot",
    "kill",
    "make_next",
    "project",
    "released",
    "survive_commands",
    "survive_full",
    "survive_snapshots",
    "warm_up",
]

_KEY = "ANON_PIPELINE_BENCHMARK_KEY"
_EPSILON = 2
_KEPT = "other/raw.parquet"
"""A private table of another release, which no retention of ours may touch."""


def _policy() -> Policy:
    """Return a policy with all that a release leaves: a ledger's budget, a memory, nothing retained."""
    return policy_from(
        {
            "name": "small",
            "source": {"path": "people.csv"},
            "columns": {
                "person": {"role": "identifier", "action": "drop"},
                "city": {"role": "generalize", "hierarchy": {"suppress": True}},
                "height": {
                    "role": "perturb",
                    "resolution": 1,
                    "sensitivity": "declared",
                    "input_bounds": [100, 250],
                },
            },
            "deidentify": {"key_env": _KEY},
            "record_key": "person",
            "anonymize": {"k": 3},
            "perturb": {"epsilon": _EPSILON, "republish": "sticky"},
            "gate": {"k": 3, "cross_release_k": 3},
            "budget": {"epsilon": 1000},
            "vault": {"retain": "none"},
            "publish": {"to": "out"},
        }
    )


@dataclass(frozen=True, slots=True)
class World:
    """A project on disk; ``ever`` is what readers have seen there: ids and digests, in order."""

    folder: Path
    policy: Policy = field(default_factory=_policy)
    ever: dict[str, str] = field(default_factory=dict)

    @property
    def locations(self) -> Locations:
        return Locations.of(self.folder, {})

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def people(self, year: int) -> None:
        """Write the source; everybody is a little taller each year."""
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(
            {
                "person": [f"person {i}" for i in range(40)],
                "city": rng.choice(["Cork", "Galway"], 40),
                "height": rng.integers(150, 200, 40) + year,
            }
        )
        frame.to_csv(self.folder / "people.csv", index=False)

    def tables(self) -> None:
        """Put private tables into the vault, as earlier stages leave them, and one of another release."""
        vault = Vault(LocalStore(self.locations.vault))
        for name in (*(f"small/{stage}.parquet" for stage in STAGES), _KEPT):
            write_staged(PurePath(name), Staged(pd.DataFrame({"x": [1]}), {}), vault=vault)

    def release(self) -> None:
        """Make a release in one process, then delete the private tables."""
        made = self.locations
        make_release(self.policy, made, archive=VaultArchive(self.policy, made))
        manager = VaultIOManager(folder=str(made.vault))
        retain_by_policy(manager, self.policy, None, now=datetime.datetime.now(datetime.UTC))

    def look(self) -> None:
        """Read as a reader does, and note what is readable now."""
        digest, document = seen_by_reader(self.out), read_manifest(self.out)
        if digest is not None and document is not None:
            self.ever[str(release_id_in(document["facts"]))] = digest

    def book(self) -> dict[str, State]:
        """Return what the ledger says of each release.

        Raises:
            AssertionError: its chain is broken.
        """
        if not (self.folder / "ledger.sqlite").exists():
            return {}
        book = ledger_at(self.locations.ledger, make=False)
        assert book.verify() is None, "the ledger's chain is broken"
        return release_states(book.events())

    def counted(self) -> None:
        """Make sure that no ε is missing of what was ever readable.

        Raises:
            AssertionError: some is.
        """
        found = self.book()
        missing = [name for name in self.ever if name not in found or not found[name].counts]
        assert not missing, "the ledger does not count a release that was readable"
        spent = sum((state.epsilon for state in found.values() if state.counts), start=Fraction(0))
        assert spent >= _EPSILON * len(self.ever), "the ledger counts less than was readable"

    def agreed(self) -> None:
        """Make sure that ledger, memory, destination and vault say the same, and nothing is left over.

        Raises:
            AssertionError: they do not, or something is.
        """
        self.counted()
        book = self.book()
        published = {name: s.last.data_digest for name, s in book.items() if s.published_at is not None}
        assert published == self.ever, "the ledger says published of others than were readable"
        archive = VaultArchive(self.policy, self.locations)
        with archive.alone():
            known = [past.digest for past in archive.read(None).releases]
        assert known == list(self.ever.values()), "the memory knows others than were readable"
        names = set(LocalStore(self.locations.vault).names())
        assert names - {_KEPT} == {"small/memory.parquet"}, "private tables are left in the vault"
        assert not debris(self.out), "files are left at the destination"


class Point(NamedTuple):
    """An operation of some work: its place among all, its name, its place among those of that name.

    last: whether it is the last of that name.
    """

    place: int
    name: str
    nth: int
    last: bool


_Fault = Callable[[Callable[[], None], Point], None]
"""Does some work with a fault at a point."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a release is made, which fault it meets, and what is made after it."""

    name: str
    made: Callable[[World], None]
    after: Callable[[World], None]
    fault: _Fault


def kill(work: Callable[[], None], point: Point) -> None:
    """Kill the work at a point; noise makes files longer or shorter: the last piece of one may not come."""
    died = killed_at(work, point.nth, point.name)
    assert died or (point.last and " write " in point.name), "the process did not die there"


def _fill(work: Callable[[], None], point: Point) -> None:
    """Let the disk be full from a point on; the work must say so in words of its own."""
    with use_disk(full_disk(point.place)), suppress(InputError, PublishError):
        work()


def make_next(world: World) -> None:
    """Make the next release; readers see it."""
    world.people(7)
    before = len(world.ever)
    world.release()
    world.look()
    assert len(world.ever) == before + 1, "the next run did not publish"


def _wrong_after(world: World, after: Callable[[World], None], fault: Callable[[World], None]) -> str | None:
    """Let a fault happen; say what it broke, None if nothing."""
    before = dict(world.ever)
    try:
        fault(world)
        world.look()
        if len(world.ever) > len(before) + 1:
            return "readers see a release that is neither the old nor the new one"
        world.counted()
        after(world)
        world.agreed()
    except (AssertionError, OSError) as error:
        return str(error)
    except Exception as error:  # a next run that crashes is a fault that was not survived
        return f"the next run ended with {type(error).__name__}: {error}"
    return None


def at_each_point(
    way: Way,
    found: World,
    every: int,
    *,
    first: str | None = None,
    enough: Callable[[str], object] = lambda wrong: False,
) -> FaultResult:
    """Put a fault at each point, each in the same folder, restored to what was found there.

    Args:
        way: the work, the fault, the next release.
        found: the project before.
        every: 1 tries each point, n each n-th, from one of the first n on that is drawn.
        first: name of the point that is tried first, then those after it, then those before.
        enough: tells of what went wrong at a point whether the others need not be tried.
    """
    kept = found.folder.with_name("kept")
    shutil.copytree(found.folder, kept)
    names = points_of(partial(way.made, _restored(found, kept)))
    lost = []
    start = drawn_below(every) if first is None else names.index(first)
    chosen = [*range(start, len(names), every), *range(start % every, start, every)]
    for place in chosen:
        name = names[place]
        point = Point(place, name, names[:place].count(name), last=name not in names[place + 1 :])

        def fault(world: World, point: Point = point) -> None:
            way.fault(partial(way.made, world), point)

        wrong = _wrong_after(_restored(found, kept), way.after, fault)
        if wrong:
            lost.append(f"{way.name}, {place} {name}: {wrong}")
            if enough(wrong):
                break
    return FaultResult(len(chosen), len(chosen) - len(lost), tuple(lost))


def at_each_snapshot(way: Way, found: World) -> FaultResult:
    """Look at what the disk holds at each point, and make the next release from there.

    A killed process leaves the files of that moment, and nothing else. So the work is done once, by a process
    that is gone afterwards, and the files are copied at each point. Points with the same files share one look
    and one next release: both depend on the files alone.
    """
    kept = found.folder.with_name("snapshots")
    kept.mkdir()
    ended: dict[str, str | None] = {}
    lost = []
    taken = snapshots_of(partial(way.made, found), found.folder, kept)
    for name, snapshot in taken:
        state = digest_of(snapshot)
        if state not in ended:
            world = _restored(found, snapshot)
            ended[state] = _wrong_after(world, way.after, lambda world: None)
        if ended[state]:
            lost.append(f"{way.name}, {name}: {ended[state]}")
    return FaultResult(len(taken), len(taken) - len(lost), tuple(lost))


def _restored(found: World, kept: Path) -> World:
    """Put what was kept where the project was found."""
    shutil.rmtree(found.folder)
    shutil.copytree(kept, found.folder, symlinks=True)
    return World(found.folder, found.policy, dict(found.ever))


@contextmanager
def project() -> Iterator[World]:
    """Make a project with its source; the key of the memory is in the environment meanwhile."""
    os.environ[_KEY] = "0123456789abcdef"
    noise = logging.getLogger("dagster")
    before = noise.level
    noise.setLevel(logging.CRITICAL)
    try:
        with quiet(), tempfile.TemporaryDirectory() as scratch:
            world = World(Path(scratch) / "project")
            world.folder.mkdir()
            world.people(0)
            yield world
    finally:
        noise.setLevel(before)
        del os.environ[_KEY]


def survive_commands(*, every: int = 1) -> FaultResult:
    """Kill a whole release at every point: the first one, a further one.

    Args:
        every: 1 tries each point, n each n-th, from one of the first n on that is drawn.
    """
    return _first_and_further("kill", partial(_faulted, kill, every))


def survive_snapshots() -> FaultResult:
    """Go on from what the disk holds at every point of a whole release, see `survive_commands`."""
    return _first_and_further("snapshot", _looked_at)


def survive_full(*, every: int = 1) -> FaultResult:
    """Let every disk be full from each point of a whole release on, see `survive_commands`."""
    return _first_and_further("full", partial(_faulted, _fill, every))


@cache
def warm_up() -> None:
    """Make a first release and a further one, once in this process, so that no fork imports and compiles."""
    with project() as world:
        released(world, 2)


_Tried = Callable[[str, World], FaultResult]


def _first_and_further(label: str, tried: _Tried) -> FaultResult:
    """Try the first release and a further one, side by side."""
    warm_up()
    names = [f"{label}, whole {which} release" for which in ("first", "further")]
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as side_by_side:
        return summed(side_by_side.map(_command, names, (tried, tried), (0, 2)))


def _command(name: str, tried: _Tried, releases: int) -> FaultResult:
    with project() as world:
        released(world, releases)
        return tried(name, world)


def _faulted(fault: _Fault, every: int, name: str, world: World) -> FaultResult:
    return at_each_point(Way(name, World.release, make_next, fault), world, every)


def _looked_at(name: str, world: World) -> FaultResult:
    return at_each_snapshot(Way(name, World.release, make_next, kill), world)


def released(world: World, releases: int) -> None:
    """Make some releases, and private tables for the next one."""
    for year in range(releases):
        world.people(year)
        world.release()
        world.look()
    world.people(releases)
    world.tables()
