"""How long private tables stay: none, the last ones, or some days."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from anon_pipeline.vault.names import (
    DRAW,
    MEASURED,
    WAITING,
    is_measured,
    is_own_stage,
    is_unfinished,
    measured_name,
)
from anon_pipeline.vault.store import Store

Retain = str | int


def table_name(*parts: str, partition: str | None = None) -> str:
    """Return the name of a private table in the vault: ``<release>/<stage>[/<partition>].parquet``.

    >>> table_name("patients", "raw", partition="2026-01-05")
    'patients/raw/2026-01-05.parquet'
    """
    return "/".join(parts if partition is None else (*parts, partition)) + ".parquet"


@dataclass(frozen=True, slots=True)
class Tables:
    """The private tables of a release.

    stages: the package's stages that leave a table; those of users' own always belong to them.
    partition: the one that was published; None for a release of one piece.
    """

    release: str
    stages: Sequence[str]
    partition: str | None = None

    def of_release(self, store: Store) -> list[str]:
        """Return the names of all tables of the release, unfinished ones and own stages' included."""
        tables = _tables(store, self.stages)
        return [name for name in tables if PurePosixPath(name).parts[0] == self.release]

    def of_partition(self, store: Store) -> list[str]:
        """Return the names that the release just published was made of."""

        def name_of(name: str) -> str:
            """Return the name that a table of this kind has in the release just published."""
            if _stage(name) == MEASURED:
                return measured_name(self.release, self.partition)
            return table_name(self.release, str(_stage(name)), partition=self.partition)

        return [name for name in self.of_release(store) if _finished_name(name) == name_of(name)]


def retain(store: Store, kept: Retain, tables: Tables, *, now: datetime.datetime) -> int:
    """Delete what a policy does not retain.

    Args:
        kept: ``none`` deletes every table of the release and partition, ``last`` nothing (each is replaced by
            the next), a number those of the release, of all partitions, that are older than so many days.
        tables: of the release that was published.
        now: with a time zone.
    Returns:
        How many files were deleted, those included that a crash left unfinished.
    """
    if kept == "last":
        return 0
    if isinstance(kept, int):
        return _remove(store, _older(store, tables.of_release(store), now - datetime.timedelta(days=kept)))
    return _remove(store, tables.of_partition(store))


def purge(store: Store, stages: Sequence[str], *, before: datetime.datetime) -> int:
    """Delete the private tables of all releases, and the keys of draws, that are older than a time.

    A draw without its key is given up: its ε stays spent, and the next run makes another one. Records of a
    stream that have waited for so long are given up, too.

    Args:
        stages: those that leave a table; whatever else is in the vault stays, but draws.
        before: with a time zone.
    Returns:
        How many files were deleted, those included that a crash left unfinished.
    """
    ours = [*_tables(store, [*stages, WAITING]), *(name for name in store.names() if _is_draw(name))]
    return _remove(store, _older(store, ours, before))


def _tables(store: Store, stages: Sequence[str]) -> list[str]:
    """Return the names of the tables of some stages, of those of users' own, and of what was measured."""
    stage_of = {name: _stage(name) for name in store.names()}
    return [
        name
        for name, at in stage_of.items()
        if at is not None and (at in stages or at == MEASURED or is_own_stage(at))
    ]


def _finished_name(name: str) -> str:
    """Return the name that an unfinished file should have got; of others their own."""
    path = PurePosixPath(name)
    if not is_unfinished(name):
        return name
    return str(path.with_name(path.name[1:].rsplit(".", 2)[0]))


def _stage(name: str) -> str | None:
    """Return the stage of a private table, finished or not; None for another file."""
    path = PurePosixPath(_finished_name(name))
    if is_measured(str(path)):
        return MEASURED
    if path.suffix != ".parquet" or len(path.parts) not in (2, 3):
        return None
    return path.with_suffix("").parts[1] if len(path.parts) == 2 else path.parts[1]


def _is_draw(name: str) -> bool:
    """Tell whether a file is the key of a draw, finished or not."""
    path = PurePosixPath(_finished_name(name))
    return path.suffix == DRAW and path.parts[1:2] == ("draws",)


def _older(store: Store, names: Sequence[str], before: datetime.datetime) -> list[str]:
    found = []
    for name in names:
        try:
            if store.modified_at(name) < before:
                found.append(name)
        except FileNotFoundError:  # replaced or deleted by another run meanwhile
            continue
    return found


def _remove(store: Store, names: Sequence[str]) -> int:
    for name in names:
        store.remove(name)
    return len(names)
