"""What attackers learn of people who have several records each: people are counted, not records.

Decision: docs/adr/0046-people-not-records.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.base.order import count_different, count_values, different_values, sorted_places
from anon_pipeline.risk.class_table import class_table, finest_first
from anon_pipeline.risk.confidence import inside, window
from anon_pipeline.risk.l_diversity import distinct_l, entropy_l, recursive_ratio
from anon_pipeline.risk.linking import ties_of


def count_people(labels: NDArray[np.integer], people: NDArray[np.integer], *, m: int) -> NDArray[np.int64]:
    """Count the people of each class, (m,).

    Args:
        labels: (r,) class of each record, 0 … m−1.
        people: (r,) whose record it is, 0 or more.

    >>> count_people(np.array([0, 0, 1]), np.array([7, 7, 7]), m=2).tolist()
    [1, 1]
    """
    if not len(labels):
        return np.zeros(m, np.int64)
    width = int(people.max()) + 1
    pairs, _ = count_values(labels.astype(np.int64) * width + people, m * width)
    return np.bincount(pairs // width, minlength=m).astype(np.int64)


def most_of_one(labels: NDArray[np.integer], people: NDArray[np.integer], *, m: int) -> NDArray[np.int64]:
    """Count the records of the person of each class who has most of them there, (m,).

    Args:
        labels: (r,) class of each record, 0 … m−1.
        people: (r,) whose record it is, 0 or more.

    >>> most_of_one(np.array([0, 0, 0, 1]), np.array([7, 7, 8, 7]), m=2).tolist()
    [2, 1]
    """
    most = np.zeros(m, np.int64)
    if len(labels):
        width = int(people.max()) + 1
        pairs, counts = count_values(labels.astype(np.int64) * width + people, m * width)
        np.maximum.at(most, pairs // width, counts)
    return most


def once_for_each(values: NDArray[np.int64], people: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return each value once for each of the people who have it, ascending.

    Args:
        values: (r,) whole numbers.
        people: (r,) who has each, 0 or more.

    >>> once_for_each(np.array([5, 9, 5, 5]), np.array([0, 0, 0, 1])).tolist()
    [5, 5, 9]
    """
    if not len(values):
        return values
    different, ranks = different_values(values)
    width = int(people.max()) + 1
    pairs, _ = count_values(ranks * width + people, len(different) * width)
    return different[pairs // width]


def people_with_gaps(released: NDArray[np.integer], people: NDArray[np.integer]) -> int:
    """Count the people of whom at least one record is missing.

    Args:
        released: (r,) rows of the records that are released.
        people: (n,) whose record each one is, 0 … P−1.
    """
    every = np.bincount(people)
    return int(np.count_nonzero(np.bincount(people[released], minlength=len(every)) < every))


def people_diversity(
    codes: NDArray[np.integer],
    labels: NDArray[np.integer],
    people: NDArray[np.integer],
    *,
    m: int,
    kind: Literal["distinct", "entropy", "recursive"],
    l: float,  # noqa: E741 - the field's own letter
) -> NDArray[np.float64]:
    """Measure how diverse the sensitive values of the people of each class are, (m,).

    Each person counts once for each value; and a value that nearly everybody has makes a class less diverse,
    however many other values these people have: l is at most 1 more than the people without it. With one
    record a person that is l-diversity of records.

    Args:
        codes: (r,) sensitive value of each record, an integer ≥ 0.
        labels: (r,) class of each record, 0 … m−1.
        people: (r,) whose record it is.
        kind: of l-diversity; of ``recursive`` the ratio is returned, infinite where somebody of l is lacking.

    >>> ill = np.array([0, 0, 0, 1, 2])  # three people with flu, of whom one has two other illnesses as well
    >>> people_diversity(ill, np.zeros(5, int), np.array([0, 1, 2, 2, 2]), m=1, kind="distinct", l=2).tolist()
    [1.0]
    """
    width = int(codes.max(initial=0)) + 1
    cells = once_for_each(labels.astype(np.int64) * width + codes, people)
    own, values = np.divmod(cells, width)
    held, holders = count_values(cells, m * width)
    most = np.zeros(m, np.int64)
    np.maximum.at(most, held // width, holders)
    others = (1 + count_people(labels, people, m=m) - most).astype(np.float64)
    if kind == "recursive":
        return np.where(others < l, np.inf, recursive_ratio(values, own, l=int(l), m=m))
    measured = distinct_l(values, own, m=m) if kind == "distinct" else entropy_l(values, own, m=m)
    return np.minimum(measured.astype(np.float64), others)


def linked_to_people(
    released: NDArray[np.float64],
    own: NDArray[np.integer],
    originals: NDArray[np.float64],
    *,
    labels: NDArray[np.integer],
    people: NDArray[np.integer],
) -> NDArray[np.bool_]:
    """Tell which released records are linked to their person, an original of whom is among the nearest.

    Args:
        released: (r, p) released values in grid units, p ≥ 1.
        own: (r,) index of each released record in ``originals``.
        originals: (n, p) original values in grid units.
        labels: (n,) class of each original, 0 … m−1; −1 for a record of no class.
        people: (n,) whose record it is, 0 … P−1.
    Returns:
        (r,); distances and ties are those of `linking.linking_risk`.
    """
    order, width = finest_first(originals), int(people.max()) + 1
    rows = np.ascontiguousarray(originals[:, order], np.float64)
    values = np.ascontiguousarray(released[:, order], np.float64)
    keys = np.where(labels >= 0, labels.astype(np.int64) * width + people, -1)
    sorted_rows = sorted_places(keys + 1, int(keys.max(initial=-1)) + 2)
    sorted_keys = keys[sorted_rows]
    first = np.searchsorted(sorted_keys, keys[own], side="left")
    counts = np.searchsorted(sorted_keys, keys[own], side="right") - first
    record = np.repeat(np.arange(len(own)), counts)
    within = np.arange(len(record)) - np.repeat(np.cumsum(counts) - counts, counts)
    theirs = sorted_rows[first[record] + within]
    classes = labels[own].astype(np.int64)
    tied = ties_of(values[record], rows[theirs], classes[record], class_table(rows, labels))
    return np.bincount(record, weights=tied, minlength=len(own)) > 0


def linked_share(linked: NDArray[np.bool_], people: NDArray[np.integer]) -> float:
    """Return the share of the people of some records of whom at least one record is linked.

    Args:
        linked: (r,). people: (r,) whose record it is.
    """
    return count_different(people[linked]) / count_different(people)


@dataclass(frozen=True, slots=True, eq=False)
class PeopleTable:
    """Originals that are sorted once, to count the people near the values of several releases.

    order: (p,) of the columns. radius: (m, p) of each class. rows: (n, p) by class, then the first column.
    people: (n,) whose row it is, 0 … P−1. starts: (m + 1,). sizes: (m,) people of each class.
    """

    order: NDArray[np.int64] = field(repr=False)
    radius: NDArray[np.float64] = field(repr=False)
    rows: NDArray[np.float64] = field(repr=False)
    people: NDArray[np.int64] = field(repr=False)
    starts: NDArray[np.int64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)

    def counts(
        self, released: NDArray[np.float64], own_labels: NDArray[np.integer], *, cap: int
    ) -> NDArray[np.int64]:
        """Count the people of whom a record lies within reach of each released record, (r,), up to ``cap``.

        See `confidence.confident_counts`, which counts records.
        """
        classes = np.ascontiguousarray(own_labels, np.int64)
        if not len(self.order):
            return np.minimum(self.sizes[classes], cap).astype(np.int64)
        values = np.ascontiguousarray(released[:, self.order], np.float64)
        seen = np.full(int(self.people.max(initial=0)) + 1, -1, np.int64)
        found: NDArray[np.int64] = _people_within(
            values, self.radius, classes, (self.rows, self.people, self.starts), seen, cap
        )
        return found


def people_table(
    originals: NDArray[np.float64],
    *,
    labels: NDArray[np.integer],
    radius: NDArray[np.float64],
    people: NDArray[np.integer],
) -> PeopleTable:
    """Sort the originals of each class; the arguments are those of `confidence.confident_counts`."""
    order = finest_first(originals) if originals.shape[1] else np.empty(0, np.int64)
    there = np.flatnonzero(labels >= 0)
    columns = np.ascontiguousarray(originals[:, order], np.float64)
    keys = [columns[there, 0]] if len(order) else []
    there = there[np.lexsort((*keys, labels[there]))]
    own, m = labels[there].astype(np.int64), len(radius)
    starts = np.searchsorted(own, np.arange(m + 1)).astype(np.int64)
    theirs = people[there].astype(np.int64)
    reach = np.ascontiguousarray(radius[:, order], np.float64)
    return PeopleTable(order, reach, columns[there], theirs, starts, count_people(own, theirs, m=m))


@kernel
def _people_within(released, radius, classes, table, seen, cap):  # type: ignore[no-untyped-def]
    """Count the people with a row within reach, by a scan of the first column's window up to the cap."""
    rows, people, starts = table
    counts = np.zeros(len(released), np.int64)
    for i in range(len(released)):
        y, reach = released[i], radius[classes[i]]
        begin, end = window(rows[:, 0], starts[classes[i]], starts[classes[i] + 1], y[0], reach[0])
        for j in range(begin, end):
            if seen[people[j]] != i and inside(rows[j], y, reach):
                seen[people[j]] = i
                counts[i] += 1
                if counts[i] == cap:
                    break
    return counts
