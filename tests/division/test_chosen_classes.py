"""The classes that are chosen for a whole table are those that its recoder makes in memory."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.division import chosen_classes
from anon_pipeline.division.chosen_classes import choose_classes
from anon_pipeline.division.deciding_columns import Deciding
from anon_pipeline.recode import Task, recode
from tests.example_counts import examples_of


def deciding_of(task: Task, beside: int) -> Deciding:
    """Write down the records of a task, with some beside them that lack a value."""
    records = task.by_record
    gone = np.arange(len(records.labels) + beside) >= len(records.labels)
    codes = [narrow_integers(np.concatenate([own, np.zeros(beside, np.int64)])) for own in records.codes.T]
    limited = [np.concatenate([own, np.full(beside, -1)]) for own in records.sensitive]
    return Deciding(
        task.hierarchies, tuple(codes), task.constraints.sensitive, tuple(limited), records.target, gone
    )


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
@pytest.mark.parametrize("most", [1, 2**22])
def test_cuts_make_the_classes_that_they_make_in_memory(
    data: st.DataObject, drawn: SimpleNamespace, most: int
) -> None:
    task = data.draw(drawn.tasks("mondrian", "granularity"))
    deciding = deciding_of(task, data.draw(st.sampled_from([0, 2])))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chosen_classes, "MOST", most)
        try:
            want = equivalence_classes(recode(task).codes)
        except InfeasibleError as error:
            with pytest.raises(InfeasibleError) as raised:
                choose_classes(task, deciding)
            assert (str(raised.value), raised.value.exact) == (str(error), error.exact)
            return
        found = choose_classes(task, deciding)
    n = len(task.by_record.labels)
    assert found.numbers is not None and found.levels == ()
    assert (found.numbers[n:] == -1).all()
    pairs = {*zip(found.numbers[:n].tolist(), want.labels.tolist(), strict=True)}
    assert len(pairs) == len(want.sizes) == len(found.table.counts)
    assert found.table.counts.tolist() == np.bincount(found.numbers[:n]).tolist()
    assert found.kept.all()


@settings(deadline=None, max_examples=examples_of(50))
@given(data=st.data())
def test_levels_are_those_that_are_chosen_in_memory(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.questions(recoder="optimal"))
    deciding = deciding_of(task, 0)
    try:
        want = recode(task)
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            choose_classes(task, deciding)
        return
    found = choose_classes(task, deciding)
    assert (found.levels, found.numbers) == (want.levels, None)
