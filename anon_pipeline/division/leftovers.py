"""What a `divide` that was killed has left: files of partitions without a policy, copies of personal data.

A folder of partitions is held while it is written (`part_files.hold_part_folder`). If its lock names a
process that has ended on this machine, nobody will finish these files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from anon_pipeline.publish.lock import LOCK, is_gone, read_owner

_FILE: Final = re.compile(r"(d[0-9a-f]{8})\.\d+\.parquet")


def remove_abandoned(folders: Iterable[Path], *, policies: Path) -> list[Path]:
    """Remove the files of divisions whose process was killed before it wrote their policy.

    What cannot be removed is left. So is all that another machine's process holds, which may be alive.

    Args:
        folders: of partitions' files.
        policies: folder of the policies of divisions.
    Returns:
        The folders from which files were removed.
    """
    return [folder for folder in folders if _is_abandoned(folder) and _clear(folder, policies)]


def _is_abandoned(folder: Path) -> bool:
    if folder.is_symlink() or not (folder / LOCK).is_file():
        return False
    owner = read_owner(folder)[0]
    return owner is not None and is_gone(owner) is True


def _clear(folder: Path, policies: Path) -> bool:
    """Remove the files of divisions without a policy, and the lock; tell whether there were files."""
    found = False
    with suppress(OSError):  # of another user, or a disk that cannot be written: `divide` itself will say so
        for path in sorted(folder.iterdir()):
            name = _FILE.fullmatch(path.name)
            if name is not None and not any(policies.glob(f"*-{name[1]}.yaml")):
                path.unlink()
                found = True
        (folder / LOCK).unlink()
    return found
