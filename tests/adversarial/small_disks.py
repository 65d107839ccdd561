"""Whole releases on real file systems that have too little room, in a namespace of our own.

Run as ``python -m tests.adversarial.small_disks`` inside such a namespace, by `survive_small_disks`.
Belongs here: mounting, filling. Does not belong here: what must hold afterwards (`crashes`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from anon_pipeline.base.errors import AnonPipelineError, InputError, PublishError
from tests.adversarial.crashes import World, make_next, project, released
from tests.adversarial.faulty_disk import FaultResult, summed
from tests.contracts_once import prove_contracts_once
from tests.quick_disk import read_scripts_once, spare_syncs

__all__ = ["survive_small_disks"]


def survive_small_disks() -> FaultResult | None:
    """Make whole releases on real file systems that have too little room, in a namespace of our own.

    Returns:
        None where this machine does not let us mount any.
    """
    if shutil.which("unshare") is None:
        return None
    inside = ["unshare", "--map-root-user", "--mount"]
    allowed = subprocess.run(
        [*inside, "sh", "-c", "mount -t tmpfs none /tmp"], capture_output=True, check=False
    )
    if allowed.returncode:
        return None
    program = [sys.executable, "-m", "tests.adversarial.small_disks"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run([*inside, *program], capture_output=True, text=True, check=True, env=environment)
    points, survived, lost = json.loads(done.stdout)
    return FaultResult(points, survived, tuple(lost))


def _small_disks() -> FaultResult:
    """Leave room for less and less on the destination's disk, the vault's, and the one of all together.

    The release before is made once, and copied onto each disk: it is the same wherever it lies.
    """
    with project() as world:
        released(world, 1)
        kept = Path(shutil.copytree(world.folder, world.folder.with_name("kept")))
        rooms = range(0, 80_000, 8192)
        return summed(
            _small_disk(world, kept, place, room) for place in ("out", "vault", ".") for room in rooms
        )


def _small_disk(found: World, kept: Path, place: str, room: int) -> FaultResult:
    shutil.rmtree(found.folder)
    world, disk = World(found.folder, found.policy, dict(found.ever)), found.folder / place
    disk.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", disk], check=True)
    try:
        shutil.copytree(kept, world.folder, dirs_exist_ok=True)
        filler = disk / "filler"
        _fill_up(filler, room)
        wrong = None
        try:
            with suppress(InputError, PublishError):
                world.release()
            world.look()
            world.counted()
            filler.unlink()
            make_next(world)
            world.agreed()
        except (AssertionError, OSError, AnonPipelineError) as error:
            wrong = f"small disk, {place}, {room} bytes: {type(error).__name__}: {error}"
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
    return FaultResult(1, int(wrong is None), () if wrong is None else (wrong,))


def _fill_up(path: Path, room: int) -> None:
    """Fill a file system, then leave some room, in bytes."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    os.truncate(path, path.stat().st_size - room)


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        prove_contracts_once(patch)
        spare_syncs(patch)
        read_scripts_once(patch)
        result = _small_disks()
    print(json.dumps([result.points, result.survived, result.lost]))
