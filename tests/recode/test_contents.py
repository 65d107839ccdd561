"""What classes hold, from records, from tuples, from classes before: always the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.contents import ClassContents, contents_of_tuples, join_contents, merge_contents
from tests.example_counts import examples_of
from tests.recode.asking import compact, counts_of, held


def written(found: ClassContents) -> Any:
    """Contents as lists."""
    columns = [*found.limited, *([] if found.target is None else [found.target])]
    own = [(x.starts.tolist(), x.codes.tolist(), x.counts.tolist(), x.sizes.tolist()) for x in columns]
    return found.records, found.sizes.tolist(), own


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_classes_of_tuples_hold_what_their_records_hold(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("optimal", "classification"))
    table = counts_of(task)
    t = len(table.counts)
    classes = compact(data.draw(st.lists(st.integers(-1, 3), min_size=t, max_size=t)))
    want = held(task, classes[task.by_record.labels])
    assert written(contents_of_tuples(table, classes)) == written(want)
    m = len(want.sizes)
    if m:
        into = compact(data.draw(st.lists(st.integers(-1, 1), min_size=m, max_size=m)))
        further = np.append(into, -1)[classes]
        merged = merge_contents(contents_of_tuples(table, classes), into)
        assert written(merged) == written(held(task, further[task.by_record.labels]))


def test_nothing_released_holds_nothing(drawn: SimpleNamespace) -> None:
    whole = ClassContents(9, np.array([4, 5]))
    assert written(merge_contents(whole, np.array([-1, -1]))) == (9, [], [])


@settings(deadline=None, max_examples=examples_of(50))
@given(data=st.data())
def test_parts_stand_side_by_side(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("optimal", "classification"))
    labels = task.by_record.labels
    half = int(labels.max()) // 2
    if half == int(labels.max()):
        return
    parts = [
        held(task, np.where(labels <= half, labels, -1)),
        held(task, np.where(labels > half, labels - half - 1, -1)),
    ]
    assert written(join_contents(parts, len(labels))) == written(held(task, labels))
