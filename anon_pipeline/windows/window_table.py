"""The records of a partition of a stream: those that arrive or have waited, without those that wait on.

Each record goes with one partition. What waits after a partition is decided once, stored before its release
begins, and found again by whoever makes the release again; as soon as a later partition has taken it up, it
stays as it is.

Decision: docs/adr/0093-streams.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InfeasibleError, InputError
from anon_pipeline.base.packed_tables import Table, pack_large, unpack_table
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.private import Means
from anon_pipeline.windows.partition_order import in_order, partition_before
from anon_pipeline.windows.waiting_records import records_that_wait
from anon_pipeline.windows.window_states import AGE, PLACE, Decided, State, WindowStates


class _Came(NamedTuple):
    """The records that a partition has to decide about.

    rows: (n, columns), those that have waited first.
    ages: (n,) partitions that each has waited for.
    decided: what the decision is about.
    """

    rows: pd.DataFrame
    ages: NDArray[np.int64]
    decided: Decided


def window_table(
    policy: Policy, partition: str | None, read: Callable[[], Table], states: WindowStates, means: Means
) -> Table:
    """Return the records that the release of a partition is made of, as the source has them.

    Without ``stream`` these are the records of the source.

    Args:
        read: reads the source: the records that arrive in the partition.
        states: where records wait.
        means: hierarchies, key, who observes.
    Raises:
        InputError: the partitions before it have not been made; later ones have been, and the source has
            changed; or the data does not fit the policy.
        InfeasibleError: all records wait.
    """
    if policy.stream is None or partition is None:
        return read()
    with states.alone():
        known = in_order(policy, states.partitions())
        came = _records_of(policy, partition, read, states, known)
        state = _earlier_decision(partition, came, states, known)
        if state is None:
            waits = records_that_wait(policy, policy.stream, came.rows, came.ages, means)
            state = _state(came, waits)
            states.write(partition, state)
            _forget(policy, partition, states, policy.stream.delay)
    goes = np.ones(len(came.rows), np.bool_)
    goes[state.places] = False
    if not goes.any():
        raise InfeasibleError(
            "stream: no class is large enough yet, so all records of the partition wait for later ones.",
            k=policy.anonymize.k,
            reached_k=0,
            suppressed=1.0,
        )
    return pack_large(came.rows[goes].reset_index(drop=True))


def _records_of(
    policy: Policy, partition: str, read: Callable[[], Table], states: WindowStates, known: list[str]
) -> _Came:
    """Return the records that arrive in a partition, after those that have waited for it."""
    before = partition_before(policy, partition)
    if before is None or before not in known:
        if known and known[0] != partition:
            raise InputError(_OUT_OF_ORDER.format(partition, known[0], known[-1]))
        arrived = unpack_table(read())
        decided = Decided(_input_digest(arrived, None), policy.making, len(arrived), 0)
        return _Came(arrived, np.zeros(len(arrived), np.int64), decided)
    arrived = unpack_table(read())
    waiting = states.read(before)
    decided = Decided(_input_digest(arrived, waiting.id), policy.making, len(arrived), len(waiting.rows))
    ages = np.append(waiting.ages, np.zeros(len(arrived), np.int64))
    return _Came(_join(waiting.data, arrived), ages, decided)


_OUT_OF_ORDER = (
    "stream: the partitions must be made one after the other, and the one before {} has not been made. Those "
    "of which is known what waits are {} to {}."
)


def _input_digest(arrived: pd.DataFrame, waiting: str | None) -> str:
    return hashlib.sha256(f"{digest_frame(arrived)} {waiting}".encode()).hexdigest()


def _join(waiting: pd.DataFrame, arrived: pd.DataFrame) -> pd.DataFrame:
    """Return both, the columns in the order of what has arrived.

    Raises:
        InputError: they have other columns, or columns of other types.
    """
    if {*waiting.columns} != {*arrived.columns}:
        raise InputError("stream: the source must have the columns that it had in the partition before")
    waiting = waiting[list(arrived.columns)]
    if not len(waiting) or not len(arrived):
        return arrived if not len(waiting) else waiting
    other = [
        name
        for name in arrived.columns
        if waiting[name].dtype != arrived[name].dtype and not _mixes(waiting[name], arrived[name])
    ]
    if other:
        raise InputError(
            f"stream: columns must have the type that they had in the partition before: {', '.join(other)}"
        )
    return pd.concat([waiting, arrived], ignore_index=True)


def _mixes(one: pd.Series, other: pd.Series) -> bool:
    """Tell whether columns of two types can be one: numbers, or nothing but missing values in one of them."""
    numbers = all(
        pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        for column in (one, other)
    )
    return numbers or bool(one.isna().all()) or bool(other.isna().all())


def _earlier_decision(partition: str, came: _Came, states: WindowStates, known: list[str]) -> State | None:
    """Return what was decided before, if it holds still; None: it is to be decided.

    Raises:
        InputError: a later partition has taken up what waited, and the records that came are others now.
    """
    if partition not in known:
        return None
    state, followed = states.read(partition), known[-1] != partition
    if state.decided.input != came.decided.input:
        if followed:
            raise InputError(
                f"stream: partitions after {partition} have been made, so its records must be as they were: "
                "the source has changed, or what had waited before it is no longer kept. Let new records "
                "arrive in a later partition."
            )
        return None
    return state if followed or state.decided.policy == came.decided.policy else None


def _state(came: _Came, waits: NDArray[np.bool_]) -> State:
    """Return what waits after a partition."""
    rows = came.rows[waits].reset_index(drop=True)
    rows[AGE] = came.ages[waits] + 1
    rows[PLACE] = np.flatnonzero(waits)
    return State(came.decided, rows)


def _forget(policy: Policy, partition: str, states: WindowStates, delay: int) -> None:
    """Remove what waited so long ago that nothing of it waits any more.

    A partition can be made again as long as records of it may wait. What waited before it is needed for this.
    """
    known = in_order(policy, states.partitions())
    done = known[: known.index(partition) + 1]
    for one in done[: -(delay + 2)]:
        states.remove(one)
