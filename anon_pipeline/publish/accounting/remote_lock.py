"""One run at a time on a memory: a kernel lock here, and in a remote vault a file that only one can create.

Whoever holds it is named in it. The dead of this project's folder are taken over, because its kernel lock,
which the caller holds, has ended with them; of others nothing is known, so they are waited for, then named.
No clock decides.

Decision: docs/adr/0014-whole-releases-meet-faults.md.
"""

import fcntl
import hashlib
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import ANOTHER_DRAW, InputError
from anon_pipeline.publish.lock import LOCK, this_process
from anon_pipeline.vault.remote import RemoteStore

_PAUSE = 0.5


@contextmanager
def held_here(folder: Path) -> Iterator[None]:
    """Hold a local folder, by the kernel's lock."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # closing would not do where a forked child has the handle, too
        os.close(handle)


@contextmanager
def hold_remotely(store: RemoteStore, release: str, *, here: Path, wait: float) -> Iterator[None]:
    """Hold a release's memory in a remote vault against every other run that uses this vault.

    Args:
        release: name; the lock is ``<release>/.anon-pipeline.lock``.
        here: local folder whose kernel lock the caller holds.
        wait: seconds to wait for another run, by the monotonic clock.
    Raises:
        InputError: still held after ``wait`` seconds, names the owner; or the place cannot create a file
            only where there is none.
    """
    name = f"{release}/{LOCK}"
    place = hashlib.sha256(f"{socket.gethostname()}\0{here.resolve()}".encode()).hexdigest()[:32]
    mine = json.dumps({**asdict(this_process()), "place": place}).encode()
    until = time.monotonic() + wait
    while not store.create(name, mine):
        owner = _owner(store, name)
        if owner is not None and owner.get("place") == place:
            store.remove(name)
        elif time.monotonic() >= until:
            raise _busy(owner)
        else:
            time.sleep(_PAUSE)
    try:
        yield
    finally:
        with suppress(OSError):  # the next run of this folder takes it over
            if _text(store, name) == mine:
                store.remove(name)


def _text(store: RemoteStore, name: str) -> bytes | None:
    try:
        with store.reading(name) as file:
            return file.read()
    except FileNotFoundError:
        return None


def _owner(store: RemoteStore, name: str) -> dict[str, Any] | None:
    """Return what the lock says of its owner; None where it is gone, or says nothing."""
    try:
        found = json.loads(_text(store, name) or b"null")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _busy(owner: dict[str, Any] | None) -> InputError:
    known = owner is not None and {"pid", "host", "since"} <= set(owner)
    who = "process {pid} on {host} since {since}".format(**owner) if owner and known else "another process"
    return InputError(
        f"the vault's memory must be free, got: held by {who}. Wait for it to end, then run again with "
        f"the same policy ({ANOTHER_DRAW}; publish.wait is part of it). If it has ended without letting go, "
        f"delete {LOCK} in the release's folder of the vault."
    )
