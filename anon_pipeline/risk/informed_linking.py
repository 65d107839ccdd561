"""Attackers who know how columns are changed as a whole, and weigh originals by how values move.

Such a column has no distribution that likelihoods could be computed from, but its mechanism is public: who
knows the originals can run it, and learn. Three attackers learn: how far the ranks of each column move, taken
by itself (so originals that are too far away are left out); how all columns together follow from the
originals, as a regression does (so values that move towards the mean, or changes that go together, do not
mislead); and the same of logarithms, as values that are multiplied follow. What they learn is estimated from
the release, of each record from all others.

Belongs here: these attackers, and whom they link. Does not belong here: the nearest original (`linking`).

Decision: docs/adr/0088-columns-changed-as-a-whole.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.order import sorted_places
from anon_pipeline.risk.informed_kernel import look
from anon_pipeline.risk.informed_table import InformedTable, informed_table, logarithms, ranks_in

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

LEAST = 50
"""Released records of which something can be learned."""
LOOKED_AT = 2_048
"""Records of a large table that are looked at; and ranks whose distances to all others are counted."""

_BINS, _IN_BIN = 48, 25  # of how far ranks move: at most, and records in each about
_LEARNED_FROM = 2**16  # released records at most
_PAIRS = 2**24  # of a record and an original; above, a part of the records is looked at
_LINKED = 64  # linked records, of a part, that are enough
_SEED = 1  # of which part this is
_RIDGE = 1e-6  # of a column's variance: changes without any variance have no inverse


@dataclass(frozen=True, slots=True, eq=False)
class _Sought:
    """Released records that are looked at, or learned from.

    values: (r, p) released values, in the order of the table's columns.
    places: (r,) rows of their originals; ``who``: (r,) whose they are.
    starts: (u + 1,) where the records of each of those who are sought begin.
    """

    values: Reals = field(repr=False)
    places: Integers = field(repr=False)
    who: Integers = field(repr=False)
    starts: Integers = field(repr=False)


class _Plan(NamedTuple):
    """Whom an attacker is tried on: the first ``most`` of those who are sought, until ``enough`` are linked.

    lots: (most,) decide about guesses that are equally good; none where all are looked at.
    """

    most: int
    enough: int
    lots: Reals


def linked_shares(
    table: InformedTable, released: NDArray[np.number], own: NDArray[np.integer]
) -> tuple[float, ...]:
    """Return the share that each attacker links, see `informed_linking`.

    Args:
        released, own: as to `informed_linking`; the table is of its originals.
    """
    if len(own) < LEAST or not len(table.order):
        return (0.0, 0.0, 0.0)
    some, starts = _choose(table, own)
    values = np.ascontiguousarray(released[some][:, table.order], np.float64)
    sought = _Sought(values, table.places[own[some]], table.who[own[some]], starts)
    plan = _plan(table, sought)
    return (
        _by_ranks(table, sought, plan),
        _by_regression(table, sought, plan, scale=lambda given: given, variances=table.variances[0]),
        _by_regression(
            table,
            replace(sought, values=logarithms(values)),
            plan,
            scale=logarithms,
            variances=table.variances[1],
        ),
    )


def informed_linking(
    released: NDArray[np.number],
    own: NDArray[np.integer],
    originals: NDArray[np.number],
    *,
    labels: NDArray[np.integer],
    people: NDArray[np.integer] | None = None,
) -> float:
    """Return the share of the released records that the best of the attackers links, in [0, 1].

    Equal guesses are decided by lot. Where people are counted, the share of those with a released record of
    whom one is guessed to be theirs. A large table is measured on a random part of its records.

    Args:
        released: (r, p) released values.
        own: (r,) index of each in ``originals``, (n, p), all different, of a class each.
        labels: (n,) class of each original; −1 for a record of no class.
        people: (n,) whose record it is; None: records are counted.
    Returns:
        The share; 0 of fewer than `LEAST` records, of which nothing is learned.
    Source:
        Nin et al. (2008) for ranks; [methods 8.1].
    """
    return max(linked_shares(informed_table(originals, labels, people), released, own))


def _choose(table: InformedTable, own: NDArray[np.integer]) -> tuple[Integers, Integers]:
    """Put those who are sought into a random order, of many a part.

    Before, they are in the order of their originals, so that the order of the rows plays no part.

    Args:
        own: (r,) original of each released record.
    Returns:
        positions of released records, and where those of each who is sought begin among them.
    """
    random, line = np.random.default_rng(_SEED), sorted_places(table.places[own], len(table.rows))
    if table.alone:
        turns = random.permutation(len(line))
        first = np.flatnonzero(turns < _LEARNED_FROM)
        order = np.empty(len(first), np.int64)
        order[turns[first]] = first
        return line[order], np.arange(len(order) + 1)
    who = table.who[own]
    _, first, unit = np.unique(who[line], return_index=True, return_inverse=True)
    lots = np.empty(len(first), np.int64)
    lots[np.argsort(first, kind="stable")] = random.permutation(len(first))
    turns = lots[unit]
    order = np.argsort(turns, kind="stable")
    starts = np.searchsorted(turns[order], np.arange(len(first) + 1))
    many = max(int(np.searchsorted(starts, _LEARNED_FROM, "right")) - 1, 1)
    return line[order[: starts[many]]], starts[: many + 1].astype(np.int64)


def _plan(table: InformedTable, sought: _Sought) -> _Plan:
    """Say whom to look at: all, or of many a part until enough are linked."""
    labels = table.labels[sought.places]
    units, pairs = len(sought.starts) - 1, int((table.classes[labels + 1] - table.classes[labels]).sum())
    if pairs <= _PAIRS:
        return _Plan(units, units + 1, np.zeros(0))
    most = min(units, LOOKED_AT)
    return _Plan(most, _LINKED, np.random.default_rng(_SEED).random(most))


def _by_ranks(table: InformedTable, sought: _Sought, plan: _Plan) -> float:
    """Return whom the attacker links who has learned how far ranks move."""
    p = len(table.order)
    seen = np.stack([ranks_in(table.lines[j], sought.values[:, j]) for j in range(p)], axis=1)
    known = table.ranks[sought.places]
    learned = [_learn(known[:, j].astype(np.int64), seen[:, j].astype(np.int64)) for j in range(p)]
    most = max(len(usual) for _, usual, _ in learned)
    bins = np.zeros((p, 2 * table.records + 1), np.uint8)
    lifts = np.full((2, p, most), -np.inf)
    for j, (ends, usual, without) in enumerate(learned):
        bins[j] = np.searchsorted(ends, np.arange(bins.shape[1]))
        lifts[0, j, : len(usual)], lifts[1, j, : len(usual)] = usual, without
    return _share(table, sought, plan, (seen, known, table.ranks), (bins, lifts))


def _learn(known: Integers, seen: Integers) -> tuple[Integers, Reals, Reals]:
    """Learn how far ranks move.

    Args:
        known: (r,) rank of each released record's original; ``seen``: of its released value.
    Returns:
        largest distance of each bin but the last one; of each bin ln of how much likelier a move by such a
        distance is than two ranks at random are as far apart; and the same without one of the records in it.
    """
    moves = np.abs(seen - known)
    many = min(max(len(moves) // _IN_BIN, 2), _BINS)
    ends = np.unique(np.quantile(moves, np.arange(1, many + 1) / many, method="higher")).astype(np.int64)
    counts = np.bincount(np.searchsorted(ends, moves), minlength=len(ends) + 1)
    some = np.sort(known)[np.linspace(0, len(known) - 1, min(LOOKED_AT, len(known))).astype(np.int64)]
    line = np.sort(seen)
    within = [
        int((np.searchsorted(line, some + end, "right") - np.searchsorted(line, some - end, "left")).sum())
        for end in ends.tolist()
    ]
    chance = np.diff([0, *within, len(some) * len(line)]) / (len(some) * len(line))
    base = np.log(np.maximum(chance, 1 / (len(some) * len(line))))
    usual, without = (
        np.log((np.maximum(counts - gone, 0) + 0.5) / (len(moves) + 0.5 * len(counts))) - base
        for gone in (0, 1)
    )
    return ends, usual, without


def _by_regression(
    table: InformedTable,
    sought: _Sought,
    plan: _Plan,
    *,
    scale: Callable[[Reals], Reals],
    variances: Reals,
) -> float:
    """Return whom the attacker links who has learned how released values follow from the originals.

    An original is the likelier, the smaller the residual, by the covariances of the residuals. Of the own
    original it is what it would be without this record: residual / (1 − leverage).

    Args:
        sought: with values on the scale on which they follow; ``scale``: brings originals to it.
        variances: (p,) of all originals on that scale.
    """
    mine = scale(table.rows[sought.places])
    middle = mine.mean(axis=0)
    known = np.hstack((np.ones((len(mine), 1)), mine - middle))
    line, *_ = np.linalg.lstsq(known, sought.values, rcond=None)
    residuals = sought.values - known @ line
    spread = np.atleast_2d(np.cov(residuals.T))
    spread += np.diag(np.maximum(_RIDGE * variances, np.finfo(np.float64).tiny))
    apart = np.linalg.inv(np.linalg.cholesky(spread)).T
    inverse = np.linalg.pinv(known.T @ known)
    leverage = np.minimum(np.einsum("ij,jk,ik->i", known, inverse, known), 0.5)
    own = sought.values - residuals / (1 - leverage[:, None])
    some = _rows_looked_at(table, sought, plan)
    rows = scale(table.rows[some])
    expected = (rows - middle) @ line[1:] + line[0]
    # The search begins with the first column: let it be the one that differs most.
    apart = apart @ np.linalg.eigh(np.atleast_2d(np.cov((expected @ apart).T)))[1][:, ::-1]
    known = expected @ apart
    turn = np.argsort(known[:, 0])
    turn = turn[
        sorted_places(table.labels[some[turn]].astype(np.int64), len(table.classes))
    ]  # within each class
    of, place = some[turn], np.full(len(table.rows), -1, np.int64)
    place[of] = np.arange(len(of))
    labels = table.labels[of]
    classes = np.searchsorted(labels, np.arange(len(table.classes)))
    near = replace(table, counts=table.counts[of], theirs=place[table.theirs], labels=labels, classes=classes)
    sought = replace(sought, places=place[sought.places])
    none = np.zeros((0, 0), np.uint8), np.zeros((2, 0, 0))
    return _share(near, sought, plan, (sought.values @ apart, own @ apart, known[turn]), none)


def _rows_looked_at(table: InformedTable, sought: _Sought, plan: _Plan) -> Integers:
    """Return the rows of all classes in which somebody is looked at, ascending."""
    labels = table.labels[sought.places[: sought.starts[plan.most]]]
    there = np.zeros(len(table.classes) - 1, np.bool_)
    there[labels] = True
    return np.flatnonzero(np.repeat(there, np.diff(table.classes)))


def _share(
    table: InformedTable,
    sought: _Sought,
    plan: _Plan,
    compared: tuple[Reals, Reals, Reals],
    learned: tuple[NDArray[np.uint8], Reals],
) -> float:
    """Return the share of those who are sought that is linked: of all, or of a random part of many.

    Of a part it is looked at until enough are linked; the share is then (linked − 1)/(looked at − 1), which
    is right on average whenever one stops, by Girshick et al. (1946).

    Args:
        table: with the classes of those who are looked at.
        compared: ranks or values: (r, p) of the released records, (r, p) of their own originals, (d, p) of
            all originals.
        learned: the bin of each distance of ranks, (p, distances), and what `_learn` returns of the bins;
            without a column of bins values are compared by their distance.
    """
    records = slice(0, int(sought.starts[plan.most]))
    places = sought.places[records]
    labels = table.labels[places]
    first, last = table.classes[labels], table.classes[labels + 1]
    shown, mine, known = compared
    sides = tuple(np.ascontiguousarray(side, np.float64) for side in (shown[records], mine[records], known))
    of = (places, first, last, sought.who[records], table.theirs, table.begin, table.counts)
    linked, looked = look(sides, of, learned, (sought.starts, plan.lots, plan.most, plan.enough))
    return float((linked - 1) / (looked - 1) if linked >= plan.enough else linked / looked)
