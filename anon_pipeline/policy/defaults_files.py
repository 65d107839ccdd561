"""Where the `policy.defaults.yaml` files of an organization are that hold for a policy.

Belongs here: finding the files. Does not belong here: what they say, see `limits.floor`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.model import Policy

NAME = "policy.defaults.yaml"
"""Name of the file with the weakest values that an organization accepts."""

ELSEWHERE = "ANON_PIPELINE_POLICY_DEFAULTS"
"""Environment variable that names one more such file, which applies wherever the policies are."""

_READER = "anon_pipeline.limits.floor:refuse_weaker"  # the table of limits is above this room
_DECLARED_READER = "anon_pipeline.limits.floor:refuse_weaker_declared"
_ROOT = ".git"


def refuse_below_defaults(policy: Policy, *places: Path) -> None:
    """Refuse a policy that is weaker than a `policy.defaults.yaml` accepts.

    Args:
        places: files or folders that it is loaded for; each file next to or above one of them applies.
    Raises:
        PolicyError: every key that is weaker, or a file that cannot be read.
    """
    files = defaults_for(*places)
    if files:  # else the table of limits need not be loaded
        import_entry(_READER)(policy, files)


def refuse_declared_below_defaults(policy: DeclaredRelease, *places: Path) -> None:
    """Refuse the policy of a release with declared columns that a `policy.defaults.yaml` does not accept.

    Args:
        places: see `refuse_below_defaults`.
    Raises:
        PolicyError: naming the files.
    """
    files = defaults_for(*places)
    if files:
        import_entry(_DECLARED_READER)(policy, files)


def defaults_for(*places: Path) -> list[Path]:
    """Return the files that hold for policies at some places, the nearest first, then the environment's.

    Every file counts, up to the repository's root, or the file system's where there is no repository: one
    that is nearer takes nothing away from one above. Symbolic links are followed and also not: a link does
    not lead out of what holds at either of its ends.

    Args:
        places: policy files, or folders.
    """
    found: dict[str, Path] = {}
    for place in places:
        for folder in _starts(place):
            for file in _above(folder):
                found.setdefault(os.path.realpath(file), file)
    elsewhere = os.environ.get(ELSEWHERE)
    if elsewhere:
        found.setdefault(os.path.realpath(elsewhere), Path(elsewhere))
    return list(found.values())


def _starts(place: Path) -> Iterator[Path]:
    """Yield the folders to begin at: as the place is written, and where its folder and it really are."""
    written = Path(os.path.normpath(place.absolute()))
    if place.is_dir():
        yield from (written, Path(os.path.realpath(place)))
    else:
        yield from (written.parent, Path(os.path.realpath(place.absolute().parent)))
        yield Path(os.path.realpath(place)).parent


def _above(folder: Path) -> Iterator[Path]:
    """Yield the files in the folder and above, also those that cannot be read."""
    for candidate in (folder, *folder.parents):
        if os.path.lexists(candidate / NAME):
            yield candidate / NAME
        if os.path.lexists(candidate / _ROOT):
            return
