"""Crashes, full disks, read-only and vanishing destinations: readers see the old release or the new one."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.base.disk import Disk, disk, use_disk
from anon_pipeline.base.errors import PublishError
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import publish
from anon_pipeline.publish.writer import data_file, write_release
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Means
from tests.adversarial import faults, faulty_disk

ROOT = Path(__file__).resolve().parents[2]


def test_killed_at_any_point_readers_see_a_whole_release_and_the_next_run_cleans_up() -> None:
    result = faults.survive_kills()
    assert result.lost == ()
    assert result.survived == result.points > 100


def test_a_full_or_read_only_disk_at_any_point_loses_nothing_and_tells_the_truth() -> None:
    result = faults.survive_full_disks()
    assert result.lost == ()
    assert result.survived == result.points > 200


def test_killed_at_any_point_the_vault_has_the_old_table_or_the_new_one() -> None:
    result = faults.survive_vault()
    assert result.lost == ()
    assert result.survived == result.points > 20


def test_the_driver_notices_what_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that writes the manifest first is caught, and one that leaves its debris."""
    monkeypatch.setattr("anon_pipeline.publish.writer.clear_parts", lambda folder: None)
    lost = faults.at_each_point(faults.situations()[1], faults.kill, "kill").lost
    assert any("left .anon-pipeline-" in line for line in lost)

    def manifest_first(folder: Path, release: faults.Made) -> None:
        folder.mkdir(exist_ok=True)
        page = faults.report_page(release.document)
        report = {"name": "page.html", "sha256": hashlib.sha256(page).hexdigest()}
        (folder / report["name"]).write_bytes(page)
        beside = {"name": "policy.json", "sha256": hashlib.sha256(b"{}").hexdigest()}
        (folder / beside["name"]).write_bytes(b"{}")
        with disk().point("manifest"):
            document = {**release.document, "report": report, "policy": beside}
            (folder / "manifest.json").write_text(json.dumps(document))
        with disk().point("data"):
            (folder / release.files[0].described.name).write_bytes(release.files[0].data)

    monkeypatch.setattr(faults, "publish_made", manifest_first)
    lost = faults.at_each_point(faults.situations()[1], faults.kill, "kill").lost
    assert any("FileNotFoundError" in line for line in lost)


def test_publishing_passes_the_points_that_are_tried(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    policy = small_policy()
    made = pipeline.run(policy, small_people(), Means(Path(), None, system_entropy()))
    send = partial(
        publish, made.suppressed, made.k_anonymized.frame, policy, locations=Locations.of(tmp_path, {})
    )
    tried = faulty_disk.points_of(partial(faults.publish_made, tmp_path / "driver", faults.made(0)))
    ledger = {f"{when} {step} ledger" for when in ("before", "after") for step in ("commit", "write")}
    assert set(faulty_disk.points_of(send)) == {*tried, *ledger}
    operations = {name.partition(" ")[2] for name in tried}
    for what in ("data", "policy", "report", "manifest"):
        steps = ("create part of", "write", "permit", "sync", "rename", "sync folder of")
        assert {f"{step} {what}" for step in steps} <= operations


def test_no_environment_variable_puts_another_disk_in_place() -> None:
    assert disk() == Disk()
    text = (ROOT / "anon_pipeline" / "base" / "disk.py").read_text()
    assert "os.environ" not in text
    assert "getenv" not in text
    users = [p for p in (ROOT / "anon_pipeline").rglob("*.py") if "use_disk(" in p.read_text()]
    assert [path.name for path in users] == ["disk.py"]


def whole(folder: Path) -> str:
    """Publish a first release; return what readers see."""
    faults.publish_made(folder, faults.made(0))
    return str(faulty_disk.seen_by_reader(folder))


def big() -> faults.Made:
    """A release of 2 MiB."""
    release = faults.made(1)
    data = os.urandom(1 << 21)
    return faults.Made((data_file("small", "parquet", data, 1),), release.document)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mount small file systems; skip where that is not allowed."""
    places: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / f"mount{len(places)}"
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except OSError:
            pytest.skip("needs the program mount")
        if done.returncode:
            pytest.skip("needs the right to mount a tmpfs: the limit of a file's size is tested instead")
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_file_system_keeps_the_release_before(mounted: Callable[..., Path]) -> None:
    folder = mounted("size=1m") / "out"
    before = whole(folder)
    with pytest.raises(PublishError, match="No space left on device"):
        faults.publish_made(folder, big())
    assert faulty_disk.seen_by_reader(folder) == before
    assert faulty_disk.debris(folder) == []
    faults.publish_made(folder, faults.made(2))  # there is room again
    assert faulty_disk.debris(folder) == []


def test_a_read_only_file_system_is_refused_to_root_too(mounted: Callable[..., Path]) -> None:
    place = mounted("size=1m")
    before = whole(place / "out")
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    for folder in (place / "out", place / "new"):
        with pytest.raises(PublishError, match="Read-only file system"):
            faults.publish_made(folder, faults.made(2))
    assert faulty_disk.seen_by_reader(place / "out") == before


def test_a_limit_on_the_size_of_files_keeps_the_release_before(tmp_path: Path) -> None:
    """Works without any rights, in a child process of its own."""
    before = whole(tmp_path / "out")
    code = (
        "import sys; from pathlib import Path; from tests.adversarial import faults, faulty_disk\n"
        "from anon_pipeline.base.errors import PublishError\n"
        "release = faults.made(1); faulty_disk.limited_file_size(1000)\n"
        "try:\n    faults.publish_made(Path(sys.argv[1]), release)\n"
        "except PublishError as error:\n    print(error); sys.exit(3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (3, "")
    assert "File too large" in done.stdout
    assert faulty_disk.seen_by_reader(tmp_path / "out") == before
    assert faulty_disk.debris(tmp_path / "out") == []


def test_a_destination_that_vanishes_midway_is_a_publish_error_at_every_point(tmp_path: Path) -> None:
    names = faulty_disk.points_of(partial(faults.publish_made, tmp_path / "whole", faults.made(0)))
    first, last = names.index("after make folder"), names.index("before rename manifest")
    for i in range(first, last + 1):
        folder = tmp_path / str(i)
        left = [i]

        def vanish(name: str, folder: Path = folder, left: list[int] = left) -> None:
            if left[0] == 0:
                shutil.rmtree(folder)
            left[0] -= 1

        with use_disk(Disk(vanish, 1500)), pytest.raises(PublishError):
            faults.publish_made(folder, faults.made(0))
        assert faulty_disk.seen_by_reader(folder) is None
        faults.publish_made(folder, faults.made(0))
        assert faulty_disk.seen_by_reader(folder)


def test_a_disk_that_does_not_confirm_the_manifest_says_that_the_release_is_in_place(tmp_path: Path) -> None:
    def fail(name: str) -> None:
        if name == "before sync folder of manifest":
            raise OSError(errno.EIO, "Input/output error")

    with use_disk(Disk(fail)), pytest.raises(PublishError, match="holds the new release") as raised:
        faults.publish_made(tmp_path / "out", faults.made(0))
    assert raised.value.in_place
    assert faulty_disk.seen_by_reader(tmp_path / "out") == faults.made(0).document["data_digest"]


def test_old_files_that_cannot_be_removed_do_not_undo_a_release(tmp_path: Path) -> None:
    def fail(name: str) -> None:
        if name == "before unlink old data":
            raise OSError(errno.EPERM, "Operation not permitted")

    for seed in range(2):
        faults.publish_made(tmp_path / "out", faults.made(seed))
    with use_disk(Disk(fail)):
        faults.publish_made(tmp_path / "out", faults.made(2))
    assert faulty_disk.debris(tmp_path / "out") != []
    faults.publish_made(tmp_path / "out", faults.made(3))
    assert faulty_disk.debris(tmp_path / "out") == []


def test_a_clock_that_jumps_back_does_not_take_made_at_along(tmp_path: Path) -> None:
    late, early = faults.made(4), faults.made(0)
    written = [write_release(tmp_path, each.files, each.document)["made_at"] for each in (late, early)]
    assert written == [late.document["made_at"]] * 2
    assert json.loads((tmp_path / "manifest.json").read_text())["made_at"] == written[1]


def test_times_are_compared_as_times_not_as_texts(tmp_path: Path) -> None:
    late, early = "2026-01-01T01:00:00+00:00", "2026-01-01T01:30:00+02:00"
    for made_at in (late, early):
        release = faults.made(0)
        written = write_release(tmp_path, release.files, {**release.document, "made_at": made_at})
    assert written["made_at"] == late


@pytest.mark.parametrize("odd", ["soon", "2026-01-01T00:00:00", 5, None])
def test_a_last_time_that_is_none_does_not_stop_a_release(tmp_path: Path, odd: object) -> None:
    release = faults.made(0)
    write_release(tmp_path, release.files, release.document)
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({**release.document, "made_at": odd}))
    with contextlib.suppress(KeyError):
        written = write_release(tmp_path, release.files, release.document)
    assert written["made_at"] == release.document["made_at"]
