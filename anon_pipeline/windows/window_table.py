"""The records of a partition of a stream: those that arrive or have waited, without those that wait on.

Each record goes with one partition. What waits after a partition is decided once and for all, and stored
before its release begins. Whoever makes it again finds the same decision, whatever the policy says by then.

Decision: docs/adr/0093-streams.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import AllWaitError, InputError, TooFewWaitedError
from anon_pipeline.base.packed_tables import Table, pack_large, unpack_table
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.private import Means
from anon_pipeline.windows.joined_records import join_records
from anon_pipeline.windows.partition_order import in_order, partition_before, same_stream
from anon_pipeline.windows.waiting_records import records_that_wait
from anon_pipeline.windows.window_states import AGE, PLACE, Decided, State, WindowStates


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a decision is asked of, before it is made.

    released: returns the partitions of the release that are or were published.
    refuses: raises if the partition could not be released, since its budget is spent.
    streamed: tells whether records of a published partition could wait.
    """

    released: Callable[[], Collection[str]]
    refuses: Callable[[], None]
    streamed: Callable[[], bool]


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
    deployment: Deployment,
) -> Table:
    """Return the records that the release of a partition is made of, as the source has them.

    Without ``stream`` these are the records of the source.

    Args:
        read: reads the source: the records that arrive in the partition.
        states: where records wait.
        means: hierarchies, key, who observes.
    Raises:
        InputError: partitions are not made in order; the source has changed since it was decided who waits;
            or the data does not fit the policy.
        GateRefused: the budget of the partition is spent.
        AllWaitError: all records wait, or nobody has arrived.
    """
    refuse_former_stream(policy, states, deployment.streamed)
    if policy.stream is None or partition is None:
        return read()
    with states.alone():
        decided = _decisions(policy, partition, states)
        if partition in decided:
            came = _records_of(read, states, decided[partition].before, decided)
            state = _earlier_decision(partition, came, states)
        else:
            last = max(decided, key=lambda one: decided[one].number, default=None)
            _refuse_disorder(policy, partition, last, deployment)
            deployment.refuses()
            came = _records_of(read, states, last, decided)
            waits = records_that_wait(policy, policy.stream, came.rows, came.ages, means)
            state = _state(came, waits)
            states.write(partition, state)
            _forget({**decided, partition: state.decided}, states, policy, deployment)
    goes = np.ones(len(came.rows), np.bool_)
    goes[state.places] = False
    if not goes.any():
        raise AllWaitError(policy.anonymize.k)
    return pack_large(came.rows[goes].reset_index(drop=True))


def refuse_too_few(policy: Policy, records: int) -> None:
    """Refuse the records of a quiet day: in a stream fewer than k may not wait longer, and are left out.

    Args:
        records: that `window_table` has returned.
    Raises:
        TooFewWaitedError: no class can be made of them.
    """
    if policy.stream is not None and records < policy.anonymize.k:
        raise TooFewWaitedError(policy.anonymize.k, records)


def refuse_former_stream(policy: Policy, states: WindowStates, streamed: Callable[[], bool]) -> None:
    """Refuse a policy without ``stream`` where some records may have gone with another partition.

    Args:
        streamed: see `Deployment`: the vault may have been purged.
    Raises:
        InputError: records of a release of this name wait, or could.
    """
    if policy.stream is None and (states.partitions() or streamed()):
        raise InputError(
            f"stream: must stay in the policy of {policy.name}: records of its partitions have waited, and "
            "may be in other releases. To release without waiting, give the policy another name, and let its "
            "partitions begin after those of the stream."
        )


def partitions_over(policy: Policy, partitions: Iterable[str], states: WindowStates) -> list[str]:
    """Return those partitions that cannot be made any more: later ones were, and what these need is gone."""
    made, found = states.partitions(), list[str]()
    for partition in partitions:
        if partition in made:
            before = states.read(partition).decided.before
            over = before is not None and before not in made
        else:
            over = same_stream(policy, partition, {*made, partition})[-1] != partition
        found += [partition] * over
    return found


def _decisions(policy: Policy, partition: str, states: WindowStates) -> dict[str, Decided]:
    """Return what was decided of the partitions of a stream."""
    return {one: states.read(one).decided for one in same_stream(policy, partition, states.partitions())}


def _refuse_disorder(policy: Policy, partition: str, last: str | None, deployment: Deployment) -> None:
    """Refuse a partition that is decided about for the first time, but whose turn it is not.

    Args:
        last: the partition that was decided about last; None: the stream begins.
    Raises:
        InputError: the one before has not been made, or it or a later one has a release already.
    """
    if last is not None and partition_before(policy, partition) != last:
        raise InputError(
            f"stream: the partitions must be made one after the other. {last} was made last, and {partition} "
            f"does not follow it. {_what_to_do(policy, partition, last)}"
        )
    released = same_stream(policy, partition, {*deployment.released(), partition})
    if released[-1] != partition or partition in deployment.released():
        raise InputError(
            f"stream: {partition} or a later partition has a release already, and what waited after it is "
            "not kept. Let the stream begin with a later partition."
        )


def _what_to_do(policy: Policy, partition: str, last: str) -> str:
    """Say what to do where a partition does not follow the one that was made last."""
    keys = () if policy.schedule is None else policy.schedule.keys
    if keys and last not in keys:
        return f"schedule.keys lacks {last}: put it back there, before those that follow it."
    if in_order(policy, [partition, last])[0] == partition:
        return "It comes before it, and its turn is over. Put its records into a later partition."
    return (
        "Make those between them first; where nobody arrived, the source must have its columns and no "
        "record. Put records that arrive late into a later partition."
    )


def _records_of(
    read: Callable[[], Table], states: WindowStates, before: str | None, decided: Mapping[str, Decided]
) -> _Came:
    """Return the records that arrive in a partition, after those that have waited for it.

    Args:
        before: the partition after which they waited; None: the stream begins.
    """
    arrived = unpack_table(read())
    if before is None or before not in decided:
        about = Decided(0, before, _input_digest(arrived, before), len(arrived), 0)
        return _Came(arrived, np.zeros(len(arrived), np.int64), about)
    waiting = states.read(before)
    digest, number = _input_digest(arrived, waiting.id), waiting.decided.number + 1
    about = Decided(number, before, digest, len(arrived), len(waiting.rows))
    ages = np.append(waiting.ages, np.zeros(len(arrived), np.int64))
    return _Came(join_records(waiting.data, arrived), ages, about)


def _input_digest(arrived: pd.DataFrame, waiting: str | None) -> str:
    return hashlib.sha256(f"{digest_frame(arrived)} {waiting}".encode()).hexdigest()


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


def _forget(
    decided: Mapping[str, Decided], states: WindowStates, policy: Policy, deployment: Deployment
) -> None:
    """Remove what waited so long ago that nothing of it waits any more.

    What waits after a partition is needed to make this one again, and the next. So it stays until both have a
    release, or no class of records that could be released.
    """
    known, released = sorted(decided, key=lambda one: decided[one].number), {*deployment.released()}
    delay = 0 if policy.stream is None else policy.stream.delay
    for one, following in pairwise(known):
        if one in known[-(delay + 2) :]:
            return
        if all(
            key in released or _is_no_class(states.read(key), policy.anonymize.k) for key in (one, following)
        ):
            states.remove(one)


def _is_no_class(state: State, k: int) -> bool:
    """Tell whether what does not wait after a partition is fewer than k records, see `refuse_too_few`."""
    return state.decided.came + state.decided.waited - len(state.rows) < k
