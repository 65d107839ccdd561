"""Originals sorted for attackers: equal ones once, with the people of each; remembered."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.risk import informed_table as module
from anon_pipeline.risk.informed_table import InformedTables, Line, informed_table, ranks_in

ORIGINALS = np.array([[5.0, 1.0], [5.0, 1.0], [2.0, 9.0], [5.0, 1.0], [7.0, 3.0]])
LABELS = np.array([1, 1, 0, 0, -1])


def test_equal_originals_of_a_class_are_one_row() -> None:
    found = informed_table(ORIGINALS, LABELS)
    assert found.order.tolist() == [0, 1] and found.rows.tolist() == [[2, 9], [5, 1], [5, 1]]
    assert (found.counts.tolist(), found.labels.tolist()) == ([1, 1, 2], [0, 0, 1])
    assert (found.places.tolist(), found.classes.tolist()) == ([2, 2, 0, 1, -1], [0, 2, 3])
    assert found.ranks.tolist() == [[1, 7], [5, 3], [5, 3]]  # doubled: of equal ones the middle


def test_the_rows_of_each_person_are_listed_as_often_as_they_have_records() -> None:
    found = informed_table(ORIGINALS, LABELS, np.array([3, 3, 3, 0, 0]))
    theirs = [found.theirs[found.begin[who] : found.begin[who + 1]].tolist() for who in range(4)]
    assert theirs[0] == [1] and sorted(theirs[3]) == [0, 2, 2] and theirs[1] == theirs[2] == []


def test_the_column_with_most_values_comes_first() -> None:
    assert informed_table(ORIGINALS[:, ::-1] * [[1, 0]], LABELS).order.tolist() == [0, 1]
    assert informed_table(ORIGINALS * [[0, 1]], LABELS).order.tolist() == [1, 0]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_only_records_without_a_class_may_lack_a_value(value: float) -> None:
    originals = ORIGINALS.copy()
    originals[4, 0] = value
    informed_table(originals, LABELS)
    originals[0, 0] = value
    with pytest.raises(ValueError, match="finite values in every class"):
        informed_table(originals, LABELS)


def test_ranks_of_values_between_others() -> None:
    line = Line(np.array([1.0, 2.0, 5.0]), np.array([0, 1, 3, 4]))
    assert ranks_in(line, np.array([0.0, 1.0, 2.0, 3.0, 9.0])).tolist() == [0, 1, 4, 6, 8]
    assert ranks_in(Line(np.zeros(0), np.array([0])), np.array([3.0])).tolist() == [0]


def test_rows_whose_numbers_fit_into_no_key_are_sorted_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    originals, labels = random.integers(0, 4, (300, 3)).astype(np.float64), random.integers(-1, 5, 300)
    by_key = informed_table(originals, labels)
    monkeypatch.setattr(module, "_LARGEST_KEY", 1)
    by_columns = informed_table(originals, labels)
    for name in ("rows", "counts", "ranks", "places", "classes", "labels", "theirs", "begin"):
        assert np.array_equal(getattr(by_key, name), getattr(by_columns, name)), name
    order = np.lexsort((*by_key.rows[:, ::-1].T, by_key.labels))
    assert order.tolist() == list(range(len(by_key.rows)))


def test_the_last_table_is_remembered() -> None:
    tables = InformedTables()
    first = tables.table(ORIGINALS, LABELS)
    assert tables.table(ORIGINALS.copy(), LABELS) is first
    other = tables.table(ORIGINALS + 1, LABELS)
    assert other is not first and tables.table(ORIGINALS, np.zeros(5, np.int64)) is not other
