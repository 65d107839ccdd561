"""What clusters release: means, days, concepts; distances and limits by their definitions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import recode
from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.microaggregation.centroids import release_centroids
from anon_pipeline.recode.microaggregation.excess import judge
from anon_pipeline.recode.microaggregation.merge import make_limits
from anon_pipeline.recode.microaggregation.space import Space, make_space, semantic_distance
from anon_pipeline.recode.task import Constraints, Task
from anon_pipeline.risk.l_diversity import distinct_l, entropy_l, recursive_ratio
from anon_pipeline.risk.t_closeness import t_closeness
from tests.example_counts import examples_of
from tests.recode.asking import ask


def space_of(task: Task) -> Space:
    return make_space(task, task.by_record)


def one_cluster(hierarchy: Hierarchy, leaves: list[int]) -> tuple[object, float]:
    """What one cluster of some leaves releases, and the sum of the squared errors."""
    task = ask(np.array(leaves).reshape(-1, 1), (hierarchy,), Constraints(1, 0), "mdav")
    space = space_of(task)
    found = release_centroids(space, task.hierarchies, np.zeros(len(leaves), np.int64), k=1)
    return found.values[0][found.codes[0, 0]], float(found.errors.sum())


@pytest.mark.parametrize(
    ("values", "missing", "leaves", "released"),
    [
        ([20, 21, 23], False, [0, 1, 2], "21.3"),
        ([20, 21, 22], False, [0, 1, 2], "21"),
        ([20, 21, 23], False, [1, 1], "21"),
        ([0.25, 0.5, 2.5], False, [0, 1], "0.375"),
        ([-1.5, 1.5], False, [0, 1], "0"),
        ([20, 30], True, [0, 1, 2], "25"),
        ([20, 30], True, [0, 2], "20"),
        ([20, 30], True, [0, 2, 2], None),
        ([-1.7e308, 1.7e308], False, [0, 1], "0"),
        ([1.6e308, 1.7e308], False, [1, 1], str(int(1.7e308))),
    ],
)
def test_a_mean_has_one_decimal_more_than_the_column(
    micro: SimpleNamespace, values: list[float], missing: bool, leaves: list[int], released: object
) -> None:
    assert one_cluster(micro.numbers(values, missing=missing), leaves)[0] == released


def test_a_mean_is_of_k_numbers_or_missing(micro: SimpleNamespace) -> None:
    """One number beside a missing one would be released as it is."""
    hierarchy = micro.numbers([10, 11, 12, 13, 14, 51877, 70000, 70001], missing=True)
    codes = np.array([0, 1, 2, 3, 4, 5, 8, 6, 7]).reshape(-1, 1)
    for k, numbers in ((2, 2), (3, 3)):
        recoding = recode(ask(codes, (hierarchy,), Constraints(k, 0), "mdav"))
        released = recoding.values[0][recoding.codes[:, 0]]
        assert "51877" not in released.tolist()
        for value in set(released.tolist()) - {None}:
            members = codes[released == value, 0]
            assert int((members != 8).sum()) >= numbers


def test_one_long_number_does_not_decide_how_long_means_are(micro: SimpleNamespace) -> None:
    hierarchy = micro.numbers([16, 16.5, 17, 17.1234567])
    codes = np.array([0, 1, 1, 2, 2, 2, 3]).reshape(-1, 1)
    recoding = recode(ask(codes, (hierarchy,), Constraints(3, 0), "mdav"))
    assert all(len(str(value).partition(".")[2]) <= 1 for value in recoding.values[0])


def test_days_release_the_mean_day() -> None:
    days = ["1969-12-30", "1970-01-01", "1970-01-02"]
    coordinates = np.array(days, "datetime64[D]").astype(np.int64).astype(float)
    lookups = np.arange(3), np.zeros(3, np.int64)
    hierarchy = Hierarchy("d", lookups, (np.array(days, object), np.array(["*"], object)), coordinates)
    assert one_cluster(hierarchy, [0, 1])[0] == "1969-12-31"
    assert one_cluster(hierarchy, [0, 1, 2])[0] == "1970-01-01"
    assert one_cluster(hierarchy, [2, 2])[0] == "1970-01-02"


def test_categories_release_the_least_marginal_concept(from_rows: Any) -> None:
    """Four leaves under one node: 4·log₂(1 + 1/3) < 3·log₂(1 + 2/4). All eight: the node A has
    4·log₂(1 + 1/3) + 4·log₂(1 + 3/4) = 4.9, as B; the top has 8·log₂(1 + 2/3) = 5.9, a leaf more.
    """
    rows = [(leaf, group, "*") for group in "AB" for leaf in (f"{group}{i}" for i in range(4))]
    hierarchy = from_rows("x", rows)
    assert one_cluster(hierarchy, [0, 0, 1])[0] == "A0"
    assert one_cluster(hierarchy, [0, 1])[0] == "A0"
    assert one_cluster(hierarchy, [0, 1, 2, 3])[0] == "A"
    assert one_cluster(hierarchy, [0, 1, 2, 3, 4, 5, 6, 7])[0] == "A"
    assert one_cluster(hierarchy, [5, 5, 5, 0])[0] == "B1"


def test_without_a_hierarchy_distances_are_0_or_1(from_rows: Any) -> None:
    hierarchy = from_rows("x", [("a", "*"), ("b", "*"), ("c", "*")])
    assert one_cluster(hierarchy, [0, 0, 1]) == ("a", pytest.approx(1))


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_centroids_and_errors_are_those_of_the_definitions(
    data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace
) -> None:
    task = data.draw(micro.tasks(drawn.tables, "mdav"))
    space = space_of(task)
    n = space.records
    labels = np.unique(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    found = release_centroids(space, task.hierarchies, labels.astype(np.int64), k=1)
    slow = micro.slow(space.codes, task.hierarchies)
    for label in set(labels.tolist()):
        members = np.flatnonzero(labels == label).tolist()
        center = slow.center(members)
        for i in members:
            assert found.errors[i] == pytest.approx(slow.square(center, slow.point(i)), abs=1e-12)
        for column in slow.nominal:
            level, code = center[column]
            value = task.hierarchies[column].values[level][code]
            released = found.values[column][found.codes[members[0], column]]
            assert (value is None) == (released is None)
            assert str(value) == str(released)
        for column in slow.numeric:
            known = task.hierarchies[column].coordinates[space.codes[members, column]]
            released = found.values[column][found.codes[members[0], column]]
            if 2 * np.isnan(known).sum() > len(members):
                assert released is None
            else:
                assert float(str(released)) == pytest.approx(np.nanmean(known), abs=0.05 + 1e-9)


@given(height=st.integers(1, 6), data=st.data())
def test_the_semantic_distance_is_a_normalized_one(height: int, data: st.DataObject) -> None:
    levels = data.draw(st.tuples(st.integers(0, height - 1), st.integers(0, height - 1)))
    meeting = data.draw(st.integers(max(levels), height - 1))
    found = semantic_distance(height, levels, meeting)
    assert 0 <= found < 1
    assert found == semantic_distance(height, (levels[1], levels[0]), meeting)
    assert (found == 0) == (levels == (meeting, meeting))


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_the_excess_is_by_how_much_a_limit_is_missed(
    data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace
) -> None:
    task = data.draw(micro.tasks(drawn.tables, "merge"))
    space = space_of(task)
    members = sorted(data.draw(st.sets(st.integers(0, space.records - 1), min_size=1)))
    rows, label = space.order[members], np.zeros(len(members), np.int64)
    worst = -1.0
    for limit, values in zip(task.constraints.sensitive, task.by_record.sensitive, strict=True):
        codes, wanted = values[rows], limit.diversity
        if limit.t is not None:
            options: Any = {"distance": limit.distance, "lookups": limit.lookups}
            worst = max(worst, t_closeness(codes, label, whole=limit.whole, m=1, **options)[0] - limit.t)
        if wanted is None:
            continue
        if wanted.kind == "recursive":
            ratio = recursive_ratio(codes, label, l=int(wanted.l), m=1)[0]
            worst = max(worst, 1 - (wanted.c or 0) / ratio)
        else:
            measured = {"distinct": distinct_l, "entropy": entropy_l}[wanted.kind](codes, label, m=1)[0]
            worst = max(worst, 1 - measured / wanted.l)
    found = judge(make_limits(space, rules_of(task.constraints)), np.array(members))[1]
    assert found == pytest.approx(worst, abs=1e-12)
