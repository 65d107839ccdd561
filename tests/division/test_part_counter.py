"""Records counted part by part, against the same table as entries in memory."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.division.part_counter import PartCounter
from anon_pipeline.recode import Task
from anon_pipeline.recode.joint import Joint
from anon_pipeline.recode.mondrian.counter import AxisEntries, JointCounter
from tests.example_counts import examples_of
from tests.recode.asking import joint_of


def counter_of(task: Task, *, beside: int = 0) -> PartCounter:
    """Count the records of a task, with some beside them that do not count."""
    records = task.by_record
    gone = np.arange(len(records.labels) + beside) >= len(records.labels)

    def column(own: np.ndarray) -> np.ndarray:
        return narrow_integers(np.concatenate([own, np.zeros(beside, np.int64)]))

    return PartCounter(
        task.hierarchies,
        tuple(column(own) for own in records.codes.T),
        tuple(column(own) for own in records.sensitive),
        gone if beside else None,
    )


def listed(found: AxisEntries) -> list[tuple[Any, ...]]:
    return sorted(zip(found.leaves.tolist(), *found.values.tolist(), found.counts.tolist(), strict=True))


def told(joint: Joint) -> tuple[Any, ...]:
    values, weights = joint.values.tolist(), joint.weights.tolist()
    return joint.table.tuples.tolist(), joint.table.counts.tolist(), joint.tuples.tolist(), values, weights


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_any_part_is_counted_as_in_memory(data: st.DataObject, drawn: SimpleNamespace) -> None:
    """Parts are asked for as they come: within the last one, beside it, or anywhere."""
    task = data.draw(drawn.tasks("mondrian", "precision"))
    joint = joint_of(replace(task, loss="precision"))
    slow = JointCounter(joint, task.hierarchies)
    fast = counter_of(task, beside=data.draw(st.sampled_from([0, 3])))
    assert fast.records == slow.records
    assert [own.tolist() for own in fast.values()] == [own.tolist() for own in slow.values()]
    for _ in range(4):
        part = tuple(
            np.array(data.draw(st.lists(st.booleans(), min_size=one.leaves, max_size=one.leaves)))
            if data.draw(st.booleans())
            else np.ones(one.leaves, np.bool_)
            for one in task.hierarchies
        )
        codes = task.by_record.codes
        if not np.all([part[column][codes[:, column]] for column in range(len(part))], axis=0).any():
            continue  # nobody asks for a part without records
        assert [own.tolist() for own in fast.leaves(part)] == [own.tolist() for own in slow.leaves(part)]
        own, other = fast.contents(part), slow.contents(part)
        assert (own.records, own.sizes.tolist()) == (other.records, other.sizes.tolist())
        for one, two in zip(own.limited, other.limited, strict=True):
            assert (one.codes.tolist(), one.counts.tolist()) == (two.codes.tolist(), two.counts.tolist())
        for column in range(len(part)):
            assert listed(fast.entries(part, column)) == listed(slow.entries(part, column))
        most = data.draw(st.integers(0, 6))
        mine, theirs = fast.joint(part, most), slow.joint(part, most)
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            assert told(mine) == told(theirs)


def test_parts_of_the_last_part_are_found_in_its_records_alone() -> None:
    """A column is looked at only where it was cut since."""
    from tests.recode.mondrian.test_tries import line

    codes = tuple(np.arange(1_000) % 10 for _ in range(2))
    counter = PartCounter((line(10), line(10)), codes)
    everything = np.ones(10, np.bool_)
    low = np.arange(10) < 5
    assert counter.leaves((everything, everything))[0].sum() == 1_000
    assert counter.leaves((low, everything))[0].tolist() == [100] * 5 + [0] * 5
    assert counter.leaves((low, np.arange(10) < 2))[0].tolist() == [100] * 2 + [0] * 8
    assert counter.leaves((~low, everything))[0].tolist() == [0] * 5 + [100] * 5
    assert counter.leaves((everything, everything))[0].sum() == 1_000
