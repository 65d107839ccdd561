"""What waits after each partition of a stream: a private table in the vault, sealed if that has a key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from anon_pipeline.base.arrow_tables import arrow_table, table_from_arrow
from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.policy.locations import Locations, plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.vault.artifacts import Vault, vault_of
from anon_pipeline.vault.held_folder import hold_vault_folder, writable
from anon_pipeline.vault.names import WAITING
from anon_pipeline.vault.retention import table_name

AGE, PLACE = "_age", "_place"
"""Private columns of what waits: partitions waited for, this one too; the place among those that came."""

_ABOUT = b"anon_pipeline.waiting"
_VERSION = 1
_WHAT = "records that wait could not be kept there"


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision was about.

    number: of the decision in its stream, from 0. before: the partition whose records had waited; None: none.
    input: digest of the records that came, and of what had waited.
    came: records of the partition's own; ``waited``: of earlier ones, which had waited.
    """

    number: int
    before: str | None
    input: str
    came: int
    waited: int


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What waits after a partition.

    rows: (w, columns + 2) as the source has them, with `AGE` and `PLACE`.
    """

    decided: Decided
    rows: pd.DataFrame = field(repr=False)

    @property
    def ages(self) -> NDArray[np.int64]:
        """(w,) partitions that each has waited for."""
        return self.rows[AGE].to_numpy(np.int64)

    @property
    def places(self) -> NDArray[np.int64]:
        """(w,) where each was among the records that came and those that had waited."""
        return self.rows[PLACE].to_numpy(np.int64)

    @property
    def data(self) -> pd.DataFrame:
        """(w, columns) as the source has them."""
        return self.rows.drop(columns=[AGE, PLACE])

    @property
    def id(self) -> str:
        """SHA-256 of what was decided: what came, and which of it waits."""
        sha = hashlib.sha256(self.decided.input.encode())
        sha.update(np.ascontiguousarray(self.places, "<i8").tobytes())
        return sha.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class WindowStates:
    """The tables of one release.

    release: its name.
    opens: opens the vault, with its keys of now.
    here: local vault folder, in which the lock is where the vault is remote.
    project: folder of the project, whose vault it must be; None: the vault alone says whose it is.
    """

    release: str
    opens: Callable[[], Vault]
    here: Path
    project: Path | None = None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold them against other runs on this machine.

        Raises:
            InputError: the vault is another project's, or cannot be written.
        """
        inside, store = f"{self.release}/{WAITING}", self.opens().store
        with hold_vault_folder(store, inside, here=self.here, project=self.project, what=_WHAT):
            yield

    def partitions(self) -> list[str]:
        """Return the partitions with a table, sorted by name."""
        folder = PurePosixPath(self.release, WAITING)
        paths = (PurePosixPath(name) for name in self.opens().store.names())
        return sorted(
            path.stem
            for path in paths
            if path.parent == folder and path.suffix == ".parquet" and not path.name.startswith(".")
        )

    def read(self, partition: str) -> State:
        """Read a table.

        Raises:
            InputError: not there, or cannot be read; not sealed as it must be, or has been changed.
        """
        name = self._name(partition)
        try:
            table = pq.read_table(pa.BufferReader(pa.py_buffer(self.opens().read(name))))
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"the vault's {name} must be readable: {error_words(error)}") from None
        decided = _read_decision(table.schema.metadata or {})
        if decided is None or not {AGE, PLACE} <= {*table.column_names}:
            raise InputError(f"the vault's {name} must be as it was written: it has been changed")
        state = State(decided, unpack_table(table_from_arrow(table, with_metadata=True)))
        if not _is_whole(state):
            raise InputError(f"the vault's {name} must be as it was written: it has been changed")
        return state

    def write(self, partition: str, state: State) -> None:
        """Write a table, complete or not at all.

        Raises:
            InputError: the vault cannot be written, or a column has values of several types.
        """
        table = _as_arrow(state.rows)
        about = {_ABOUT: json.dumps({"version": _VERSION, **asdict(state.decided)}).encode()}
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), **about})
        with writable(_WHAT), self.opens().writing(self._name(partition)) as file:
            pq.write_table(table, file, compression="zstd")

    def remove(self, partition: str) -> None:
        """Remove a table for good.

        Raises:
            InputError: it cannot be removed.
        """
        with writable(_WHAT):
            self.opens().store.remove(self._name(partition))

    def _name(self, partition: str) -> str:
        return table_name(self.release, WAITING, partition=plain_partition(partition))


def _is_whole(state: State) -> bool:
    """Tell whether the private columns are what is written: places that ascend, and ages from 1."""
    integers = all(pd.api.types.is_integer_dtype(state.rows[name]) for name in (AGE, PLACE))
    if not integers or not len(state.rows):
        return integers
    places, most = state.places, state.decided.came + state.decided.waited
    return bool((np.diff(places) > 0).all() and places[0] >= 0 and places[-1] < most and state.ages.min() > 0)


def waiting_counts(states: WindowStates) -> pd.DataFrame:
    """Count what waits after each partition, (partitions, 5). It comes from the data: for the curator."""
    rows = []
    for partition in states.partitions():
        state = states.read(partition)
        oldest = int(state.ages.max(initial=0))
        rows.append((partition, state.decided.came, state.decided.waited, len(state.rows), oldest))
    return pd.DataFrame(rows, columns=["partition", "came", "had waited", "wait", "longest"])


def window_states(
    policy: Policy, locations: Locations, *, opens: Callable[[], Vault] | None = None
) -> WindowStates:
    """Return where records of a release wait: in the vault that ``opens`` opens; default: the locations'."""
    return WindowStates(
        policy.name, opens or partial(vault_of, locations), locations.vault, locations.project
    )


def _as_arrow(rows: pd.DataFrame) -> pa.Table:
    """Return rows as Arrow has them; what Arrow says of a cell that does not fit is not passed on."""
    try:
        return arrow_table(rows)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        kind = type(error).__name__
    raise InputError(
        f"stream: each column of the source must have values of one type, to be kept ({kind}). Use CSV or "
        "Parquet."
    )


def _read_decision(metadata: Mapping[bytes, bytes]) -> Decided | None:
    """Return what stands in a file's metadata; None if it is not what was written."""
    try:
        said: Any = json.loads(metadata.get(_ABOUT, b"null"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or said.pop("version", None) != _VERSION:
        return None
    if {*said} != {*Decided.__dataclass_fields__}:
        return None
    texts = isinstance(said["input"], str) and isinstance(said["before"], (str, type(None)))
    counts = all(type(said[name]) is int and said[name] >= 0 for name in ("number", "came", "waited"))
    return Decided(**said) if texts and counts else None
