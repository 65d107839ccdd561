"""The tree of cuts sends every record to the part that it was divided into."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.mondrian.cuts import Cuts, cut_classes
from anon_pipeline.recode.mondrian.division import axes_of
from tests.example_counts import examples_of
from tests.recode.asking import parts_of


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_records_find_their_part(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("mondrian", "precision"))
    parts, ranges = parts_of(task)
    positions = tuple(axis.positions for axis in axes_of(task, task.by_record.table))
    finder = cut_classes(ranges.cuts, positions, np.arange(len(ranges.sizes)))
    assert finder.find(task.by_record.codes).tolist() == parts.tolist()
    assert np.bincount(parts).tolist() == ranges.sizes.tolist()


def test_a_tree_of_any_shape_is_walked() -> None:
    """Cuts at 1 … 9 of one axis, made in any order: position p is in the part with that number."""
    positions = (np.arange(10),)
    for seed in range(50):
        numbers = np.random.default_rng(seed).permutation(9)
        cuts = Cuts(np.zeros(9, np.int64), np.arange(9), numbers.astype(np.int64))
        finder = cut_classes(cuts, positions, np.arange(10) * 7)
        assert finder.root == int(np.argmin(numbers))
        assert finder.find(np.arange(10).reshape(-1, 1)).tolist() == [7 * part for part in range(10)]


def test_a_table_that_was_never_cut_is_one_part() -> None:
    none = np.zeros(0, np.int64)
    finder = cut_classes(Cuts(none, none, none), (np.arange(3),), np.array([5]))
    assert finder.find(np.array([[0], [2]])).tolist() == [5, 5]
