"""Entries and their division: what is one entry, and which cuts are noted."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.mondrian.division import axes_of, mondrian_entries, mondrian_relaxed_entries
from tests.example_counts import examples_of
from tests.recode.asking import joint_of, parts_of


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_relaxed_entries_are_the_records_by_tuple(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("mondrian_relaxed", "precision"))
    own, entries = task.by_record, mondrian_relaxed_entries(task, task.by_record)
    assert sorted(entries.records.tolist()) == list(range(own.records))
    assert entries.tuples.tolist() == own.labels[entries.records].tolist() == sorted(own.labels.tolist())
    assert entries.values.tolist() == [x[entries.records].tolist() for x in own.sensitive]
    assert set(entries.weights.tolist()) <= {1}


def test_strict_entries_are_the_joint_ones(drawn: SimpleNamespace) -> None:
    @settings(deadline=None, max_examples=examples_of(20))
    @given(task=drawn.tasks("mondrian", "precision"))
    def check(task: object) -> None:
        joint = joint_of(task)
        entries = mondrian_entries(task, joint)
        assert entries.tuples is joint.tuples
        assert entries.weights.sum() == joint.records
        assert not len(entries.records)

    check()


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_every_cut_lies_between_two_positions(data: st.DataObject, drawn: SimpleNamespace) -> None:
    """Left of the i-th cut, in its half, are the parts up to i, and no position above its bound."""
    task = data.draw(drawn.tasks("mondrian", "precision"))
    parts, ranges = parts_of(task)
    cuts, own = ranges.cuts, task.by_record
    assert sorted(cuts.numbers.tolist()) == list(range(len(ranges.sizes) - 1))
    for cut, (axis, bound) in enumerate(zip(cuts.axes.tolist(), cuts.bounds.tolist(), strict=True)):
        # The parts that this cut divides: as far as no earlier cut lies between.
        earlier = np.flatnonzero(cuts.numbers < cuts.numbers[cut])
        first = max((int(one) + 1 for one in earlier if one < cut), default=0)
        last = min((int(one) for one in earlier if one > cut), default=len(ranges.sizes) - 1)
        assert ranges.high[axis, first : cut + 1].max() <= bound < ranges.low[axis, cut + 1 : last + 1].min()
    for column, axis in enumerate(axes_of(task, own.table)):
        positions = axis.positions[own.codes[:, column]]
        for part in range(len(ranges.sizes)):
            inside = positions[parts == part]
            assert (inside.min(), inside.max()) == (ranges.low[column, part], ranges.high[column, part])
