"""Numbers of records: equal where codes are, in their order; any slice, only those that count."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.division import record_keys
from anon_pipeline.division.record_keys import Keys, Levels

COLUMNS = [np.array([2, 0, 1, 2, 0], np.int8), np.array([0, 3, 3, 0, 2], np.int16)]
LOOKUPS = [np.array([0, 0, 1], np.int8), np.arange(4)]
ROWS = [(1, 0), (0, 3), (0, 3), (1, 0), (0, 2)]


def test_codes_are_generalized_when_they_are_asked_for() -> None:
    levels = Levels(COLUMNS, LOOKUPS)
    assert levels.widths == [2, 4]
    assert [own.tolist() for own in levels.some(slice(1, 4))] == [[0, 0, 1], [3, 3, 0]]


def test_records_without_a_value_do_not_count() -> None:
    levels = Levels(COLUMNS, LOOKUPS, np.array([False, True, False, False, True]))
    assert levels.select(np.arange(3), slice(1, 4)).tolist() == [1, 2]
    assert Keys(levels, 1).some(np.array([0, 1, 3])).tolist() == [4, 4]


@pytest.mark.parametrize("largest_key", [2**62, 7], ids=["packed", "grouped"])
@pytest.mark.parametrize("without", [None, [False, True, False, False, False]])
def test_numbers_sort_as_codes_do(
    largest_key: int, without: list[bool] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_keys, "_LARGEST_KEY", largest_key)
    mask = None if without is None else np.array(without)
    keys = Keys(Levels(COLUMNS, LOOKUPS, mask), 1)
    found = keys.some(slice(None))
    rows = [row for row, gone in zip(ROWS, without or [False] * 5, strict=True) if not gone]
    assert [tuple(row) for row in keys.rows(found).tolist()] == rows
    assert [rows[place] for place in np.argsort(found, kind="stable")] == sorted(rows)
    assert found.max() < keys.space


def test_values_of_other_columns_must_fit_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_keys, "_LARGEST_KEY", 16)
    assert Keys(Levels(COLUMNS, LOOKUPS), 2).space == 8
    assert Keys(Levels(COLUMNS, LOOKUPS), 3).space == 3
