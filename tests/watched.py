"""Servers for all workers of `pytest -n`: started once, and ended when the tests are gone, however."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

_WATCHER = """
import json, os, shutil, signal, socket, subprocess, sys, time
for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(ignored, signal.SIG_DFL)  # workers of pytest ignore some, and programs would, too
tests, folder, user, ends_by, *programs = sys.argv[1:]
as_user = {"user": user, "group": os.stat(folder).st_gid, "extra_groups": []} if user else {}
def running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
def answers(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
servers = []
for program in map(json.loads, programs):
    servers.append(subprocess.Popen(program["words"], cwd=folder, **as_user))
    port = program["port"]
    while port and not answers(port) and running(int(tests)) and servers[-1].poll() is None:
        time.sleep(0.05)
while running(int(tests)) and all(server.poll() is None for server in servers):
    time.sleep(0.3)
for server in reversed(servers):
    server.send_signal(int(ends_by))
for server in servers:
    try:
        server.wait(timeout=30)
    except subprocess.TimeoutExpired:
        server.kill()
shutil.rmtree(folder, ignore_errors=True)
"""


@dataclass(frozen=True)
class Program:
    """A program that runs as long as the tests.

    port: at which it listens before the next program is started; 0: nothing is waited for.
    """

    words: Sequence[str]
    port: int = 0


def start_watched(
    programs: Sequence[Program],
    folder: Path,
    *,
    ends_by: int,
    user: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Start programs that end with the tests, of which this process is one or a worker.

    Args:
        folder: in which they run and log; it is removed at the end.
        ends_by: number of the signal.
        user: as whom they run; None: as this one.
    """
    tests = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    said = [json.dumps(asdict(program)) for program in programs]
    with (folder / "log").open("wb") as log:
        subprocess.Popen(
            [sys.executable, "-c", _WATCHER, str(tests), str(folder), user or "", str(int(ends_by)), *said],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=environ,
        )


def started_once(shared: Path, name: str, start: Callable[[], str | None]) -> str | None:
    """Return what the first worker to ask got when it started a server; None where it could not.

    Args:
        shared: folder that all workers of this run share.
        start: starts the server and returns its place.
    """
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = shared / f"{name}.place"
        if not known.exists():
            place = start()
            if place is None:
                return None
            known.write_text(place)
        return known.read_text()


def free_port() -> int:
    """Return a port of this machine at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """Tell whether somebody listens at a port of this machine."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def wait_until(holds: Callable[[], bool], log: Path, what: str, *, seconds: int = 60) -> None:
    """Wait until a server is ready.

    Raises:
        RuntimeError: it is not; with what it says.
    """
    for _ in range(seconds * 20):
        if holds():
            return
        time.sleep(0.05)
    raise RuntimeError(f"{what} did not start: {log.read_text(errors='replace')[-2000:]}")
