"""People who have several records, counted: against brute force, and against records where each has one."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.risk.confidence import confident_counts
from anon_pipeline.risk.l_diversity import distinct_l, entropy_l, recursive_ratio
from anon_pipeline.risk.linking import linking_risk
from anon_pipeline.risk.people import (
    count_people,
    linked_share,
    linked_to_people,
    most_of_one,
    once_for_each,
    people_diversity,
    people_table,
    people_with_gaps,
)

RECORDS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=25
)
"""Class, person and value of each record."""


def arrays(records: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    labels, people, values = np.array(records, np.int64).T
    labels = np.unique(labels, return_inverse=True)[1]
    return labels, people, values, int(labels.max()) + 1


@given(RECORDS)
def test_people_of_a_class_are_its_distinct_people(records: list[tuple[int, int, int]]) -> None:
    labels, people, _, m = arrays(records)
    counted = count_people(labels, people, m=m).tolist()
    assert counted == [len(set(people[labels == label])) for label in range(m)]


@given(RECORDS, st.randoms(use_true_random=False))
def test_whoever_lacks_a_record_has_a_gap(records: list[tuple[int, int, int]], random: object) -> None:
    people = np.unique(arrays(records)[1], return_inverse=True)[1]
    kept = np.array([random.random() < 0.7 for _ in people])  # type: ignore[attr-defined]
    expected = len({person for person, there in zip(people.tolist(), kept, strict=True) if not there})
    assert people_with_gaps(np.flatnonzero(kept), people) == expected


@given(RECORDS, st.sampled_from(["distinct", "entropy", "recursive"]), st.integers(1, 4))
def test_diversity_of_people_is_that_of_their_distinct_values(
    records: list[tuple[int, int, int]],
    kind: str,
    l: int,  # noqa: E741 - the field's own letter
) -> None:
    labels, people, values, m = arrays(records)
    found = people_diversity(values, labels, people, m=m, kind=kind, l=l)  # type: ignore[arg-type]
    for label in range(m):
        pairs = {(p, v) for c, p, v in zip(labels, people, values, strict=True) if c == label}
        holders = sorted(len({p for p, v in pairs if v == value}) for value in {v for _, v in pairs})[::-1]
        others = 1 + len({p for p, _ in pairs}) - holders[0]
        if kind == "distinct":
            expected: float = min(len(holders), others)
        elif kind == "entropy":
            shares = [count / sum(holders) for count in holders]
            expected = min(math.exp(-sum(share * math.log(share) for share in shares)), others)
        else:
            rest = sum(holders[l - 1 :])
            expected = math.inf if others < l or not rest else holders[0] / rest
        assert found[label] == pytest.approx(expected)


@given(RECORDS, st.integers(1, 4))
def test_with_one_record_each_people_are_as_diverse_as_records(
    records: list[tuple[int, int, int]],
    l: int,  # noqa: E741 - the field's own letter
) -> None:
    labels, _, values, m = arrays(records)
    alone = np.arange(len(labels))
    kinds = {
        "distinct": distinct_l(values, labels, m=m).astype(float),
        "entropy": entropy_l(values, labels, m=m),
        "recursive": recursive_ratio(values, labels, l=l, m=m),
    }
    for kind, expected in kinds.items():
        found = people_diversity(values, labels, alone, m=m, kind=kind, l=l)  # type: ignore[arg-type]
        np.testing.assert_allclose(found, expected)


def test_one_person_cannot_make_a_class_diverse() -> None:
    """Ten people with flu, one with five illnesses more: records are 6-diverse, people not 2-diverse."""
    values = np.array([0] * 10 + [1, 2, 3, 4, 5])
    people = np.array([*range(10), 0, 0, 0, 0, 0])
    labels = np.zeros(15, np.int64)
    assert distinct_l(values, labels, m=1).tolist() == [6]
    assert people_diversity(values, labels, people, m=1, kind="distinct", l=2).tolist() == [1]


POINTS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 6), st.integers(0, 6)),
    min_size=2,
    max_size=14,
)
"""Class, person and two values of each original."""


@given(POINTS, st.booleans(), st.integers(1, 3), st.integers(0, 3), st.data())
def test_people_within_reach_are_counted_once(
    points: list[tuple[int, int, int, int]], wide: bool, cap: int, reach: int, data: st.DataObject
) -> None:
    table = np.array(points, np.int64)
    labels, people = np.unique(table[:, 0], return_inverse=True)[1], table[:, 1]
    rows = table[:, 2 : 4 if wide else 3].astype(float)
    shifts = data.draw(st.lists(st.integers(-3, 3), min_size=len(rows), max_size=len(rows)))
    released = rows + np.array(shifts)[:, None]
    radius = np.full((int(labels.max()) + 1, rows.shape[1]), float(reach))
    found = people_table(rows, labels=labels, radius=radius, people=people).counts(released, labels, cap=cap)
    for i, row in enumerate(released):
        near = (labels == labels[i]) & (np.abs(rows - row) <= reach).all(axis=1)
        assert found[i] == min(len(set(people[near])), cap)
    alone = people_table(rows, labels=labels, radius=radius, people=np.arange(len(rows)))
    records = confident_counts(released, labels, rows, labels=labels, radius=radius, cap=cap)
    assert alone.counts(released, labels, cap=cap).tolist() == records.tolist()


def test_without_a_perturbed_column_the_people_of_the_class_are_counted() -> None:
    labels, people = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2])
    table = people_table(np.empty((4, 0)), labels=labels, radius=np.empty((2, 0)), people=people)
    assert table.counts(np.empty((4, 0)), labels, cap=5).tolist() == [2, 2, 2, 1]


@given(POINTS, st.booleans(), st.data())
def test_a_record_is_linked_where_a_record_of_its_person_is_nearest(
    points: list[tuple[int, int, int, int]], wide: bool, data: st.DataObject
) -> None:
    table = np.array(points, np.int64)
    labels, people = np.unique(table[:, 0], return_inverse=True)[1], table[:, 1]
    rows = table[:, 2 : 4 if wide else 3].astype(float)
    shifts = data.draw(st.lists(st.integers(-3, 3), min_size=len(rows), max_size=len(rows)))
    released, own = rows + np.array(shifts)[:, None], np.arange(len(rows))
    found = linked_to_people(released, own, rows, labels=labels, people=people)
    for i in range(len(rows)):
        mine = np.flatnonzero(labels == labels[i])
        span = np.ptp(rows[mine], axis=0)
        scale = np.where(span > 0, 1 / np.where(span > 0, span, 1), 0.0) if wide else np.ones(1)
        far = {j: float((((rows[j] - released[i]) * scale) ** 2).sum()) for j in mine}
        least = min(far.values())
        near = {int(people[j]) for j in mine if far[j] <= least * (1 + 1e-12)}
        assert found[i] == (int(people[i]) in near)
    alone = linked_to_people(released, own, rows, labels=labels, people=own)
    assert int(alone.sum()) == linking_risk(released, own, rows, labels=labels).linked
    assert linked_share(found, people) == len(set(people[found])) / len(set(people))


def test_the_share_of_people_is_not_the_share_of_records() -> None:
    linked, people = np.array([True, False, False, False]), np.array([0, 0, 0, 1])
    assert linked_share(linked, people) == 0.5
    assert all(
        linked_share(np.array(x), np.arange(2)) == sum(x) / 2
        for x in itertools.product((False, True), repeat=2)
    )


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=30))
def test_the_most_records_of_one_person_of_a_class(records: list[tuple[int, int]]) -> None:
    labels, people = (np.array(one, np.int64) for one in zip(*records, strict=True))
    found = most_of_one(labels, people, m=5).tolist()
    assert found == [
        max(Counter(person for own, person in records if own == label).values(), default=0)
        for label in range(5)
    ]
    assert most_of_one(labels[:0], people[:0], m=2).tolist() == [0, 0]


@given(st.lists(st.tuples(st.integers(-(2**40), 2**40) | st.integers(0, 3), st.integers(0, 4)), max_size=30))
def test_each_value_counts_once_for_each_of_its_people(held: list[tuple[int, int]]) -> None:
    values, people = (
        (np.array(column, np.int64) for column in zip(*held, strict=True))
        if held
        else (np.empty(0, np.int64),) * 2
    )
    assert once_for_each(values, people).tolist() == [value for value, _ in sorted(set(held))]
