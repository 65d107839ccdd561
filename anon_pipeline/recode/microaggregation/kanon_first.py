"""k-anonymity first: clusters of the nearest records, whose members are exchanged until t and l hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.base.compilation import kernel
from anon_pipeline.recode.class_rules import Rules
from anon_pipeline.recode.microaggregation.excess import Limits, judge
from anon_pipeline.recode.microaggregation.geometry import Taxonomies, Work, center, measure, record
from anon_pipeline.recode.microaggregation.merge import make_limits
from anon_pipeline.recode.microaggregation.nearest import farthest, nearest, sift, take
from anon_pipeline.recode.microaggregation.space import Space, make_work

_STEP = 3_000_000
"""Sensitive values that one kernel call looks at."""

_QUEUED, _ALIVE, _VERSION, _REFUSED = range(4)  # what `Refined.state` holds


class Refined(NamedTuple):
    """The cluster in the making.

    places: (k,) positions of its members: by ascending id, until one is exchanged.
    heap, queue: (n,) the other records, nearest on top, as negative distance and position.
    mirror: (n,) negative id at each position, which breaks ties for the least id.
    state: records in the queue, records that are in no finished cluster, version of the members (exchanges so
        far plus 1), different sensitive values refused by this version.
    kinds: (n,) which sensitive values a record has, 0 … u−1.
    refused: (u,) the version that last refused them.
    """

    places: NDArray[np.int64]
    heap: NDArray[np.float64]
    queue: NDArray[np.int64]
    mirror: NDArray[np.int64]
    state: NDArray[np.int64]
    kinds: NDArray[np.int64]
    refused: NDArray[np.int64]


@kernel
def _begin(tree: Taxonomies, work: Work, limits: Limits, made: Refined) -> bool:
    """Take the k records nearest to the target; return whether they miss a limit, and queue the others."""
    alive, k = made.state[_ALIVE], len(made.places)
    # The k records nearest to the target.
    measure(tree, work, 0, alive)
    nearest(work, 0, alive, k)
    made.places[:] = np.sort(work.places[:k])
    kept, _ = judge(limits, work.ids[made.places])
    if kept:
        return False
    # All others into the queue, as a heap.
    queued, member = 0, 0
    for place in range(alive):
        if member < k and made.places[member] == place:
            member += 1
            continue
        made.heap[queued], made.queue[queued] = -work.distances[place], place
        made.mirror[place] = -work.ids[place]
        queued += 1
    made.places[:] = made.places[np.argsort(work.ids[made.places])]
    for slot in range(queued // 2 - 1, -1, -1):
        sift(made.heap, made.queue, made.mirror, slot, queued)
    made.state[_QUEUED] = queued
    made.state[_VERSION] += 1
    made.state[_REFUSED] = 0
    return True


@kernel
def _pop(made: Refined) -> int:
    """Take the nearest record out of the queue."""
    place: int = made.queue[0]
    made.state[_QUEUED] -= 1
    last = made.state[_QUEUED]
    made.heap[0], made.queue[0] = made.heap[last], made.queue[last]
    sift(made.heap, made.queue, made.mirror, 0, last)
    return place


@kernel
def _same(sensitive: NDArray[np.int64], one: int, other: int) -> bool:
    """Whether two records have the same sensitive values."""
    differ = 0
    for column in range(len(sensitive)):
        differ += sensitive[column, one] != sensitive[column, other]
    return differ == 0


@kernel
def _best_exchange(limits: Limits, members: NDArray[np.int64], newcomer: int) -> tuple[int, float]:
    """Slot of the member that the newcomer should replace, of equal ones the first, and the excess then."""
    best, least = -1, np.inf
    for slot in range(len(members)):
        old = members[slot]
        repeated = _same(limits.sensitive, old, newcomer)
        for before in range(slot):
            repeated = repeated or _same(limits.sensitive, old, members[before])
        if repeated:
            continue
        members[slot] = newcomer
        found = judge(limits, members)[1]
        members[slot] = old
        if found < least:
            best, least = slot, found
    return best, least


@kernel
def _refine(work: Work, limits: Limits, made: Refined, step: int) -> bool:
    """Offer the nearest records to the cluster one after the other; return whether there is more to do.

    Whose sensitive values were refused is not asked again until the cluster has changed.
    """
    members = work.ids[made.places]
    kept, now = judge(limits, members)
    cost = len(members) * len(members) * len(limits.sensitive)
    while not kept and made.state[_QUEUED] > 0 and made.state[_REFUSED] < len(made.refused):
        if step <= 0:
            return True
        step -= 20
        place = _pop(made)
        kind = made.kinds[work.ids[place]]
        # The same sensitive values would be refused again.
        if made.refused[kind] == made.state[_VERSION]:
            continue
        step -= cost
        # Exchange where that lowers the excess most.
        slot, found = _best_exchange(limits, members, work.ids[place])
        if slot >= 0 and found < now:
            made.places[slot], members[slot] = place, work.ids[place]
            kept, now = judge(limits, members)
            made.state[_VERSION] += 1
            made.state[_REFUSED] = 0
        else:
            made.refused[kind] = made.state[_VERSION]
            made.state[_REFUSED] += 1
    return False


@kernel
def _aim_first(tree: Taxonomies, work: Work, alive: int) -> None:
    """Aim at the record that is farthest from the average."""
    center(tree, work, alive)
    measure(tree, work, 0, alive)
    record(tree, work, farthest(work.distances[:alive], work.ids))


@kernel
def _aim_second(tree: Taxonomies, work: Work, alive: int) -> None:
    """Aim at the record that is farthest from the one aimed at."""
    measure(tree, work, 0, alive)
    record(tree, work, farthest(work.distances[:alive], work.ids))


def kanon_first(space: Space, rules: Rules, *, k: int) -> NDArray[np.int64]:
    """Form clusters of k records, exchanging members for the next nearest record where that helps.

    Args:
        space: n ≥ k records.
        rules: the limits; a cluster that misses one exchanges members until it keeps all, or no record is
            left.
        k: records of a cluster; the last has up to 2·k − 1.
    Returns:
        (n,) cluster of each record, 0 … m−1. Some may miss a limit.
    Source:
        [DB Alg. 5], with `excess` in the place of the earth mover's distance.
    """
    tree, work, limits = space.taxonomies, make_work(space, k), make_limits(space, rules)
    n = space.records
    labels, found = np.empty(n, np.int64), 0
    zeros, (_, kinds, _) = np.zeros(n, np.int64), group_rows(space.sensitive.T)
    made = Refined(
        np.zeros(k, np.int64),
        np.zeros(n),
        zeros,
        zeros.copy(),
        np.array([0, n, 0, 0], np.int64),
        kinds,
        np.full(int(kinds.max(initial=0)) + 1, -1),
    )
    while made.state[_ALIVE]:
        alive = int(made.state[_ALIVE])
        if alive < 2 * k:
            made.state[_ALIVE] = take(tree, work, labels, np.arange(alive), alive, found)
            break
        (_aim_second if found % 2 else _aim_first)(tree, work, alive)
        if _begin(tree, work, limits, made):
            while _refine(work, limits, made, _STEP):
                pass
        made.state[_ALIVE] = take(tree, work, labels, made.places, alive, found)
        space.told(n - int(made.state[_ALIVE]))
        found += 1
    return labels
