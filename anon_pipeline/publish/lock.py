"""One publisher at a time in a folder: who holds it is written there, and the dead are taken over.

On one machine the kernel's lock on the folder (flock) decides; it ends with its process, however that dies.
The lock file next to it names the owner, and keeps out publishers of other machines, which flock may not see.
A file's mere age never decides about a process of this machine: its identity does.

Decision: docs/adr/0009-crashes-locks-signatures.md.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import secrets
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from anon_pipeline.base.disk import PART, disk
from anon_pipeline.base.errors import ANOTHER_DRAW, PublishError
from anon_pipeline.base.quiet import own_words

LOCK = ".anon-pipeline.lock"
FOREIGN_AGE = 3600.0
"""Age in seconds from which the lock file of another machine is taken for abandoned."""
_WATCHED = 5.0
_PAUSE = 0.1
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a folder.

    host: name of the machine.
    boot: the machine's start, by the kernel's own id; empty where there is none.
    pid: of the process.
    started: of the process, in the kernel's ticks since boot; None if the kernel does not state it.
    since: when it took the folder, for people.
    """

    host: str
    boot: str
    pid: int
    started: int | None
    since: str

    def as_text(self) -> str:
        """Name the owner in an error or a note."""
        return f"process {self.pid} on {self.host} since {self.since}"


def this_process() -> Owner:
    """Return this process as an owner."""
    pid = os.getpid()
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return Owner(socket.gethostname(), _boot(), pid, _start_time(pid), since)


def is_gone(owner: Owner) -> bool | None:
    """Tell whether an owner's process has ended; None where that cannot be known from here.

    A process is known by its number and the moment it started, in ticks since boot: neither a number that was
    given out again nor a clock that was set can be taken for it.
    """
    if owner.host != socket.gethostname():
        return None
    if owner.boot != _boot():
        return True  # this machine has been started again since
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # there, and of another user
    return owner.started is not None and _start_time(owner.pid) != owner.started


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _start_time(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[19])


@contextlib.contextmanager
def hold_folder(folder: Path, *, wait: float) -> Iterator[Callable[[], None]]:
    """Hold a folder against every other publisher.

    Args:
        folder: exists and can be written.
        wait: seconds to wait for a live owner, by the monotonic clock.
    Yields:
        A function that raises `PublishError` if the folder was taken over meanwhile.
    Raises:
        PublishError: still held after ``wait`` seconds; names the owner.
        OSError: the folder cannot be written.
    """
    until = time.monotonic() + wait
    with hold_lock(folder, until) as locked:
        mine = _take(folder, until, locked=locked)
        try:
            yield lambda: _still(folder, mine)
        finally:
            if read_owner(folder)[1] == mine:
                with contextlib.suppress(OSError):  # what is left names a process that let go of the folder
                    disk().unlink(folder / LOCK, "lock")


@contextlib.contextmanager
def hold_lock(folder: Path, until: float | None = None) -> Iterator[bool]:
    """Hold the kernel's lock on a folder, which ends with the process.

    Args:
        until: monotonic time at which to give up; None: wait for ever.
    Yields:
        Whether it is held; False where the file system has none.
    Raises:
        PublishError: still held by another at ``until``.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | (0 if until is None else fcntl.LOCK_NB))
            except BlockingIOError:
                if until is not None and time.monotonic() >= until:
                    raise _busy(folder, read_owner(folder)[0]) from None
                time.sleep(_PAUSE)
                continue
            except OSError:
                yield False
                return
            yield True
            return
    finally:
        os.close(handle)


def refuse_strange(folder: Path) -> None:
    """Refuse a lock that no run has written: a folder or a link would be waited for for ever.

    Args:
        folder: need not be there yet.
    Raises:
        PublishError: something else than a plain file has the name of the lock.
        OSError: it cannot be looked at.
    """
    try:
        mode = (folder / LOCK).lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a link" if stat.S_ISLNK(mode) else "something else"
        raise PublishError(f"publish.to: {folder / LOCK} must be a plain file, got {what}. Remove it.")


def _take(folder: Path, until: float, *, locked: bool) -> bytes:
    """Write the lock file; wait for a live owner, take over a dead one."""
    mine = json.dumps(asdict(this_process())).encode()
    seen, since = None, time.monotonic()
    while not _claim(folder, mine):
        refuse_strange(folder)
        owner, text = read_owner(folder)
        if text != seen:
            seen, since = text, time.monotonic()
        gone = _is_gone_here(owner, locked=locked)
        old = gone is None and text is not None and _age(folder) > FOREIGN_AGE
        if text is not None and (gone or (old and time.monotonic() - since >= _WATCHED)):
            take_over(folder, owner, text)
        elif time.monotonic() >= until and not old:
            raise _busy(folder, owner)
        else:
            time.sleep(_PAUSE)
    return mine


def take_over(folder: Path, owner: Owner | None, text: bytes) -> None:
    """Move a dead owner's lock file away; one that somebody else put there meanwhile goes back."""
    stale = folder / f"{PART}{secrets.token_hex(8)}.part"
    with contextlib.suppress(FileNotFoundError), disk().point("rename lock of the dead"):
        (folder / LOCK).rename(stale)
    if not stale.exists():
        return
    if stale.read_bytes() == text:
        who = "an unknown process" if owner is None else owner.as_text()
        with own_words():
            _log.warning("publish.to: %s was held by %s, which is gone: taken over", folder, who)
    else:
        with contextlib.suppress(FileExistsError):
            (folder / LOCK).hardlink_to(stale)
    disk().unlink(stale, "lock of the dead")


def _is_gone_here(owner: Owner | None, *, locked: bool) -> bool | None:
    """Return whether a lock file's owner is gone; None if only the file's age can show it.

    With the kernel's lock in hand, an owner of this machine's present run has let go of it. Of another
    machine nothing is known but the file's age, by the file system's own clock, and that nobody touched it
    while it was watched.
    """
    if owner is not None and locked and owner.boot and owner.boot == _boot():
        return True
    return None if owner is None else is_gone(owner)


def _age(folder: Path) -> float:
    """Return the lock file's age in seconds, both ends by the file system's clock."""
    try:
        with tempfile.NamedTemporaryFile(prefix=PART, suffix=".part", dir=folder) as now:
            return os.fstat(now.fileno()).st_mtime - (folder / LOCK).stat().st_mtime
    except FileNotFoundError:  # let go of in this moment
        return 0.0


def _claim(folder: Path, mine: bytes) -> bool:
    """Put the lock file there, complete, unless there is one."""
    with disk().point("create part of lock"):
        handle, name = tempfile.mkstemp(prefix=PART, suffix=".part", dir=folder)
    part = Path(name)
    try:
        try:
            disk().write(handle, mine, "lock")
        finally:
            os.close(handle)
        with disk().point("link lock"):
            try:
                (folder / LOCK).hardlink_to(part)
            except (FileExistsError, FileNotFoundError):  # held, or swept away with the parts of the dead
                return False
            except PermissionError:  # a file system without links
                return _create(folder, mine)
        return True
    finally:
        with contextlib.suppress(OSError):
            disk().unlink(part, "part of lock")


def _create(folder: Path, mine: bytes) -> bool:
    try:
        handle = os.open(folder / LOCK, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    try:
        os.write(handle, mine)
    finally:
        os.close(handle)
    return True


def read_owner(folder: Path) -> tuple[Owner | None, bytes | None]:
    """Return the owner that the lock file names, and its bytes; nothing where there is none."""
    try:
        text = (folder / LOCK).read_bytes()
    except OSError:
        return None, None
    try:
        found = json.loads(text)
        return Owner(**{**found, "pid": int(found["pid"]), "host": str(found["host"])}), text
    except (ValueError, TypeError, LookupError):
        return None, text


def _still(folder: Path, mine: bytes) -> None:
    owner, text = read_owner(folder)
    if text != mine:
        who = "nobody" if owner is None else owner.as_text()
        raise PublishError(f"publish.to: {folder} was taken over while this run was writing, by {who}")


def _busy(folder: Path, owner: Owner | None) -> PublishError:
    who = "another process" if owner is None else owner.as_text()
    return PublishError(
        f"publish.to: {folder} must be free to publish there, got: held by {who}. Wait for it to end, then "
        f"run again with the same policy ({ANOTHER_DRAW}; publish.wait is part of it)."
    )
