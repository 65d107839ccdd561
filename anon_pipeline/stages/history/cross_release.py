"""The intersection attack: who, of all people, fits every class that one person was published in.

Each release may be k-anonymous, and the classes of one person have one member in common.

Decision: docs/adr/0010-releases-judged-together.md.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.classes import group_rows
from anon_pipeline.base.compilation import kernel
from anon_pipeline.stages.history.memory import Memory, normalize_persons


def history(memory: Memory, persons: pd.Series, classes: pd.Series) -> NDArray[np.int64]:
    """Return the class of each person in each release, (m, r + 1), −1 where a person was not in it.

    Args:
        memory: the r releases before.
        persons: (n,) of the release to be published, all different.
        classes: (n,) their classes as text.
    Returns:
        A row for each of the m people of any release; the last column is the release to be published.
    """
    return _history_codes(memory, persons, classes)[0]


def histories(memory: Memory, persons: pd.Series, classes: pd.Series) -> NDArray[np.int64]:
    """Return the rows of `history` of the people of the release to be published, (n, r + 1), in their order.

    Who fits one of them was in its class of that release, so these rows are enough to count with.

    Args:
        memory: the r releases before.
        persons: (n,) of the release to be published, all different.
        classes: (n,) their classes as text.
    """
    codes, who = _history_codes(memory, persons, classes)
    return codes[who[len(who) - len(persons) :]]


def _history_codes(
    memory: Memory, persons: pd.Series, classes: pd.Series
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the history of every person, and the row there of each member of a release."""
    memory, persons = normalize_persons(memory, persons)
    current = len(memory.releases)
    who, distinct = pd.factorize(pd.concat([memory.members["person"], persons], ignore_index=True))
    label = pd.factorize(pd.concat([memory.members["class"], classes], ignore_index=True))[0]
    release = np.append(memory.members["release"].to_numpy(np.int64), np.full(len(persons), current))
    codes = np.full((len(distinct), current + 1), -1, np.int64)
    codes[who, release] = label
    return codes, who.astype(np.int64)


def cross_release_k(codes: NDArray[np.int64]) -> int | None:
    """Count, for each person of the last release, the people who fit all of its published classes.

    A person fits when it was in the same class in every release that the first one was in. In which other
    releases it was does not matter: that is not held against it.

    Args:
        codes: (m, r) class of each person in each release, −1 where it was not in it; see `history`.
    Returns:
        The smallest count, the person itself included; None if nobody of the last release was in one before.
    """
    first, _, weights = group_rows(codes + 1)
    rows = np.ascontiguousarray(codes[first])
    wanted = (rows[:, -1] >= 0) & (rows[:, :-1] >= 0).any(axis=1)
    if not wanted.any():
        return None
    order = np.ascontiguousarray(np.argsort(rows, axis=0, kind="stable").T)
    begin, end = np.empty_like(rows), np.empty_like(rows)
    for j in range(rows.shape[1]):
        ranked = rows[order[j], j]
        begin[:, j] = np.searchsorted(ranked, rows[:, j], side="left")
        end[:, j] = np.searchsorted(ranked, rows[:, j], side="right")
    return int(_fewest(rows, weights.astype(np.int64), order, begin, end, wanted))


def count_newcomers(codes: NDArray[np.int64], *, k: int) -> int:
    """Count the newcomers, and those who left, whose values the last release shows beside an earlier one.

    Whoever has both finds, in a class that is in both, the values of those who joined it, or who left it, as
    the difference. They hide among each other alone: the others' values are in both.

    Args:
        codes: (m, r) class of each person in each release, −1 where it was not in it; see `history`.
        k: people who joined a class together, or left it, and are too many to be told apart.
    Returns:
        Of the earlier release with which it is most.
    """
    now, many = codes[:, -1], int(codes.max(initial=-1)) + 1
    found = [0]
    for before in codes[:, :-1].T:
        moved = before != now
        both = np.bincount(before[before >= 0], minlength=many) > 0
        both &= np.bincount(now[now >= 0], minlength=many) > 0
        some = (np.bincount(side[moved & (side >= 0)], minlength=many) for side in (before, now))
        found.append(sum(int(those[both & (those < k)].sum()) for those in some))
    return max(found)


@kernel
def _fits(rows: NDArray[np.int64], person: int, other: int) -> bool:
    """Tell whether another row has the same class wherever the person's has one."""
    for j in range(rows.shape[1]):  # noqa: SIM110 - a kernel's plain loop
        if rows[person, j] >= 0 and rows[other, j] != rows[person, j]:
            return False
    return True


@kernel
def _fewest(
    rows: NDArray[np.int64],
    weights: NDArray[np.int64],
    order: NDArray[np.int64],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    wanted: NDArray[np.bool_],
) -> int:
    """Count in each wanted row's smallest class; stop where the count cannot become the smallest.

    Args:
        rows: (u, r) distinct histories; weights (u,) people with each.
        order: (r, u) rows sorted by their class in a release; begin, end (u, r) where a row's class lies.
        wanted: (u,) rows to count for.
    """
    best: int = weights.sum()
    for person in range(rows.shape[0]):
        if not wanted[person]:
            continue
        least = -1
        for j in range(rows.shape[1]):
            if rows[person, j] >= 0 and (
                least < 0 or end[person, j] - begin[person, j] < end[person, least] - begin[person, least]
            ):
                least = j
        count = 0
        for i in range(begin[person, least], end[person, least]):
            if _fits(rows, person, order[least, i]):
                count += weights[order[least, i]]
                if count >= best:
                    break
        best = min(best, count)
    return best
