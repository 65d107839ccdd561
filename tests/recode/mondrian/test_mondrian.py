"""Mondrian from records to a recoding: k, the loss by its definition, missing values, order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.task import Constraints, Recoding, Task
from tests.example_counts import examples_of
from tests.recode.asking import ask, mondrian_recoding, parts_of


def cut(
    codes: np.ndarray, hierarchies: Sequence[Any], *, k: int, loss: str, relaxed: bool = False
) -> Recoding:
    """Recode records by Mondrian, k alone."""
    return mondrian_recoding(task_of(codes, hierarchies, k, loss, relaxed))


def task_of(codes: np.ndarray, hierarchies: Sequence[Any], k: int, loss: Any, relaxed: bool) -> Task:
    name = "mondrian_relaxed" if relaxed else "mondrian"
    return ask(codes, tuple(hierarchies), Constraints(k, 0), name, loss)


def slow_cell_loss(hierarchy: Hierarchy, column: np.ndarray, members: np.ndarray, loss: str) -> Fraction:
    """What one record of a class loses in one column, from the definitions ([methods 9.1])."""
    leaves = sorted(set(members.tolist()))
    d, h = hierarchy.leaves, hierarchy.height
    if len(leaves) == 1:
        return Fraction(0)
    level = next(lv for lv, lookup in enumerate(hierarchy.lookups) if len(set(lookup[leaves])) == 1)
    places = hierarchy.coordinates
    if hierarchy.ordered:
        places = np.arange(d, dtype=float)
        places[-1] = np.nan if hierarchy.has_missing else d - 1
    if places is None:
        below = int((hierarchy.lookups[level] == hierarchy.lookups[level][leaves[0]]).sum())
        return (
            Fraction(level, h - 1)
            if loss == "precision"
            else (Fraction(below, d) - Fraction(1, d)) / (1 - Fraction(1, d))
        )
    numbers = places[leaves]
    if np.isnan(numbers).any():
        return Fraction(1)
    if loss == "precision":
        table = places[column]
        return Fraction(numbers.max() - numbers.min()) / Fraction(np.nanmax(table) - np.nanmin(table))
    inside = (places >= numbers.min()) & (places <= numbers.max())
    return (Fraction(int(inside.sum()), d) - Fraction(1, d)) / (1 - Fraction(1, d))


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("loss", ["precision", "granularity"])
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_loss_and_classes_are_what_the_definitions_say(
    data: st.DataObject, drawn: SimpleNamespace, loss: Any, relaxed: bool
) -> None:
    codes, hierarchies = data.draw(drawn.tables(most=25))
    hierarchies = [
        h if h.coordinates is not None else replace(h, ordered=data.draw(st.booleans())) for h in hierarchies
    ]
    weights = tuple(data.draw(st.sampled_from([1.0, 2.0, 0.5])) for _ in hierarchies)
    k = data.draw(st.integers(1, len(codes)))
    task = replace(task_of(codes, hierarchies, k, loss, relaxed), weights=weights)
    recoding = mondrian_recoding(task)
    labels, _ = parts_of(task)
    per_class = [
        slow_cell_loss(hierarchy, codes[:, column], codes[labels == label, column], loss)
        * int((labels == label).sum())
        * Fraction(weights[column])
        for label in set(labels.tolist())
        for column, hierarchy in enumerate(hierarchies)
    ]
    whole = len(codes) * Fraction(sum(weights))
    assert recoding.loss == pytest.approx(float(sum(per_class) / whole), abs=1e-12)
    assert equivalence_classes(recoding.codes).k >= k
    assert (recoding.suppressed, recoding.levels, recoding.checked) == (0, None, 0)
    for label in set(labels.tolist()):
        assert len({tuple(row) for row in recoding.codes[labels == label].tolist()}) == 1
    for column, values in enumerate(recoding.values):
        assert sorted(set(recoding.codes[:, column].tolist())) == list(range(len(values)))
        assert len(set(values)) == len(values)


def people() -> tuple[np.ndarray, list[Hierarchy]]:
    ages = np.array([21, 24, 26, 43, 47, None], object)
    lookups = (np.arange(6), np.array([0, 0, 0, 1, 1, 2]), np.zeros(6, np.int64))
    bands = np.array(["20s", "40s", None], object)
    age = Hierarchy(
        "age", lookups, (ages, bands, np.array(["any"], object)), np.append(ages[:5], np.nan).astype(float)
    )
    sex = Hierarchy(
        "sex", (np.arange(2), np.zeros(2, np.int64)), (np.array(["F", "M"], object), np.array(["*"], object))
    )
    return np.array([[0, 0], [1, 0], [2, 0], [3, 1], [4, 1], [3, 1], [5, 1], [5, 1]]), [age, sex]


def test_a_worked_table(brute: SimpleNamespace) -> None:
    """k = 2. Both columns span everything, so age, the first, is cut at its median, 43: 5 | 3 records. On the
    left sex is the wider one (1 against 22/26): 3 | 2. The right has 3 records, too few to be cut: 47 and
    missing.
    """
    codes, hierarchies = people()
    recoding = cut(codes, hierarchies, k=2, loss="precision")
    young, middle, mixed = ("[21, 26]", "F"), (43, "M"), ("any", "M")
    assert brute.released(recoding) == [young, young, young, middle, mixed, middle, mixed, mixed]
    assert recoding.loss == pytest.approx((3 * 5 / 26 + 3 * 1) / 16)


def test_missing_values_alone_are_released_as_missing(brute: SimpleNamespace) -> None:
    codes, hierarchies = people()
    rows = codes[[0, 1, 6, 7]] * [1, 0]
    recoding = cut(rows, hierarchies, k=2, loss="granularity")
    assert brute.released(recoding) == [("[21, 24]", "F")] * 2 + [(None, "F")] * 2
    assert recoding.loss == pytest.approx(2 * (1 / 5) / 4 / 2)


def test_tens_of_thousands_of_equal_records_are_counted() -> None:
    codes, hierarchies = people()
    recoding = cut(np.tile(codes, (10_000, 1)), hierarchies, k=5_000, loss="granularity")
    assert recoding.loss == 0
    assert equivalence_classes(recoding.codes).sizes.sum() == 80_000


def test_no_columns_is_one_class() -> None:
    recoding = cut(np.zeros((3, 0), np.int64), [], k=2, loss="precision")
    assert (recoding.codes.shape, recoding.values, recoding.loss) == ((3, 0), (), 0)
