"""What a private table was made from: project, release, partition, and the digests of the tables before it.

A table that fits policy and limits may still be another project's, another partition's or an older one; the
gate's `origin` and every stage ask here. Lineage stays with the private tables: it is no part of the facts,
so nothing of it reaches a manifest or an event.

Decision: docs/adr/0034-lineage-in-the-vault.md.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from anon_pipeline.base.coded_columns import CodedTexts
from anon_pipeline.base.digest import digest_column, digest_packed
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.packed_tables import PackedTable, Table, numbered_cells
from anon_pipeline.base.threads import side_by_side
from anon_pipeline.base.values import to_arrow
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.vault.names import is_own_stage

_AGAIN = "Materialize raw again, and all that follows."
_DIGEST, _ID = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{32}")
_JUDGED = ("k_anonymized", "suppressed")
STAGES = ("raw", "deidentified", "k_anonymized", "perturbed", "shuffled", "suppressed")
"""The package's private stages, in order."""


@dataclass(frozen=True, slots=True)
class Where:
    """Which table of which project.

    project: id, see `vault.identity`; None for tables that are kept in memory alone.
    release: name.
    partition: None for a release of one piece.
    """

    project: str | None
    release: str
    partition: str | None = None


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a table belongs, and what it was made from.

    tables: `table_digest` of each stage so far, in order; the last one is the table's own. In memory only
        those that the gate is given are counted, by `held_digest`; the others have zeros.
    """

    where: Where
    tables: dict[str, str]

    def after(self, stage: str, frame: Table) -> Lineage:
        """Return the lineage of the table that a stage makes of this one."""
        counted = self.where.project is not None or stage in _JUDGED
        return Lineage(self.where, {**self.tables, stage: self.digest(frame) if counted else "0" * 64})

    def digest(self, frame: Table) -> str:
        """Return the digest by which a table is known here: of one that is stored, or only kept in memory."""
        return held_digest(frame) if self.where.project is None else table_digest(frame)

    @property
    def stage(self) -> str:
        """The stage that made the table."""
        return next(reversed(self.tables))


def table_digest(frame: Table) -> str:
    """Return a private table's digest, the same before it is stored and after.

    Random record ids are part of it, so that nobody can confirm a guess of the table by it.

    Args:
        frame: (n, columns). A column that no file can hold counts by its name.
    """
    sha = hashlib.sha256()
    if isinstance(frame, PackedTable):  # unpacked one by one
        columns = [partial(_digest_of, frame, name) for name in frame.columns]
    else:
        columns = [partial(_digest_of_series, *item) for item in frame.items()]
    for said in side_by_side(columns, records=len(frame)):
        sha.update(said.encode(errors="surrogatepass") + b"\0")
    return sha.hexdigest()


def held_digest(frame: Table) -> str:
    """Return a digest of a table that stays in memory; tables with equal content may have different ones.

    Of texts that repeat each one is read once, where `table_digest` reads the text of every record.
    """
    if not isinstance(frame, PackedTable):
        return table_digest(frame)
    sha = hashlib.sha256()
    for said in side_by_side(
        [partial(_digest_held, frame, name) for name in frame.columns], records=len(frame)
    ):
        sha.update(said.encode(errors="surrogatepass") + b"\0")
    return sha.hexdigest()


def _digest_held(table: PackedTable, name: str) -> str:
    found = numbered_cells(table, name) if isinstance(table.packed_column(name), CodedTexts) else None
    if found is None:
        return _digest_of(table, name)
    numbers, cells = found
    sha = hashlib.sha256(f"{numbers.dtype}\0".encode())
    sha.update(np.ascontiguousarray(numbers).data)
    return f"{_digest_of_series(name, cells)} {sha.hexdigest()}"


def _digest_of(table: PackedTable, name: str) -> str:
    found = _digest_or_name(name, partial(digest_packed, name, table.packed_column(name), len(table)))
    return_freed_memory(len(table))
    return found


def _digest_of_series(name: object, column: pd.Series) -> str:
    return _digest_or_name(name, lambda: digest_column(str(name), to_arrow(column)))


def _digest_or_name(name: object, digest: Callable[[], str]) -> str:
    """Return the digest of a column; of one that no file can hold what says so, with its name."""
    try:
        return digest()
    except InputError:
        return f"not digestible: {name}"


def broken_table(stage: str, frame: Table, lineage: Lineage | None, where: Where) -> list[str]:
    """List what speaks against a table being the one that a stage has made here.

    Args:
        frame: (n, columns) as it was loaded.
        lineage: that was stored with it; None where there is none.
        where: it should belong; where this project is not known, the table's own counts.
    """
    if lineage is None or not lineage.tables:
        return [f"{stage}: its lineage is not known: of an earlier version, or made by no stage. {_AGAIN}"]
    of, problems = lineage.where, []
    if where.project is not None and of.project != where.project:
        problems.append(f"{stage}: belongs to another project. {_AGAIN}")
    if of.release != where.release:
        problems.append(f"{stage}: belongs to another release. {_AGAIN}")
    unsaid = of.project is None and of.partition is None  # in memory nobody has to say it
    if of.partition != where.partition and not unsaid:
        problems.append(f"{stage}: belongs to another partition. {_AGAIN}")
    if lineage.stage != stage:
        problems.append(f"{stage}: must be made by that stage, it was made by {lineage.stage}. {_AGAIN}")
    elif lineage.tables[stage] != lineage.digest(frame):
        problems.append(f"{stage}: differs from what the stage has made. Materialize {stage} again.")
    return problems


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """What the gate asks of the tables that it is given.

    frame: (r, columns) the table of `suppressed`, with its private columns.
    lineage: stored with it.
    where: it should belong.
    """

    frame: Table = field(repr=False)
    lineage: Lineage | None
    where: Where

    def problems(self, originals: Table) -> list[str]:
        """List what speaks against the table being made here, and from these originals.

        Args:
            originals: (n, columns) the table of `k_anonymized`.
        """
        problems = broken_table("suppressed", self.frame, self.lineage, self.where)
        if self.lineage is not None and self.lineage.tables.get("k_anonymized") != self.lineage.digest(
            originals
        ):
            problems.append(
                "suppressed: must be made from the table of k_anonymized that is there now, it was made from "
                "another one. Materialize perturbed again, and all that follows."
            )
        return problems


def to_json(lineage: Lineage | None) -> str:
    """Write lineage as the vault stores it."""
    if lineage is None:
        return "null"
    of = lineage.where
    return json.dumps(
        {"project": of.project, "release": of.release, "partition": of.partition, "tables": lineage.tables}
    )


def from_json(data: bytes) -> Lineage | None:
    """Read lineage back; what is not as `to_json` writes it is none: it is then refused as unknown."""
    try:
        found = json.loads(data)
        if not isinstance(found, dict) or not all(_sound(found)):
            return None
    except (ValueError, RecursionError, LookupError, InputError):
        return None
    return Lineage(Where(found["project"], found["release"], found["partition"]), found["tables"])


def _sound(found: Mapping[str, Any]) -> Iterator[bool]:
    """Yield whether each part is of its kind.

    The package's stages are the first ones, in their order; those of users' own come before the recoding.
    """
    project, partition, tables = found["project"], found["partition"], found["tables"]
    yield set(found) == {"project", "release", "partition", "tables"}
    yield project is None or (isinstance(project, str) and _ID.fullmatch(project) is not None)
    yield isinstance(found["release"], str)
    yield partition is None or (isinstance(partition, str) and plain_partition(partition) == partition)
    yield isinstance(tables, dict) and _in_order(list(tables))
    yield all(isinstance(digest, str) and _DIGEST.fullmatch(digest) for digest in tables.values())


def _in_order(names: list[str]) -> bool:
    """Tell whether these stages can have followed each other."""
    ours = [name for name in names if not is_own_stage(name)]
    before = names[: names.index(_JUDGED[0])] if _JUDGED[0] in names else names
    own = len(names) - len(ours)
    return tuple(ours) == STAGES[: len(ours)] and own == sum(map(is_own_stage, before[1:]))
