"""Mondrian's cuts under k, t and l: a slow twin from the definitions, and its promises one by one."""

from __future__ import annotations

import signal
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.constraints import broken_classes, rules_of
from anon_pipeline.recode.mondrian import division as classes
from anon_pipeline.recode.mondrian import tries
from anon_pipeline.recode.ranges import Axis, make_axis
from anon_pipeline.recode.task import Constraints, Diversity, Task
from tests.example_counts import examples_of
from tests.recode.asking import Secret, ask, held, limit_of, mondrian_recoding, parts_of
from tests.recode.asking import again as reordered

TREE = (np.arange(5), np.array([0, 0, 1, 1, 2]), np.zeros(5, np.int64))
DIVERSITIES = (
    [Diversity("distinct", x) for x in (1, 2, 3)]
    + [Diversity("entropy", x) for x in (1.0, 1.9, 2.5)]
    + [Diversity("recursive", x, c) for x in (1, 2, 3) for c in (0.7, 1.0, 2.0)]
)
both = pytest.mark.parametrize("recoder", ["mondrian", "mondrian_relaxed"])


@st.composite
def limited(draw: st.DrawFn, n: int) -> tuple[Secret, ...]:
    """Draw up to three sensitive columns, some with records that are gone."""
    found = []
    for name in "stu"[: draw(st.integers(0, 3))]:
        codes = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), np.int64)
        gone = np.array(draw(st.lists(st.sampled_from([0, 0, 0, 1]), min_size=5, max_size=5)), np.int64)
        distance: Any = draw(st.sampled_from(["ordered", "equal", "hierarchical"]))
        lookups = TREE if distance == "hierarchical" else None
        t = draw(st.none() | st.sampled_from([0.1, 0.2, 0.3, 0.5, 0.8]))
        diversity = draw(st.none() | st.sampled_from(DIVERSITIES))
        whole = np.bincount(codes, minlength=5) + gone
        found.append(limit_of(name, codes, whole, distance, lookups, t, diversity))
    return tuple(found)


@st.composite
def tasks(draw: st.DrawFn, drawn: SimpleNamespace, recoder: str, most: int = 24) -> Task:
    codes, hierarchies = draw(drawn.tables(least=4, most=most))
    limits = Constraints(draw(st.integers(1, 4)), draw(st.integers(0, 5)), draw(limited(len(codes))))
    return ask(codes, tuple(hierarchies), limits, recoder)


def canonical(task: Task) -> list[int]:
    """Records by tuple; within one, the kinds of sensitive values dealt out evenly."""
    kinds = [
        (tuple(row), tuple(int(values[i]) for values in task.by_record.sensitive))
        for i, row in enumerate(task.by_record.codes.tolist())
    ]
    sizes, seen, keys = Counter(kinds), Counter[Any](), []
    for kind in kinds:
        share = Fraction(2 * seen[kind] + 1, 2 * sizes[kind])
        keys.append((kind[0], share, kind[1]))
        seen[kind] += 1
    return sorted(range(len(kinds)), key=lambda i: keys[i])


class Twin:
    """Mondrian from [methods 4], record by record, classes measured by `risk` alone."""

    def __init__(self, task: Task, axes: list[Axis]) -> None:
        self.task, self.axes = task, axes
        self.places = [axis.positions[task.by_record.codes[:, j]].tolist() for j, axis in enumerate(axes)]

    def allows(self, left: list[int], right: list[int]) -> bool:
        labels = np.full(len(self.task.by_record.codes), -1)
        labels[left], labels[right] = 0, 1
        return (
            bool(left and right) and not broken_classes(self.task.constraints, held(self.task, labels)).any()
        )

    def width(self, axis: Axis, low: int, high: int) -> float:
        if np.isnan(axis.coordinates[high]):
            return 1.0
        return (axis.coordinates[high] - axis.coordinates[low]) / axis.span if axis.span else 0.0

    def halves(self, members: list[int], column: int) -> tuple[list[int], list[int]] | None:
        places, n = self.places[column], len(members)
        ordered = sorted(members, key=lambda i: places[i])
        between = [s for s in range(1, n) if places[ordered[s - 1]] != places[ordered[s]]]
        median = next((s for s in between if 2 * s >= n), 0)
        half = (n + 1) // 2
        orders = [(median, between)]
        if self.task.recoder == "mondrian_relaxed":
            orders.append((half, list(range(1, n))))
        for first, cuts in orders:
            for s in sorted(cuts, key=lambda s: (s != first, abs(2 * s - n), s)):
                left = set(ordered[:s])
                parts = [i for i in members if i in left], [i for i in members if i not in left]
                if self.allows(*parts):
                    return parts
        return None

    def partition(self, members: list[int]) -> list[list[int]]:
        order = []
        for column, axis in enumerate(self.axes):
            seen = sorted({self.places[column][i] for i in members})
            if len(seen) > 1:
                order.append((-self.width(axis, seen[0], seen[-1]), column))
        for _, column in sorted(order):
            halves = self.halves(members, column)
            if halves is not None:
                return [part for half in halves for part in self.partition(half)]
        return [members]


def axes_of(task: Task) -> list[Axis]:
    return [make_axis(hierarchy, task.by_record.codes[:, j]) for j, hierarchy in enumerate(task.hierarchies)]


def contents(task: Task, labels: np.ndarray) -> list[list[tuple[Any, ...]]]:
    """What each class holds, class after class."""
    rows = np.column_stack([task.by_record.codes, *task.by_record.sensitive])
    return [sorted(map(tuple, rows[labels == label].tolist())) for label in range(labels.max() + 1)]


@both
@settings(max_examples=examples_of(250))
@given(data=st.data())
def test_classes_equal_the_slow_twin(data: st.DataObject, drawn: SimpleNamespace, recoder: str) -> None:
    task = data.draw(tasks(drawn, recoder))
    whole = np.zeros(len(task.by_record.codes), np.int64)
    if broken_classes(task.constraints, held(task, whole)).any():
        with pytest.raises(InfeasibleError):
            mondrian_recoding(task)
        return
    axes = axes_of(task)
    twin = Twin(task, axes).partition(canonical(task))
    labels = np.empty(len(task.by_record.codes), np.int64)
    for label, members in enumerate(twin):
        labels[members] = label
    portion = data.draw(st.sampled_from([1, 50, 2**24]))
    with mock.patch.object(classes, "CELLS_AT_ONCE", portion):
        parts, found = parts_of(task, axes)
    assert contents(task, parts) == contents(task, labels)
    assert found.sizes.tolist() == [len(members) for members in twin]
    for j, axis in enumerate(axes):
        positions = [axis.positions[task.by_record.codes[members, j]] for members in twin]
        assert found.low[j].tolist() == [own.min() for own in positions]
        assert found.high[j].tolist() == [own.max() for own in positions]


@both
@settings(max_examples=examples_of(150))
@given(data=st.data())
def test_what_is_released_keeps_every_limit_in_any_row_order(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, recoder: str
) -> None:
    task = data.draw(tasks(drawn, recoder))
    order = np.array(data.draw(st.permutations(range(len(task.by_record.codes)))))
    other = reordered(task, order)
    try:
        recoding = mondrian_recoding(task)
    except InfeasibleError as error:
        with pytest.raises(InfeasibleError) as again:
            mondrian_recoding(other)
        assert str(again.value) == str(error)
        return
    twin = mondrian_recoding(other)
    assert not broken_classes(task.constraints, held(task, equivalence_classes(recoding.codes).labels)).any()
    assert (recoding.suppressed, recoding.loss) == (0, twin.loss)
    sensitive = [values.tolist() for values in task.by_record.sensitive]
    again = [values.tolist() for values in other.by_record.sensitive]
    one = Counter(zip(brute.released(recoding), *sensitive, strict=True))
    assert one == Counter(zip(brute.released(twin), *again, strict=True))


def line(d: int) -> Hierarchy:
    leaves = np.empty(d, object)
    leaves[:] = [str(value) for value in range(d)]
    lookups = (np.arange(d), np.zeros(d, np.int64))
    return Hierarchy("x", lookups, (leaves, np.array(["*"], object)), np.arange(d, dtype=float))


def cut_along(
    values: list[int], secrets: list[int], recoder: str = "mondrian", **limit: Any
) -> list[list[int]]:
    """The sensitive values of each class of a table with one number."""
    codes, secret = np.array(values)[:, None], np.array(secrets, np.int64)
    limits = Constraints(2, 0, (limit_of("s", secret, np.bincount(secret), **limit),))
    task = ask(codes, (line(max(values) + 1),), limits, recoder)
    labels, _ = parts_of(task)
    return [sorted(secret[labels == label].tolist()) for label in range(labels.max() + 1)]


def test_a_far_cut_is_found_where_no_near_one_is_allowable() -> None:
    """0 1 | 0 0 0 0 1 1 1, recursive (2, 2): the cuts at 5, 4, 3 and 6 leave too many zeros on the left."""
    secrets = [0, 1, 0, 0, 0, 0, 1, 1, 1]
    found = cut_along(list(range(9)), secrets, diversity=Diversity("recursive", 2, 2.0))
    assert found == [[0, 1], [0, 0, 0, 0, 1, 1, 1]]


def test_relaxed_cuts_deal_sensitive_values_out() -> None:
    """The first six of ten equal records are half 0, half 1, although all zeros come first in the table."""
    found = cut_along([0] * 10 + [1] * 2, [0] * 5 + [1] * 5 + [0, 0], "mondrian_relaxed", t=0.2)
    assert found == [[0, 0, 0, 1, 1, 1], [0, 0, 1], [0, 0, 1]]


def test_the_whole_table_must_keep_the_limits() -> None:
    secret = np.array([0, 0, 0, 1], np.int64)
    limit = limit_of("income", secret, np.array([3, 1]), diversity=Diversity("entropy", 2.0))
    task = ask(np.array([[0], [0], [1], [1]]), (line(2),), Constraints(2, 1, (limit,)), "mondrian")
    with pytest.raises(InfeasibleError) as raised:
        mondrian_recoding(task)
    assert str(raised.value) == (
        "No recoding keeps k = 2, entropy l = 2 in income: l_diversity.income fails for more "
        "records than the 1 that may be suppressed. Mondrian suppresses no record, so "
        "the whole table must keep every limit: relax that one, or try a recoder that suppresses. "
        "On a terminal, --show-values says by how much."
    )
    assert raised.value.exact == (
        "l_diversity.income fails for 4 of 4 records (its worst class has l = 1.755). Largest k "
        "within the suppression limit: 4. Keeping all limits would suppress 100.00% of the records."
    )


def test_records_gone_before_can_make_t_impossible() -> None:
    """Whole: half 0, half 1; all that is left is 0."""
    limit = limit_of("s", np.zeros(4, np.int64), np.array([4, 4]), t=0.4)
    task = ask(np.zeros((4, 1), np.int64), (line(1),), Constraints(2, 0, (limit,)), "mondrian", gone=4)
    with pytest.raises(InfeasibleError, match=r"t_closeness\.s fails for"):
        mondrian_recoding(task)


@both
def test_looser_t_makes_more_classes(recoder: str) -> None:
    rng = np.random.default_rng(4)
    values = np.sort(rng.integers(0, 200, 2000))
    secrets = np.clip(values // 40 + rng.integers(-1, 2, 2000), 0, 4)
    found = [
        len(cut_along(values.tolist(), secrets.tolist(), recoder, distance="ordered", t=t))
        for t in (0.2, 0.25, 0.3, 0.35, 1.0)
    ]
    assert found == sorted(found)
    assert len(set(found)) >= 4


@both
def test_without_limits_on_columns_the_general_search_cuts_as_the_fast_one(recoder: str) -> None:
    """A limit that everything keeps (t = 1) goes the long way and must come to the same classes."""
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 12, (400, 3))
    free = ask(codes, (line(12),) * 3, Constraints(5, 0), recoder)
    kept = limit_of("s", np.zeros(400, np.int64), np.array([400]), t=1.0)
    bound = ask(codes, (line(12),) * 3, Constraints(5, 0, (kept,)), recoder)
    (one, _), (other, _) = (parts_of(task) for task in (free, bound))
    assert one.tolist() == other.tolist()


def test_many_more_sensitive_values_than_a_class_has_are_sorted() -> None:
    """Sparse and dense counting agree: the same table with values 0…9 and with ones far apart."""
    rng = np.random.default_rng(6)
    values, secrets = rng.integers(0, 50, 300).tolist(), rng.integers(0, 10, 300)
    near = cut_along(values, secrets.tolist(), distance="ordered", t=0.2)
    far = cut_along(values, (secrets * 5000).tolist(), distance="ordered", t=0.2)
    assert [[value // 5000 for value in own] for own in far] == near
    assert len(near) > 3


def test_ctrl_c_is_heard_between_two_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def interrupted(*arguments: Any) -> bool:
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return bool(advance(*arguments))

    advance = classes.advance
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    monkeypatch.setattr(classes, "advance", interrupted)
    monkeypatch.setattr(classes, "CELLS_AT_ONCE", 100)
    codes = np.random.default_rng(0).integers(0, 50, (2000, 2))
    task = ask(codes, (line(50), line(50)), Constraints(2, 0), "mondrian")
    try:
        with pytest.raises(KeyboardInterrupt):
            parts_of(task)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(calls) == 3


def nearest(n: int, allowed: int, most: int) -> tuple[int, int]:
    """Try the cuts of n entries of which the class is 2-diverse only on both sides of one place."""
    codes = np.zeros((1, n), np.int32)
    codes[0, allowed - 1 : allowed + 1] = 1
    limit = limit_of(
        "s", codes[0].astype(np.int64), np.bincount(codes[0]), diversity=Diversity("distinct", 2)
    )
    tallies = tries.tally_class(codes, np.ones(n, np.int64), np.zeros(2, np.int64))
    at = np.arange(2, n - 1)
    rules = rules_of(Constraints(2, 0, (limit.limit,)))
    left, tried = tries.try_nearest(rules, tallies, np.arange(n), (at, at, (n + 1) // 2 - 2), most)
    return int(left), int(tried)


def test_near_cuts_are_tried_one_by_one_and_far_ones_ever_fewer() -> None:
    n, half = 400, 200
    steps = [0, 1]
    while steps[-1] < n:
        steps.append(steps[-1] + 1 + steps[-1] // tries.EVERY)
    assert steps[: tries.EVERY + 2] == [*range(tries.EVERY + 1), tries.EVERY + 2]
    at = set(range(2, n - 1))
    want = at & ({half - step for step in steps} | {half + step for step in steps})
    assert {place for place in at if nearest(n, place, 10**6)[0] == place} == want
    assert len(want) < len(at) - 150
    assert nearest(n, half, 1) == (half, 1)
    assert nearest(n, half - 1, 10) == (half - 1, 2)
    assert nearest(n, half + 1, 10) == (half + 1, 3)
    assert nearest(n, half - 20, 10) == (0, 10)


def test_limits_on_columns_compile_nothing_anew() -> None:
    """One signature for all tasks: compiling takes seconds in the middle of a run."""
    cut_along([0, 1, 2, 3], [0, 0, 1, 1], t=1.0)
    cut_along(
        [0, 1, 2, 3], [0, 0, 1, 1], "mondrian_relaxed", distance="ordered", diversity=Diversity("entropy", 1)
    )
    free = ask(np.array([[0], [1]]), (line(2),), Constraints(1, 0), "mondrian")
    mondrian_recoding(free)
    assert len(classes.advance.signatures) == 1
