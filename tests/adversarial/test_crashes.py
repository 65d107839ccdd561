"""Whole releases meet faults: ledger, memory, destination and vault agree afterwards."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.ledger import Ledger
from anon_pipeline.ledger.budget import State
from anon_pipeline.publish.accounting.archive import VaultArchive
from tests.adversarial import crash_dagster, crashes, small_disks
from tests.adversarial.faulty_disk import killed_at, points_of
from tests.adversarial.snapshots import snapshots_of


def test_what_any_point_of_a_whole_release_leaves_is_made_good() -> None:
    """Each operation on destination, vault and memory, each transaction of the ledger, before and after."""
    result = crashes.survive_snapshots()
    assert result.lost == ()
    assert result.survived == result.points > 200


def test_killed_at_some_points_of_a_whole_release_everything_agrees_again() -> None:
    """`python -m tests.adversarial.faults` kills a process at each."""
    result = crashes.survive_commands(every=25)
    assert result.lost == ()
    assert result.survived == result.points > 15


def _masked(folder: Path) -> Counter[str]:
    """Count the files of a folder by name, without the digests and random parts in their names."""
    names = (str(path.relative_to(folder)) for path in folder.rglob("*"))
    return Counter(re.sub(r"[0-9a-f]{8,}|\w{8}(?=\.part)", "#", name) for name in names)


def test_a_snapshot_is_what_a_killed_process_leaves(tmp_path: Path) -> None:
    crashes.warm_up()
    with crashes.project() as world:
        crashes.released(world, 0)
        found = Path(shutil.copytree(world.folder, world.folder.with_name("found")))
        taken = snapshots_of(world.release, world.folder, tmp_path)
        for place in range(3, len(taken), 17):
            shutil.rmtree(world.folder)
            shutil.copytree(found, world.folder)
            name, snapshot = taken[place]
            nth = [name for name, _ in taken[:place]].count(name)
            assert killed_at(world.release, nth, name)
            assert _masked(world.folder) == _masked(snapshot), name


def test_a_full_disk_at_some_points_of_a_whole_release_is_named_and_loses_nothing() -> None:
    """`python -m tests.adversarial.faults` tries each."""
    result = crashes.survive_full(every=8)
    assert result.lost == ()
    assert result.survived == result.points > 50


def test_killed_at_some_points_through_dagster_everything_agrees_again() -> None:
    """`python -m tests.adversarial.faults` tries each."""
    result = crash_dagster.survive_dagster(every=40)
    assert result.lost == ()
    assert result.survived == result.points >= 5


def test_real_file_systems_without_room_lose_nothing() -> None:
    result = small_disks.survive_small_disks()
    if result is None:
        pytest.skip("needs the right to mount a tmpfs in a namespace: injected full disks are tested instead")
    assert result.lost == ()
    assert result.survived == result.points == 30


def test_whole_releases_pass_every_kind_of_point() -> None:
    """So that a kind that nobody passes any more is missed."""
    passed: set[str] = set()
    with crashes.project() as world:
        crashes.released(world, 2)
        passed |= set(points_of(world.release))
    for what in ("write ledger", "commit ledger", "rename data", "rename manifest", "link lock"):
        assert {f"before {what}", f"after {what}"} <= passed
    for what in ("create", "write", "flush", "fsync", "rename", "unlink"):
        assert {f"before {what} private table", f"after {what} private table"} <= passed


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing, where something must be done."""


@pytest.mark.parametrize(
    ("target", "broken", "first", "said"),
    [
        (
            (Ledger, "enter_found"),
            _nothing,
            "after rename manifest",
            "says published of others than were readable",
        ),
        ((VaultArchive, "stage"), _nothing, None, "memory"),
        (
            *((VaultArchive, "_clear_up"), VaultArchive._drop_beside),
            *("after rename manifest", "memory does not contain"),
        ),
        ((VaultArchive, "_drop_beside"), _nothing, None, "private tables are left"),
        ((crashes, "retain_by_policy"), _nothing, None, "private tables are left"),
        (
            *((State, "counts"), property(lambda state: state.published_at is not None)),
            *("after rename manifest", "does not count"),
        ),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else None,
)
def test_the_driver_notices_what_is_broken(
    target: tuple[Any, str],
    broken: Callable[..., Any],
    first: str | None,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The point that a fault shows at is tried first: what the driver notices there, it notices."""
    monkeypatch.setattr(*target, broken)
    lost: tuple[str, ...] = ()
    with crashes.project() as world:
        crashes.released(world, 0)
        way = crashes.Way("kill", crashes.World.release, crashes.make_next, crashes.kill)
        try:
            lost = crashes.at_each_point(way, world, 9, first=first, enough=partial(re.search, said)).lost
        except Exception as error:
            lost = (str(error),)
    assert any(re.search(said, line) for line in lost), lost
