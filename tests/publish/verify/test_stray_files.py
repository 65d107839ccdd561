"""What `verify` passes over beside a manifest is what publishing leaves there, by kind and content."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import Locations, Policy, make_release
from anon_pipeline.gate import Status
from anon_pipeline.publish.lock import LOCK, hold_folder, this_process
from anon_pipeline.publish.verify.verify import Against, verify_release
from tests.projects import restore_or_make

Small = Callable[..., Policy]
OURS = asdict(this_process())


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for one project."""
    return tmp_path_factory.mktemp("kept") / "project"


@pytest.fixture
def out(kept: Path, small_policy: Small, small_people: Callable[..., pd.DataFrame]) -> Path:
    """The destination of one release, put back as it was published."""

    def make() -> None:
        small_people().to_csv(kept / "people.csv", index=False)
        make_release(small_policy(), Locations.of(kept, {}))

    restore_or_make(kept, make)
    return kept / "out"


def judged(folder: Path, policy: Policy | None = None) -> Status:
    against = Against(policy, hierarchies=folder.parent) if policy else Against()
    return {v.limit: v for v in verify_release(folder, against).verdicts}["folder"].status


def text(said: object) -> Callable[[Path], object]:
    return lambda path: path.write_text(said if isinstance(said, str) else json.dumps(said))


def a_folder(path: Path) -> None:
    path.mkdir()
    (path / "secret.csv").write_text("name,ssn")


def a_link(path: Path) -> None:
    path.parent.parent.joinpath("lock").write_text(json.dumps(OURS))
    path.symlink_to(path.parent.parent / "lock")


STRANGE: dict[str, Callable[[Path], object]] = {
    "a table": text("name,ssn\nx,y"),
    "a folder": a_folder,
    "a link to a lock": a_link,
    "a pipe": os.mkfifo,
    "another key": text({**OURS, "people": ["x"]}),
    "a key less": text({key: OURS[key] for key in OURS if key != "boot"}),
    "a table as host": text({**OURS, "host": "name,ssn\nx,y"}),
    "a list as host": text({**OURS, "host": ["x"]}),
    "a text as number": text({**OURS, "pid": "x"}),
    "a text as start": text({**OURS, "started": "x"}),
    "a text as time": text({**OURS, "since": "John Smith"}),
    "a text as boot": text({**OURS, "boot": "john"}),
    "too large": text(json.dumps(OURS) + " " * 3000),
    "too deep": text("[" * 2000),
    "no object": text([1]),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_what_merely_has_the_name_of_the_lock_is_a_stranger(out: Path, kind: str) -> None:
    STRANGE[kind](out / LOCK)
    assert judged(out) is Status.REFUSED


def test_the_locks_that_are_written_are_passed_over(out: Path) -> None:
    with hold_folder(out, wait=0):
        assert (out / LOCK).exists()
        assert judged(out) is Status.PASSED
    for owner in (replace(this_process(), started=None, boot=""), replace(this_process(), host="ma-1.x.org")):
        (out / LOCK).write_text(json.dumps(asdict(owner)))
        assert judged(out) is Status.PASSED
    (out / LOCK).write_text("")
    assert judged(out) is Status.PASSED


@pytest.mark.parametrize("kind", ["a folder", "a link to a lock", "a pipe"])
def test_an_unfinished_file_is_a_plain_one(out: Path, kind: str) -> None:
    STRANGE[kind](out / ".anon-pipeline-abcdefgh.part")
    assert judged(out) is Status.REFUSED


def test_an_unfinished_file_is_mentioned_whatever_it_holds(out: Path) -> None:
    def said() -> str | None:
        (verdict,) = (one for one in verify_release(out, Against()).verdicts if one.limit == "folder")
        assert verdict.status is Status.PASSED
        return verdict.reason

    assert said() is None
    (out / ".anon-pipeline-abcdefgh.part").write_text("Quillfeather")
    assert said() == (
        "the folder also holds 1 file named like files of an interrupted run, whose content was not checked: "
        "delete them; this manifest does not cover them"
    )


@pytest.mark.parametrize(
    ("schedule", "name", "passes"),
    [
        (None, "2026-01-05", False),
        ("weekly", "2026-01-05", True),
        ("weekly", "2026-01-06", False),
        ("weekly", "2025-12-29", False),
        ("weekly", "secret", False),
        ("monthly", "2026-01-05", False),
    ],
)
def test_a_policy_says_which_folders_can_be_partitions(
    out: Path, small_policy: Small, schedule: str | None, name: str, *, passes: bool
) -> None:
    (out / name).mkdir()
    document = json.loads((out / "manifest.json").read_text())
    (out / name / "manifest.json").write_text(json.dumps({**document, "partition": name}))
    (out / name / "raw.csv").write_text("name,ssn")
    assert judged(out) is Status.PASSED  # without a policy: `verify` is to be run there, too
    weekly = {"cron": "0 3 * * 1", "partitions": schedule, "start": "2026-01-01"}
    divided = {"schedule": weekly, "source": {"path": "{partition}.csv"}} if schedule else {}
    assert judged(out, small_policy(**divided)) is (Status.PASSED if passes else Status.REFUSED)
