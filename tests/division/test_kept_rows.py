"""Counting from kept rows gives the classes of the records; the fewest rows that fit are taken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.division.grouped_records import GroupedRecords, group_records
from anon_pipeline.division.kept_rows import KeptRows
from anon_pipeline.division.record_keys import Levels

LOOKUPS = (np.arange(6), np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 0, 1, 1]), np.zeros(6, np.int64))
"""Codes of six leaves on four levels, each a coarser one than that before."""


def grouped(codes: np.ndarray, levels: tuple[int, ...]) -> GroupedRecords:
    found = group_records(Levels([*codes.T], [LOOKUPS[level] for level in levels]), ())
    assert found is not None
    return found


def kept(records: int, *nodes: tuple[int, ...], codes: np.ndarray) -> KeptRows:
    rows = KeptRows(records)
    for levels in nodes:
        rows.keep(levels, grouped(codes, levels))
    return rows


@given(
    records=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40),
    below=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    above=st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_classes_of_rows_are_those_of_the_records(
    records: list[tuple[int, int]], below: tuple[int, int], above: tuple[int, int]
) -> None:
    codes = np.array(records, np.int64)
    wanted = tuple(max(pair) for pair in zip(below, above, strict=True))
    rows = kept(1000, below, codes=codes).below(wanted)
    assert rows is not None
    assert rows.weights.sum() == len(codes)
    own = rows.on([(LOOKUPS[one], LOOKUPS[other]) for one, other in zip(below, wanted, strict=True)])
    found, want = group_records(own, ()), grouped(codes, wanted)
    assert found is not None
    assert found.codes.tolist() == want.codes.tolist()
    assert found.sizes.tolist() == want.sizes.tolist()


CODES = np.array([[one, other] for one in range(6) for other in range(6)])


@pytest.mark.parametrize(
    ("wanted", "levels"),
    [((1, 2), (1, 1)), ((0, 1), (0, 1)), ((3, 0), None), ((3, 3), (2, 2))],
)
def test_the_fewest_rows_below_a_node_are_taken(
    wanted: tuple[int, int], levels: tuple[int, int] | None
) -> None:
    rows = kept(1000, (0, 1), (1, 1), (2, 2), codes=CODES).below(wanted)
    assert (None if rows is None else rows.levels) == levels


def test_at_most_one_row_for_two_records_is_kept_and_the_oldest_go_first() -> None:
    rows = kept(36, (0, 0), (1, 1), (2, 1), codes=CODES)  # 36, 9 and 6 classes; 18 rows fit
    assert rows.below((0, 0)) is None
    assert [own.levels for own in (rows.below((1, 1)), rows.below((2, 1))) if own] == [(1, 1), (2, 1)]
    rows.keep((2, 1), grouped(CODES, (2, 1)))  # they are kept already: none goes
    assert rows.below((1, 1)) is not None
    rows.keep((1, 2), grouped(CODES, (1, 2)))  # 6 more: those of (1, 1) go
    assert rows.below((1, 1)) is None
    assert [own.levels for own in (rows.below((2, 1)), rows.below((1, 2))) if own] == [(2, 1), (1, 2)]
