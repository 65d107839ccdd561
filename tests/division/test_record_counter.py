"""A search that asks records in memory finds what a search of their tuples finds."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.blocks import narrow_integers
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.division import record_counter
from anon_pipeline.division.record_counter import RecordCounter
from anon_pipeline.recode import choose, choose_elsewhere
from anon_pipeline.recode.choice import apply
from anon_pipeline.recode.fulldomain.counter import TableCounter
from anon_pipeline.recode.task import Task
from tests.example_counts import examples_of
from tests.recode.asking import counts_of

FULL = tuple(name for name, recoder in RECODERS.items() if recoder.family.name == "full_domain")


def counter_of(task: Task, *, most: int) -> RecordCounter:
    own = task.by_record
    labeled = LOSSES[task.loss].labels
    return RecordCounter(
        replace(task, by_record=None),
        tuple(narrow_integers(column) for column in own.codes.T),
        tuple(narrow_integers(column) for column in own.sensitive),
        narrow_integers(own.target) if labeled else None,
        most=most,
    )


def same_table(one: Any, other: Any) -> None:
    assert one.tuples.tolist() == other.tuples.tolist()
    assert one.counts.tolist() == other.counts.tolist()
    assert (one.counted is None) == (other.counted is None)
    if one.counted is not None:
        for name in ("starts", "values", "counts", "columns", "labeled"):
            assert np.array_equal(getattr(one.counted, name), getattr(other.counted, name))


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_it_answers_as_a_table_of_tuples_does(data: st.DataObject, drawn: SimpleNamespace) -> None:
    task = data.draw(drawn.tasks("optimal", data.draw(st.sampled_from(sorted(LOSSES)))))
    found, want = counter_of(task, most=data.draw(st.integers(1, 9))), TableCounter(task, counts_of(task))
    assert found.records == want.records
    for one, other in zip(found.leaves(), want.leaves(), strict=True):
        assert one.tolist() == other.tolist()
    one, other = ([np.count_nonzero(own) for own in counter.values()] for counter in (found, want))
    assert one == other
    levels = tuple(data.draw(st.integers(0, own.height - 1)) for own in task.hierarchies)
    same_table(found.table(levels), want.table(levels))
    entries = want.table(levels).entries
    assert found.table(levels, entries - 1) is None
    same_table(found.table(levels, entries), want.table(levels))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_counter, "_ROOM", data.draw(st.sampled_from([1, 5, 1000])))
        if data.draw(st.booleans()):
            below = tuple(data.draw(st.integers(0, level)) for level in levels)
            assert found.small(below) == want.count(below).small == want.small(below)
        one, other = found.count(levels), want.count(levels)
        assert found.small(levels) == other.small
    assert (one.small, one.whole) == (other.small, other.whole)
    if other.final.suppressed <= min(task.constraints.max_suppressed, found.records - 1):
        assert (one.lasting, one.final) == (other.lasting, other.final)
    if len(task.hierarchies) > 1:
        for one, other in zip(found.pairs(0, 1), want.pairs(0, 1), strict=True):
            assert one.tolist() == other.tolist()


@pytest.mark.parametrize("recoder", FULL)
@settings(deadline=None, max_examples=examples_of(40))
@given(data=st.data())
def test_the_choice_is_that_of_a_search_in_memory(
    data: st.DataObject, drawn: SimpleNamespace, recoder: str
) -> None:
    task = data.draw(drawn.tasks(recoder, data.draw(st.sampled_from(sorted(LOSSES)))))
    most = data.draw(st.sampled_from([1, 3, 1000]))
    counter = counter_of(task, most=most)
    try:
        want = choose(replace(task, by_record=None), counts_of(task))
    except InfeasibleError as error:
        with pytest.raises(InfeasibleError) as raised:
            choose_elsewhere(counter.task, counter, most=most)
        assert str(raised.value) == str(error)
        return
    found = choose_elsewhere(counter.task, counter, most=most)
    assert (found.levels, found.loss, found.suppressed) == (want.levels, want.loss, want.suppressed)
    codes = task.by_record.codes
    assert apply(found, codes).tolist() == apply(want, codes).tolist()


@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_records_that_do_not_count_are_as_if_they_were_not_there(
    data: st.DataObject, drawn: SimpleNamespace
) -> None:
    task = data.draw(drawn.tasks("optimal", data.draw(st.sampled_from(sorted(LOSSES)))))
    want = counter_of(task, most=data.draw(st.integers(1, 9)))
    records = want.records
    places = np.sort(data.draw(st.permutations(range(records + 3)))[:3])
    without = np.zeros(records + 3, np.bool_)
    without[places] = True

    def among(own: np.ndarray, value: int) -> np.ndarray:
        found = np.full(records + 3, value, own.dtype)
        found[~without] = own
        return found

    found = RecordCounter(
        want.task,
        tuple(among(own, 0) for own in want.codes),
        tuple(among(own, -1) for own in want.limited),
        None if want.target is None else among(want.target, 0),
        without,
        want.most,
    )
    levels = tuple(data.draw(st.integers(0, own.height - 1)) for own in task.hierarchies)
    assert found.records == records
    assert [own.tolist() for own in found.leaves()] == [own.tolist() for own in want.leaves()]
    assert [own.tolist() for own in found.values()] == [own.tolist() for own in want.values()]
    same_table(found.table(levels), want.table(levels))
    assert found.count(levels) == want.count(levels)
