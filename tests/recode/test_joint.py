"""Entries of tuples and sensitive values: equal from records and from counts in any order."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.joint import Joint, join_counts
from tests.example_counts import examples_of
from tests.recode.asking import held, joint_of
from tests.recode.test_contents import written


def rows(joint: Joint) -> list[tuple[int, ...]]:
    tuples = joint.table.tuples[joint.tuples].tolist()
    return [
        (*row, *values, weight)
        for row, values, weight in zip(tuples, joint.values.T.tolist(), joint.weights.tolist(), strict=True)
    ]


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_entries_are_the_distinct_rows_in_their_order(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("mondrian", "classification"))
    joint, own = joint_of(task), task.by_record
    columns = [own.codes.tolist(), *(x.tolist() for x in own.sensitive)]
    want = Counter((*row, *rest) for row, *rest in zip(*columns, strict=True))
    assert rows(joint) == [(*row, count) for row, count in sorted(want.items())]
    assert (joint.records, joint.labeled) == (own.records, True)
    assert joint.distinct == [len(set(x.tolist())) for x in own.sensitive]
    classes = np.arange(len(joint.table.counts)) % 2
    assert written(joint.contents(classes)) == written(held(task, classes[own.labels]))


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_counts_from_elsewhere_make_the_same_entries(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("mondrian", "precision"))
    own, joint = task.by_record, joint_of(task)
    order = np.array(data.draw(st.permutations(range(own.records))))
    weights = np.array(data.draw(st.lists(st.integers(1, 4), min_size=own.records, max_size=own.records)))
    again = join_counts(
        own.codes[order], [x[order] for x in own.sensitive], np.ones(own.records, np.int64), task.hierarchies
    )
    assert rows(again) == rows(joint)
    repeated = np.repeat(np.arange(own.records), weights)
    heavy = join_counts(own.codes, own.sensitive, weights, task.hierarchies)
    one_by_one = join_counts(
        own.codes[repeated],
        [x[repeated] for x in own.sensitive],
        np.ones(len(repeated), np.int64),
        task.hierarchies,
    )
    assert rows(heavy) == rows(one_by_one)
    assert heavy.table.counts.tolist() == one_by_one.table.counts.tolist()
