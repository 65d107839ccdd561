"""What lies beside a manifest: nothing but the files that it names, and what publishing leaves there.

Belongs here: telling a release's own files from strangers. Does not belong here: what they hold (`held`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_pipeline.disk import PART
from anon_pipeline.publish.lock import LOCK
from anon_pipeline.publish.manifest import MANIFEST

__all__ = ["Beside", "lying_beside"]


@dataclass(frozen=True, slots=True)
class Beside:
    """What lies in the folder of a release beside its own files.

    strangers: files that no release of this name has written there.
    former: files of releases of this name that were there before; the writer keeps those of the last one.
    """

    strangers: int
    former: int


def lying_beside(folder: Path, document: Mapping[str, Any], *, most: int) -> Beside:
    """Count what lies beside a manifest; a folder below with a manifest of its own is another release's.

    A file of a former release has its name, and in it the digits of its own SHA-256.

    Args:
        folder: of the manifest.
        document: the manifest.
        most: bytes of a file that is read to compare its digest; a larger one is a stranger.
    Raises:
        OSError: the folder cannot be read.
    """
    report = document.get("report")
    named = {MANIFEST, LOCK, *(item["name"] for item in document["files"])}
    named |= (
        {report["name"]} if isinstance(report, Mapping) and isinstance(report.get("name"), str) else set()
    )
    others = [path for path in folder.iterdir() if path.name not in named and not path.name.startswith(PART)]
    others = [path for path in others if not _is_release(path)]
    former = [path for path in others if _is_former(path, str(document["release"]), most)]
    return Beside(len(others) - len(former), len(former))


def _is_release(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and (path / MANIFEST).is_file()


def _is_former(path: Path, release: str, most: int) -> bool:
    """Tell whether a file was written by a release of this name."""
    pattern = rf"{re.escape(release)}-(?:report-([0-9a-f]{{16}})\.html|([0-9a-f]{{16}})\.(?:parquet|csv))"
    named = re.fullmatch(pattern, path.name)
    if named is None or path.is_symlink() or not path.is_file() or path.stat().st_size > most:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest().startswith(named[1] or named[2])
