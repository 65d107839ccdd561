"""Titles before the names of the columns are found, and no record is taken for one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.draft.profile.title_lines import count_title_rows

HEADER = ["id", "town", "illness"]
RECORDS = [["1", "Bern", "flu"], ["2", "Genf", ""], ["3", "", "flu"], ["4", "Bern", "cold"], ["5", "x", "y"]]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ([], 0),
        ([["Report"]], 1),
        ([["Report", "", ""], [], ["as of 2026", "", ""]], 3),
        ([["Report", "of the practice", ""]], 0),  # two of three: it may be a record
        ([["a", "b", "c"]], 0),  # names of its own, whatever comes after
    ],
)
def test_rows_before_the_names(title: list[list[str]], expected: int) -> None:
    assert count_title_rows([*title, HEADER, *RECORDS]) == expected


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [["Report"]],
        [["Report"], HEADER, *RECORDS[:4]],  # too few records to tell
        [["Report"], ["id", "", "illness"], *RECORDS],  # a column without a name
        [["Report"], ["id", "id", "illness"], *RECORDS],
        [["Report"], ["id", "Bern", "illness"], *RECORDS],  # Bern comes again: a record
        [["Report"], ["7", "Basel", "none"], *RECORDS],  # no letter in the first one: a record
        [["Report"], ["a", "b"], *[["1", "2"]] * 9],  # two columns
        [["Report"], [*HEADER, "more"], *RECORDS],
        [["Report"], *[[f"P{i}", f"Dr. {'abcdefgh'[i]}", "Bern"] for i in range(8)]],  # no names at all
        [["first", "", ""], *[[f"P{i}", f"{i} May 1940", f"{i},5 kg"] for i in range(8)]],
        [["id,town,illness"], *[[f"P{i}", "x", "y"] for i in range(8)]],  # names, by another separator
        [["id;town;illness"], ["a", "b", "c"], *RECORDS],
    ],
)
def test_what_may_be_records_is_no_title(rows: list[list[str]]) -> None:
    assert count_title_rows(rows) == 0


@given(st.lists(st.lists(st.sampled_from(["", "a", "b"]), min_size=4, max_size=4), min_size=5, max_size=20))
def test_a_table_of_records_that_repeat_has_no_title(records: Sequence[list[str]]) -> None:
    """Without a row of names that are in no record, nothing is skipped."""
    assert count_title_rows([*records, *records]) == 0
