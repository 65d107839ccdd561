"""What a file of the vault may be called, and what it is called until it is written."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from anon_pipeline.base.errors import InputError

PART = ".part"
"""How a file's name ends, begun with a dot, until the file is whole."""

DRAW = ".draw"
"""How the name of a file ends that holds the key of a draw: ``<release>/draws/[<partition>/]<id>.draw``."""

MEASURED = "gate"
"""What the file is called that has all that the gate measured: ``<release>/gate[/<partition>].json``."""

WAITING = "waiting"
"""Where records of a stream wait for later partitions: ``<release>/waiting/<partition>.parquet``."""

OWN_STAGE = "own_"
"""How the name of a stage of a user's own begins; its table is private, as those of the package's stages."""

PROJECT = "project-id"
"""File that holds the id of the project, see `identity`."""

SEALED = "sealed-with-key"
"""File that says that the vault was written with a key."""

IGNORED = ".gitignore"
"""File that keeps git off the vault."""

JOURNAL = "rotation-journal"
"""File that lists what a rotation is encrypting, see `encrypting`."""

OWN = frozenset({PROJECT, SEALED, IGNORED, JOURNAL})
"""Files in the vault's root that are no artifacts; `Store.names` leaves them out.

No release can have such a name, which is one of a folder there: its names have no hyphen and no dot."""


def measured_name(release: str, partition: str | None) -> str:
    """Return the name of what the gate measured of a release."""
    return "/".join((release, MEASURED, *(() if partition is None else (partition,)))) + ".json"


def is_measured(name: str) -> bool:
    """Return whether a finished file is what the gate measured of a release."""
    path = PurePosixPath(name)
    return (
        path.suffix == ".json"
        and len(path.parts) in (2, 3)
        and name == measured_name(path.parts[0], path.stem if len(path.parts) == 3 else None)
    )


def is_artifact(name: str) -> bool:
    """Return whether a finished file is the vault's: a private table, a memory, a draw, what was measured."""
    path = PurePosixPath(name)
    drawn = len(path.parts) > 2 and path.parts[1] == "draws"
    return path.suffix == ".parquet" or drawn or is_measured(name)


def is_own_stage(stage: str) -> bool:
    """Return whether this is the name of a stage of a user's own."""
    return re.fullmatch(OWN_STAGE + "[A-Za-z0-9_]+", stage) is not None


def is_unfinished(name: str) -> bool:
    """Return whether a name is that of a temporary file that a crash left."""
    last = PurePosixPath(name).name
    return last.startswith(".") and last.endswith(PART)


def path_inside(name: str) -> PurePosixPath:
    """Return a name as a path, if it stays inside the vault.

    Raises:
        InputError: it does not.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise InputError("a name in the vault must be a path inside it")
    return path
