"""Two runs at once: the living are waited for and named, the dead are taken over."""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from anon_pipeline.base.disk import Disk, use_disk
from anon_pipeline.base.errors import PublishError
from anon_pipeline.base.quiet import quiet
from anon_pipeline.publish import lock
from anon_pipeline.publish.lock import LOCK, Owner, hold_folder, is_gone, this_process

ROOT = Path(__file__).resolve().parents[2]
HOLD = """
import sys, time
from pathlib import Path
from anon_pipeline.publish.lock import hold_folder
with hold_folder(Path(sys.argv[1]), wait=0):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def no_flock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without flock."""

    def none(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)


def written_by(folder: Path, owner: Owner) -> None:
    (folder / LOCK).write_text(json.dumps(asdict(owner)))


def test_who_holds_the_folder_is_written_there_and_nothing_else(tmp_path: Path) -> None:
    with hold_folder(tmp_path, wait=0):
        assert [path.name for path in tmp_path.iterdir()] == [LOCK]
        document = json.loads((tmp_path / LOCK).read_text())
        assert set(document) == {"host", "boot", "pid", "started", "since"}
        assert (document["host"], document["pid"]) == (socket.gethostname(), os.getpid())
    assert list(tmp_path.iterdir()) == []


def test_a_living_owner_is_waited_for_then_named(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    who = f"held by process {holder.pid} on {socket.gethostname()} since"
    with pytest.raises(PublishError, match=who), hold_folder(tmp_path, wait=0.2):
        raise AssertionError
    assert (tmp_path / LOCK).exists()


def test_a_living_owner_is_respected_without_flock_too(
    holder: subprocess.Popen[str], tmp_path: Path, no_flock: None
) -> None:
    with pytest.raises(PublishError, match=f"held by process {holder.pid}"), hold_folder(tmp_path, wait=0.2):
        raise AssertionError


def test_an_owner_that_ends_lets_the_next_one_in(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    assert holder.stdin is not None
    holder.stdin.write("\n")
    holder.stdin.flush()
    with hold_folder(tmp_path, wait=30):
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()


@pytest.mark.parametrize("flock", [True, False])
def test_the_killed_are_taken_over_with_a_note(
    holder: subprocess.Popen[str],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    request: pytest.FixtureRequest,
    flock: bool,
) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    if not flock:
        request.getfixturevalue("no_flock")
    with caplog.at_level(logging.WARNING), quiet(), hold_folder(tmp_path, wait=0):
        pass
    assert f"was held by process {holder.pid} on {socket.gethostname()}" in caplog.text
    assert "gone: taken over" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_a_process_is_known_by_number_and_start() -> None:
    me = this_process()
    assert is_gone(me) is False
    assert me.started is not None
    assert is_gone(replace(me, started=me.started - 1)) is True  # its number was given out again
    assert is_gone(replace(me, boot="another")) is True  # the machine was started again
    assert is_gone(replace(me, host="elsewhere")) is None
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_gone(replace(me, pid=ended.pid)) is True


def test_a_number_given_out_again_is_taken_over_without_flock(tmp_path: Path, no_flock: None) -> None:
    me = this_process()
    assert me.started is not None
    written_by(tmp_path, replace(me, started=me.started - 1))
    with hold_folder(tmp_path, wait=0):
        pass


def test_no_clock_decides_about_this_machine(
    holder: subprocess.Popen[str], tmp_path: Path, no_flock: None
) -> None:
    """A lock file that looks ten years old, or from the future, is respected while its process lives."""
    for shift in (-10, 10):
        then = time.time() + shift * 365 * 86_400
        text = json.loads((tmp_path / LOCK).read_text())
        (tmp_path / LOCK).write_text(json.dumps({**text, "since": f"{2026 + shift}-01-01T00:00:00+00:00"}))
        os.utime(tmp_path / LOCK, (then, then))
        with (
            pytest.raises(PublishError, match=f"held by process {holder.pid}"),
            hold_folder(tmp_path, wait=0.2),
        ):
            raise AssertionError


def test_another_machine_is_respected_until_its_lock_is_old_and_was_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_by(tmp_path, replace(this_process(), host="elsewhere", boot="other"))
    with pytest.raises(PublishError, match="on elsewhere since"), hold_folder(tmp_path, wait=0.2):
        raise AssertionError
    old = time.time() - lock.FOREIGN_AGE - 60
    os.utime(tmp_path / LOCK, (old, old))
    monkeypatch.setattr(lock, "_WATCHED", 0.3)
    begun = time.monotonic()
    with hold_folder(tmp_path, wait=0):
        assert time.monotonic() - begun >= 0.3
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("odd", ["", "{", "[]", '{"pid": "x", "host": 3}', '{"pid": 1}'])
def test_an_unreadable_lock_is_respected_like_another_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    (tmp_path / LOCK).write_text(odd)
    with pytest.raises(PublishError, match="held by another process"), hold_folder(tmp_path, wait=0):
        raise AssertionError
    old = time.time() - lock.FOREIGN_AGE - 60
    os.utime(tmp_path / LOCK, (old, old))
    monkeypatch.setattr(lock, "_WATCHED", 0.0)
    with hold_folder(tmp_path, wait=0):
        pass


def test_a_run_that_was_taken_over_does_not_publish(tmp_path: Path) -> None:
    with hold_folder(tmp_path, wait=0) as still_held:
        still_held()
        written_by(tmp_path, replace(this_process(), host="elsewhere"))
        with pytest.raises(PublishError, match="was taken over while this run was writing, by process"):
            still_held()
    assert (tmp_path / LOCK).exists()  # of the other


def test_a_lock_put_there_while_the_dead_is_taken_over_goes_back(tmp_path: Path) -> None:
    other = replace(this_process(), host="elsewhere")
    written_by(tmp_path, other)
    lock.take_over(tmp_path, None, b"what was judged to be dead")
    assert lock.read_owner(tmp_path)[0] == other
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]


def test_a_file_system_without_links_has_a_lock_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", none)
    with hold_folder(tmp_path, wait=0):
        assert lock.read_owner(tmp_path)[0] is not None
        with pytest.raises(PublishError), hold_folder(tmp_path, wait=0):
            raise AssertionError
    assert list(tmp_path.iterdir()) == []


def test_an_error_inside_lets_go_of_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), hold_folder(tmp_path, wait=0):
        raise ZeroDivisionError
    with hold_folder(tmp_path, wait=0):
        pass


def test_a_lock_that_cannot_be_removed_does_not_undo_a_release_and_is_taken_over(tmp_path: Path) -> None:
    def fail(name: str) -> None:
        if name == "before unlink lock":
            raise OSError(errno.EIO, "Input/output error")

    with use_disk(Disk(fail)), hold_folder(tmp_path, wait=0):
        pass
    assert (tmp_path / LOCK).exists()
    with hold_folder(tmp_path, wait=0):
        pass
    assert list(tmp_path.iterdir()) == []
