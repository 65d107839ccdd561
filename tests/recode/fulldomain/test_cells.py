"""Cells: fewer records go whole, every class keeps all constraints, and no kept record is touched."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, Recoding, Task, recode
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.fulldomain import cells as module
from anon_pipeline.recode.fulldomain.cells import blank_cells, cheapest_subsets
from anon_pipeline.recode.task import Diversity
from tests.example_counts import examples_of
from tests.recode.asking import again, ask, counts_of, held, limit_of

FULL_DOMAIN = tuple(n for n, r in RECODERS.items() if r.family.name == "full_domain")


def with_stars(data: st.DataObject, task: Task) -> Task:
    """Let some hierarchies have the top's text on a level below it, too."""
    changed = []
    for hierarchy in task.hierarchies:
        values = [value.copy() for value in hierarchy.values]
        if hierarchy.height > 1 and data.draw(st.booleans()):
            values[data.draw(st.integers(0, hierarchy.height - 2))][0] = values[-1][0]
        changed.append(replace(hierarchy, values=tuple(values)))
    return replace(task, hierarchies=tuple(changed))


def both(data: st.DataObject, drawn: SimpleNamespace, **how: Any) -> tuple[Task, Recoding, Recoding]:
    """Draw a question, and answer it without and with cells."""
    recoder = data.draw(st.sampled_from(FULL_DOMAIN))
    task = with_stars(data, data.draw(drawn.questions(recoder=recoder, **how)))
    try:
        return task, recode(task), recode(replace(task, cells=True))
    except InfeasibleError:
        assume(False)
        raise


def texts(brute: SimpleNamespace, recoding: Recoding) -> list[Any]:
    """What is published for each record, as text; None where it is suppressed."""
    return [None if row is None else tuple(map(str, row)) for row in brute.released(recoding)]


@settings(deadline=None, max_examples=examples_of(400))
@given(data=st.data())
def test_fewer_records_go_and_all_constraints_hold(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace
) -> None:
    task, whole, cells = both(data, drawn)
    rows = texts(brute, cells)
    names = sorted({row for row in rows if row is not None})
    labels = np.array([-1 if row is None else names.index(row) for row in rows], np.int64)
    assert len(names) > 0
    assert not broken_classes(task.constraints, held(task, labels)).any()
    assert int((labels < 0).sum()) == cells.suppressed <= whole.suppressed
    if task.recoder == "optimal":  # the node is the best one with cells, see test_cell_search
        return
    assert cells.levels == whole.levels
    for before, after in zip(texts(brute, whole), rows, strict=True):
        assert before is None or before == after
    left = whole.suppressed
    if not task.constraints.sensitive:
        assert cells.suppressed == 0 or left < task.constraints.k


@settings(deadline=None, max_examples=examples_of(300))
@given(data=st.data())
def test_blanked_cells_are_counted_and_cost_as_suppressed_ones(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace
) -> None:
    task, whole, cells = both(data, drawn)
    n, blanked, losses = len(task.by_record.codes), 0, []
    for j, (hierarchy, level) in enumerate(zip(task.hierarchies, cells.levels or (), strict=True)):
        costs = []
        below = Counter(hierarchy.lookups[level].tolist())
        for leaf, row in zip(task.by_record.codes[:, j], brute.released(cells), strict=True):
            code = int(hierarchy.lookups[level][leaf])
            gone = row is None
            blank = not gone and str(row[j]) != str(hierarchy.values[level][code])
            if blank:
                assert row[j] == hierarchy.values[-1][0]
            blanked += blank
            h, d = hierarchy.height, hierarchy.leaves
            own, full = (level, h - 1) if task.loss == "precision" else (below[code] - 1, d - 1)
            costs.append(Fraction(0) if full == 0 else Fraction(full if gone or blank else own, full))
        losses.append(sum(costs) / n)
    weights = [Fraction(str(weight)) for weight in task.weights] or [Fraction(1)] * len(losses)
    mean = sum(weight * loss for weight, loss in zip(weights, losses, strict=True)) / sum(weights)
    assert cells.cells == blanked
    assert cells.loss == pytest.approx(float((mean * n + task.gone) / (n + task.gone)), abs=1e-12)
    assert cells.loss <= whole.loss + 1e-12


@pytest.mark.parametrize("loss", ["precision", "granularity", "discernibility", "entropy"])
@settings(deadline=None, max_examples=examples_of(40))
@given(data=st.data())
def test_the_row_order_does_not_matter(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, loss: Any
) -> None:
    task, _, cells = both(data, drawn, loss=loss)
    order = np.array(data.draw(st.permutations(range(len(task.by_record.codes)))))
    other = recode(replace(again(task, order), cells=True))
    rows = brute.released(cells)
    assert [rows[record] for record in order] == brute.released(other)
    assert (cells.loss, cells.cells, cells.suppressed) == (other.loss, other.cells, other.suppressed)


@given(st.lists(st.integers(0, 4), max_size=6))
def test_subsets_come_by_increasing_cost_each_once(costs: list[int]) -> None:
    exact = [Fraction(cost, 3) for cost in costs]
    found = list(cheapest_subsets(exact))
    every = [
        set_ for size in range(1, len(costs) + 1) for set_ in itertools.combinations(range(len(costs)), size)
    ]
    assert sorted(found) == sorted(every)
    sums = [sum(exact[item] for item in set_) for set_ in found]
    assert sums == sorted(sums)


def asked(rows: list[tuple[str, ...]], hierarchies: list[Hierarchy], k: int, **how: Any) -> list[Any]:
    """Release records at the bottom of the lattice, with cells: what becomes of each."""
    leaf = [{value: code for code, value in enumerate(h.values[0])} for h in hierarchies]
    codes = np.array([[leaf[j][value] for j, value in enumerate(row)] for row in rows])
    task = ask(codes, tuple(hierarchies), Constraints(k, len(rows) - 1, **how), recoder="ola", cells=True)
    blanked = blank_cells(task, counts_of(task), [0] * len(hierarchies))
    found = blanked.codes[blanked.labels][task.by_record.labels].tolist()
    return [
        None if row[0] < 0 else "".join(str(blanked.values[j][code]) for j, code in enumerate(row))
        for row in found
    ]


@pytest.fixture
def abc(from_rows: Any) -> list[Hierarchy]:
    return [from_rows(name, [(value, "*") for value in "abcd"]) for name in "xyz"]


def test_records_that_differ_in_one_column_lose_that_cell_alone(abc: list[Hierarchy]) -> None:
    rows = [tuple(row) for row in ("aaa", "aaa", "abc", "abd", "dca", "dda")]
    assert asked(rows, abc, 2) == ["aaa", "aaa", "ab*", "ab*", "d*a", "d*a"]


def test_one_that_is_left_over_finds_company_in_the_smallest_class_that_lets_it_in(
    abc: list[Hierarchy],
) -> None:
    """bcd agrees with no one; of two classes made before, the smaller one is blanked further."""
    rows = [tuple(row) for row in ("aaa", "aaa", "aba", "abb", "abc", "cda", "cdb", "bcd")]
    assert asked(rows, abc, 2) == ["aaa", "aaa", "ab*", "ab*", "ab*", "***", "***", "***"]


def test_fewer_than_k_without_company_go(abc: list[Hierarchy]) -> None:
    assert asked([tuple("aaa")] * 3 + [tuple("bcd"), tuple("dcb")], abc, 3) == ["aaa"] * 3 + [None] * 2


def test_a_star_that_is_a_value_already_is_the_same_class(from_rows: Any) -> None:
    """The kept class (*, a) takes the record (b, a) in, and is not torn."""
    x = from_rows("x", [("*", "*"), ("b", "*")])
    y = from_rows("y", [("a", "*"), ("b", "*")])
    assert asked([("*", "a")] * 2 + [("b", "a")], [x, y], 2) == ["*a"] * 3


def test_a_class_that_would_no_longer_keep_t_is_not_joined(from_rows: Any) -> None:
    x = from_rows("x", [("*", "*"), ("b", "*")])
    secret = limit_of("s", np.array([0, 1, 0, 0]), np.array([2, 2]), "equal", None, 0.2)
    rows = [("*",)] * 2 + [("b",)] * 2
    assert asked(rows, [x], 2, sensitive=(secret,)) == ["*", "*", None, None]


def test_classes_that_break_l_are_brought_together(abc: list[Hierarchy]) -> None:
    secret = limit_of("s", np.array([0, 1, 0, 0, 1, 1]), np.array([3, 3]), diversity=Diversity("distinct", 2))
    rows = [tuple(row) for row in ("aaa", "aaa", "bba", "bba", "bbc", "bbc")]
    assert asked(rows, abc, 2, sensitive=(secret,)) == ["aaa", "aaa"] + ["bb*"] * 4


def test_many_columns_are_tried_up_to_a_number_of_sets_and_all_at_last(
    monkeypatch: pytest.MonkeyPatch, abc: list[Hierarchy]
) -> None:
    monkeypatch.setattr(module, "_MOST_SUBSETS", 1)
    rows = [tuple(row) for row in ("aaa", "aaa", "abc", "abd")]
    assert asked(rows, abc, 2) == ["aaa", "aaa", "***", "***"]
    monkeypatch.setattr(module, "_MOST_SUBSETS", 3)
    assert asked(rows, abc, 2) == ["aaa", "aaa", "ab*", "ab*"]


def test_weights_say_which_cells_go_first(abc: list[Hierarchy]) -> None:
    """Either column would do: the lighter one is blanked."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    for weights, want in (((1.0, 2.0), [4, 0]), ((2.0, 1.0), [0, 4])):
        task = ask(codes, tuple(abc[:2]), Constraints(2, 4), recoder="ola", cells=True, weights=weights)
        blanked = blank_cells(task, counts_of(task), [0, 0])
        assert blanked.codes[0].tolist() == want
