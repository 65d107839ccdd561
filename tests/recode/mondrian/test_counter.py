"""A counter of entries answers for any part of a table as the records in it do."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.mondrian.counter import JointCounter
from tests.example_counts import examples_of
from tests.recode.asking import held, joint_of
from tests.recode.test_contents import written


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_a_part_is_counted_as_its_records(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("mondrian", "classification"))
    own, counter = task.by_record, JointCounter(joint_of(task), task.hierarchies)
    sides = [
        data.draw(st.lists(st.booleans(), min_size=h.leaves, max_size=h.leaves)) for h in task.hierarchies
    ]
    part = tuple(np.array(side) for side in sides)
    inside = np.logical_and.reduce([side[own.codes[:, j]] for j, side in enumerate(part)])
    assume(inside.any())
    codes, values = own.codes[inside], [x[inside] for x in own.sensitive]
    assert counter.records == own.records
    assert [x.tolist() for x in counter.values()] == [np.bincount(x).tolist() for x in own.sensitive]
    for column, leaves in enumerate(counter.leaves(part)):
        assert leaves.tolist() == np.bincount(codes[:, column], minlength=len(leaves)).tolist()
        found = counter.entries(part, column)
        rows = zip(found.leaves.tolist(), *found.values.tolist(), strict=True)
        want = Counter(zip(codes[:, column].tolist(), *(x.tolist() for x in values), strict=True))
        assert dict(zip(rows, found.counts.tolist(), strict=True)) == want
    whole = held(task, np.where(inside, 0, -1))
    assert written(counter.contents(part))[1:] == written(whole)[1:]
    assert counter.contents(part).records == int(inside.sum())
    rows = Counter(zip(*codes.T.tolist(), *(x.tolist() for x in values), strict=True))
    assert counter.joint(part, len(rows) - 1) is None
    joint = counter.joint(part, len(rows))
    assert (joint.records, len(joint.weights)) == (int(inside.sum()), len(rows))
    assert joint.table.tuples.tolist() == np.unique(codes, axis=0).tolist()
