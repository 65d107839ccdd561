"""A `divide` that is killed leaves no policy, and the next one removes what it has written."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.observer import Step
from anon_pipeline.division import divide as module
from anon_pipeline.division import part_files
from anon_pipeline.division.divide import Division, divide
from anon_pipeline.division.leftovers import MARK, remove_leftovers
from anon_pipeline.division.part_files import hold_part_folder
from anon_pipeline.policy import load_policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import lock
from anon_pipeline.publish.lock import LOCK, this_process
from tests.conftest import SMALL, merged
from tests.forked import killed

People = Callable[..., pd.DataFrame]
FILE = "d01234567.1.parquet"
PLACES = ("before a file", "before a row group", "before the policy", "after the policy")


@pytest.fixture
def policy(tmp_path: Path, small_people: People) -> Path:
    small_people(600).to_parquet(tmp_path / "people.parquet", index=False)
    path = tmp_path / "policy.yaml"
    parquet = {"path": "people.parquet", "format": "parquet"}
    attributes = merged(SMALL, {"source": parquet, "one_record_per_person": True})
    path.write_text(yaml.safe_dump({"type": "anon_pipeline.AnonymizedRelease", "attributes": attributes}))
    return path


def divided(path: Path, **more: Any) -> Division:
    return divide(path, load_policy(path), Locations.of(path.parent, {}), parts=3, **more)


def in_csv(path: Path) -> None:
    """Let the source be a file that is copied before it is divided."""
    folder = path.parent
    pd.read_parquet(folder / "people.parquet").to_csv(folder / "people.csv", index=False)
    path.write_text(
        path.read_text().replace("people.parquet", "people.csv").replace("format: parquet", "format: csv")
    )


def kill_at(path: Path, place: str, nth: int, to: Path | None) -> bool:
    """Divide in a process that is killed at the nth time that it comes to a place."""
    left = [nth]

    def die(*_: object) -> None:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1

    def before(owner: Any, name: str) -> None:
        real = getattr(owner, name)
        setattr(owner, name, lambda *a, **k: (die(), real(*a, **k))[1])

    def work() -> None:
        setattr(part_files, "_ROW_GROUP", 64)  # noqa: B010 - nobody else sees it: a child that is killed
        if place == "before a file":
            before(part_files.PartFile, "__init__")
        elif place == "before a row group":
            before(part_files.PartFile, "_write")
        elif place == "before the policy":
            before(module, "write_policy")
        else:
            real = module.write_policy
            module.write_policy = lambda *a, **k: (real(*a, **k), die())[0]
        divided(path, to=to)

    return killed(work)


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name != ".gitignore"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("named", [False, True])
def test_killed_at_some_points_the_next_one_clears_up(
    policy: Path, place: str, named: bool, tmp_path: Path
) -> None:
    source = (tmp_path / "people.parquet").read_bytes()
    to = tmp_path / "mine" if named else None
    for nth in range(0, 1 if "policy" in place else 3):
        assert kill_at(policy, place, nth, to), "it came to its end"
        left = [path for path in files_of(tmp_path) if path.suffix == ".parquet" and FILE[-2:] in path.name]
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in left if path.parent != tmp_path)
        written = [*tmp_path.glob("policy-*.yaml")]
        assert len(written) == (place == "after the policy")
        events = list[object]()
        if place == "after the policy" and named:  # it is whole: its folder is not free
            with pytest.raises(InputError, match="must be a new or an empty folder"):
                divided(policy, to=to)
            assert len([*tmp_path.glob("mine/d*.parquet")]) == 3
            continue
        found = divided(policy, to=to, observe=events.append)
        steps = [event.name for event in events if isinstance(event, Step)]
        cleared = place != "after the policy" and (place, nth) != ("before a file", 0)
        assert ("removed the files of a divide that was killed" in steps) == cleared
        frames = [pd.read_parquet(found.files / f"{key}.parquet") for key in found.keys]
        assert sum(map(len, frames)) == 600
        kept = {*found.files.glob("*.parquet")}
        others = {*tmp_path.glob("partitions/*/*.parquet"), *tmp_path.glob("mine/*.parquet")} - kept
        assert len(others) == (3 if place == "after the policy" else 0)
        found.policy.unlink()
        for path in kept:
            path.unlink()
    assert (tmp_path / "people.parquet").read_bytes() == source
    assert not [*tmp_path.rglob(LOCK)]


@pytest.mark.parametrize(
    ("place", "nth"), [("before a file", 0), ("before a row group", 0), ("before a file", 2)]
)
@pytest.mark.parametrize("named", [False, True])
def test_killed_with_a_copy_of_the_source_the_next_one_clears_up(
    policy: Path, place: str, nth: int, named: bool, tmp_path: Path
) -> None:
    in_csv(policy)
    to = tmp_path / "mine" if named else None
    assert kill_at(policy, place, nth, to), "it came to its end"
    assert [*tmp_path.rglob("copies")]
    found = divided(policy, to=to)
    assert not [*tmp_path.rglob("copies")]
    assert {*tmp_path.rglob("d*.parquet")} == {found.files / f"{key}.parquet" for key in found.keys}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of partitions, with one file, that a process held which has ended."""
    place = tmp_path / "partitions" / "d01234567"
    place.mkdir(parents=True)
    (place / FILE).write_bytes(b"rows")
    (place / "notes.txt").write_text("mine")
    (place / MARK).write_text(str(tmp_path / "elsewhere" / "policy-d01234567.yaml"))
    (place / LOCK).write_text(json.dumps(asdict(replace(this_process(), started=1))))
    return place


def test_only_files_of_divisions_are_removed(folder: Path, tmp_path: Path) -> None:
    assert remove_leftovers([folder, tmp_path]) == [folder]
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_copies_of_the_source_are_removed_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "000000.parquet").touch()
    (folder / "copies").symlink_to(other)
    assert remove_leftovers([folder]) == [folder]
    assert (other / "000000.parquet").exists()
    (folder / "copies").unlink()
    (folder / "copies").mkdir()
    for name in ("000000.parquet", "notes.parquet"):
        (folder / "copies" / name).touch()
    (folder / MARK).write_text(str(tmp_path / "policy-d01234567.yaml"))
    (folder / LOCK).write_text(json.dumps(asdict(replace(this_process(), started=1))))
    assert remove_leftovers([folder]) == [folder]
    assert [path.name for path in (folder / "copies").iterdir()] == ["notes.parquet"]


def test_a_division_with_a_policy_is_kept_wherever_that_is(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "policy-d01234567.yaml").write_text("")
    assert remove_leftovers([folder]) == []
    assert (folder / FILE).is_file() and not (folder / LOCK).exists() and not (folder / MARK).exists()


@pytest.mark.parametrize("holder", ["alive", "locked", "another machine", "unreadable", "nobody", "no mark"])
def test_what_may_be_in_use_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch, holder: str) -> None:
    with ExitStack() as held:
        if holder == "alive":
            (folder / LOCK).write_text(json.dumps(asdict(this_process())))
        elif holder == "locked":  # as a process of another container, whose number says nothing here
            held.enter_context(lock.hold_lock(folder))
        elif holder == "another machine":
            monkeypatch.setattr(lock.socket, "gethostname", lambda: "another")
        elif holder == "unreadable":
            (folder / LOCK).write_text("{")
        elif holder == "nobody":
            (folder / LOCK).unlink()
        else:
            (folder / MARK).unlink()
        assert remove_leftovers([folder]) == []
    assert (folder / FILE).is_file()


def test_two_at_once_do_not_write_into_one_folder(policy: Path, tmp_path: Path) -> None:
    to = tmp_path / "mine"
    with (
        hold_part_folder(to, policy),
        pytest.raises(InputError, match="another process writes there"),
        hold_part_folder(to, policy),
    ):
        raise AssertionError("never held")
    with hold_part_folder(to, policy), pytest.raises(InputError, match="another process writes there"):
        divided(policy, to=to)
    assert divided(policy, to=to).files == to


def test_a_folder_that_is_refused_is_not_touched(policy: Path, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path.with_name(f"{tmp_path.name} outside")
    folder.rename(outside)
    before = sorted(path.name for path in outside.iterdir())
    with pytest.raises(InputError, match="below that of the sources"):
        divided(policy, to=outside)
    assert sorted(path.name for path in outside.iterdir()) == before


def test_what_a_killed_lock_leaves_does_not_close_a_folder(policy: Path, tmp_path: Path) -> None:
    to = tmp_path / "mine"
    to.mkdir()
    dead = json.dumps(asdict(replace(this_process(), started=1)))
    for name in (LOCK, ".anon-pipeline-abcdefgh.part"):
        (to / name).write_text(dead)
    assert len(divided(policy, to=to).keys) == 3


def test_a_policy_in_a_folder_whose_name_is_no_text_is_marked(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"odd \xff")
    odd.mkdir()
    with hold_part_folder(tmp_path / "parts", odd / "policy.yaml"):
        assert (tmp_path / "parts" / MARK).read_bytes() == os.fsencode(odd / "policy.yaml")
    assert not (tmp_path / "parts" / MARK).exists()


def test_files_of_another_division_are_kept(folder: Path) -> None:
    (folder / "d99999999.1.parquet").write_bytes(b"rows")
    assert remove_leftovers([folder]) == [folder]
    assert sorted(path.name for path in folder.iterdir()) == ["d99999999.1.parquet", "notes.txt"]
