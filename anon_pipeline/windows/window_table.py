"""The records of a partition of a stream: those that arrive or have waited, without those that wait on.

Each record goes with one partition. What waits after a partition is decided once and for all, and stored
before its release begins. Whoever makes it again finds the same decision, whatever the policy says by then.

Decision: docs/adr/0093-streams.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import AllWaitError, InputError
from anon_pipeline.base.packed_tables import Table, pack_large, unpack_table
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.private import Means
from anon_pipeline.windows.partition_order import partition_before, same_stream
from anon_pipeline.windows.waiting_records import records_that_wait
from anon_pipeline.windows.window_states import AGE, PLACE, Decided, State, WindowStates

Published = Callable[[str], bool]
"""Tells whether a partition has a release."""


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
    policy: Policy,
    partition: str | None,
    read: Callable[[], Table],
    states: WindowStates,
    means: Means,
    published: Published,
) -> Table:
    """Return the records that the release of a partition is made of, as the source has them.

    Without ``stream`` these are the records of the source.

    Args:
        read: reads the source: the records that arrive in the partition.
        states: where records wait.
        means: hierarchies, key, who observes.
        published: of the partitions of this release.
    Raises:
        InputError: partitions are not made in order; the source has changed since it was decided who waits;
            or the data does not fit the policy.
        AllWaitError: all records wait, or nobody has arrived.
    """
    if policy.stream is None or partition is None:
        if partition is not None:
            _refuse_former_streams(policy, states)
        return read()
    with states.alone():
        known = same_stream(policy, partition, states.partitions())
        if partition not in known:
            _refuse_disorder(policy, partition, known, published)
        came = _records_of(policy, partition, read, states, known)
        if partition in known:
            state = _earlier_decision(partition, came, states)
        else:
            waits = records_that_wait(policy, policy.stream, came.rows, came.ages, means)
            state = _state(came, waits)
            states.write(partition, state)
            _forget([*known, partition], states, policy.stream.delay, published)
    goes = np.ones(len(came.rows), np.bool_)
    goes[state.places] = False
    if not goes.any():
        raise AllWaitError(policy.anonymize.k)
    return pack_large(came.rows[goes].reset_index(drop=True))


def _refuse_former_streams(policy: Policy, states: WindowStates) -> None:
    """Refuse to read a partition as a whole where some of its records may have gone with another one.

    Raises:
        InputError: records of a release of this name wait.
    """
    if states.partitions():
        raise InputError(
            f"stream: must stay in the policy of {policy.name}: records of its partitions have waited, and "
            "may be in other releases. To release without waiting, give the policy another name, and let its "
            "partitions begin after those of the stream."
        )


def _refuse_disorder(policy: Policy, partition: str, known: list[str], published: Published) -> None:
    """Refuse a partition that is decided about for the first time, but whose turn it is not.

    Raises:
        InputError: the one before has not been made, later ones have been, or it has a release already.
    """
    if known and partition_before(policy, partition) != known[-1]:
        raise InputError(
            f"stream: the partitions must be made one after the other. {known[-1]} was made last, and "
            f"{partition} does not follow it. Make those between them first; where nobody arrived, the "
            "source must have its columns and no record. Records of an earlier partition belong into a later "
            "one."
        )
    if published(partition):
        raise InputError(
            f"stream: {partition} has a release of all its records, or what waited after it is no longer "
            "kept. Let the stream begin with a later partition."
        )


def _records_of(
    policy: Policy, partition: str, read: Callable[[], Table], states: WindowStates, known: list[str]
) -> _Came:
    """Return the records that arrive in a partition, after those that have waited for it."""
    before, arrived = partition_before(policy, partition), unpack_table(read())
    if before is None or before not in known:
        decided = Decided(_input_digest(arrived, None), len(arrived), 0)
        return _Came(arrived, np.zeros(len(arrived), np.int64), decided)
    waiting = states.read(before)
    decided = Decided(_input_digest(arrived, waiting.id), len(arrived), len(waiting.rows))
    ages = np.append(waiting.ages, np.zeros(len(arrived), np.int64))
    return _Came(_join(waiting.data, arrived), ages, decided)


def _input_digest(arrived: pd.DataFrame, waiting: str | None) -> str:
    return hashlib.sha256(f"{digest_frame(arrived)} {waiting}".encode()).hexdigest()


def _join(waiting: pd.DataFrame, arrived: pd.DataFrame) -> pd.DataFrame:
    """Return both, the columns in the order of what has arrived.

    Raises:
        InputError: they have other columns, or columns of other types.
    """
    if {*waiting.columns} != {*arrived.columns}:
        raise InputError(
            "stream: the source must have the columns that it had in the partition before. Give it these, or "
            "begin a new stream with a policy of another name."
        )
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
            f"stream: columns must have the type that they had in the partition before: {', '.join(other)}. "
            "Write the source with these types, or begin a new stream with a policy of another name."
        )
    return pd.concat([waiting, arrived], ignore_index=True)


def _mixes(one: pd.Series, other: pd.Series) -> bool:
    """Tell whether columns of two types can be one: numbers, or nothing but missing values in one of them."""
    numbers = all(
        pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        for column in (one, other)
    )
    return numbers or bool(one.isna().all()) or bool(other.isna().all())


def _earlier_decision(partition: str, came: _Came, states: WindowStates) -> State:
    """Return what was decided before.

    Raises:
        InputError: the records that came are others now.
    """
    state = states.read(partition)
    if state.decided.input != came.decided.input:
        raise InputError(
            f"stream: which records of {partition} wait was decided already, so its records must be as they "
            "were: the source has changed, or what had waited before is no longer kept. Restore the source, "
            "and let new records arrive in a later partition."
        )
    return state


def _state(came: _Came, waits: NDArray[np.bool_]) -> State:
    """Return what waits after a partition."""
    rows = came.rows[waits].reset_index(drop=True)
    rows[AGE] = came.ages[waits] + 1
    rows[PLACE] = np.flatnonzero(waits)
    return State(came.decided, rows)


def _forget(known: list[str], states: WindowStates, delay: int, published: Published) -> None:
    """Remove what waited so long ago that nothing of it waits any more.

    What waits after a partition is needed to make this one again, and the next. So it stays until both have a
    release, or no record that could be released.

    Args:
        known: partitions in order.
    """
    for one, following in pairwise(known):
        if one in known[-(delay + 2) :]:
            return
        if all(published(key) or _all_wait(states.read(key)) for key in (one, following)):
            states.remove(one)


def _all_wait(state: State) -> bool:
    return len(state.rows) == state.decided.came + state.decided.waited
