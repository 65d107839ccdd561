"""Whether a release's folder can be one: not private, not at a broken link, its name not too long."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from anon_pipeline.base.errors import PublishError
from anon_pipeline.policy.locations import Locations, Placed

_LONGEST_NAME, _LONGEST_PATH = 255, 4096
"""Bytes, if a file system does not state its own limit."""
_REPORT = len("-report-0123456789abcdef.html")


def nearest_folder(folder: Path, release: str) -> Path:
    """Return a release's folder, or the nearest one above it that is there.

    Args:
        folder: of the release; need not be there yet.
        release: its name, with which the names of its files begin.
    Raises:
        PublishError: a link on the way leads to nothing; a name, or the whole path, is too long.
        OSError: the path cannot be looked at.
    """
    missing = list[str]()
    for place in (folder, *folder.parents):
        try:
            place.stat()
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
                raise
            if error.errno == errno.ENOENT and place.is_symlink():
                raise PublishError(
                    f"publish.to: {place} must be a folder or not be there, got a link to nothing. Make what "
                    f"it leads to, or remove it."
                ) from None
            missing.append(place.name)
            continue
        _refuse_long(folder, missing, above=place, file=len(release.encode()) + _REPORT)
        return place
    raise FileNotFoundError


def _refuse_long(folder: Path, names: list[str], *, above: Path, file: int) -> None:
    """Refuse names that the file system above them cannot hold; ``file``: bytes of the longest file's."""
    longest = max([file, *(len(os.fsencode(name)) for name in names)])
    most, most_path = _limit(above, "PC_NAME_MAX", _LONGEST_NAME), _limit(above, "PC_PATH_MAX", _LONGEST_PATH)
    if longest > most:
        raise PublishError(
            f"publish.to: each name in the path, those of the release's files too, must have at most {most} "
            f"bytes, got {longest}. Choose a shorter one."
        )
    whole = len(os.fsencode(folder.absolute())) + 1 + file
    if whole >= most_path:
        raise PublishError(
            f"publish.to: the path with a file's name must have fewer than {most_path} bytes, got up to "
            f"{whole}. Choose a shorter one."
        )


def _limit(place: Path, name: str, otherwise: int) -> int:
    try:
        found = os.pathconf(place, name)
    except (OSError, ValueError):
        return otherwise
    return found if found > 0 else otherwise


def refuse_private_place(policy: Placed, locations: Locations) -> None:
    """Refuse a destination that is, holds or lies within what must not be published."""
    wrong = list(_private(locations.release(policy), locations))
    if wrong:
        raise PublishError(
            f"publish.to: must be a folder of the release alone, got one that {' and '.join(wrong)}. Name a "
            f"folder such as releases/{policy.name}."
        )


def _private(folder: Path, locations: Locations) -> Iterator[str]:
    if locations.remote_vault is None:
        if _holds(locations.vault, folder):
            yield "is the vault or lies within it"
        elif _holds(folder, locations.vault):
            yield "holds the vault"
    places = {
        "the project": locations.project,
        "the folder of sources": locations.sources,
        "the folder of releases": locations.releases,
    }
    named = [name for name, place in places.items() if place is not None and _holds(folder, place)]
    if named:
        yield f"is or holds {' and '.join(named)}"


def _holds(outer: Path, inner: Path) -> bool:
    """Tell whether a folder is another one or above it, whatever links and spellings lead there."""
    inner = inner.resolve()
    if inner.is_relative_to(outer.resolve()):
        return True
    return any(_same(outer, place) for place in (inner, *inner.parents))


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there, or cannot be looked at: then it is not the other
        return False
