"""A choice recodes records in any batch as it recodes the table, and counts alone make the same choice."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.recoders import RECODERS, needs_records, recoder_of
from anon_pipeline.recode import Task, choose, choose_elsewhere, recode
from anon_pipeline.recode.choice import Choice, apply, key_classes, recoding_of
from anon_pipeline.recode.fulldomain.counter import TableCounter
from tests.example_counts import examples_of
from tests.recode.asking import counts_of, joint_of

COUNTING = tuple(name for name, recoder in RECODERS.items() if not needs_records(recoder))
LOSSES = ["precision", "granularity", "entropy", "discernibility", "average_class_size", "classification"]


def table_of(task: Task) -> Any:
    return joint_of(task) if recoder_of(task.recoder).family.together else counts_of(task)


def chosen(task: Task) -> Choice | str:
    """Choose without the records; the error's text where there is no recoding."""
    try:
        return choose(replace(task, by_record=None), table_of(task))
    except InfeasibleError as error:
        return str(error)


@pytest.mark.parametrize("recoder", COUNTING)
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_counts_choose_what_records_are_recoded_to(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, recoder: str
) -> None:
    cells = recoder_of(recoder).family.cells and data.draw(st.booleans())
    task = replace(data.draw(drawn.tasks(recoder, data.draw(st.sampled_from(LOSSES)))), cells=cells)
    choice, own = chosen(task), task.by_record
    if isinstance(choice, str):
        with pytest.raises(InfeasibleError) as raised:
            recode(task)
        assert str(raised.value) == choice
        return
    want = recode(task)
    found = recoding_of(choice, own.labels)
    assert found.codes.tolist() == want.codes.tolist()
    assert brute.released(found) == brute.released(want)
    for name in ("levels", "loss", "suppressed", "checked", "cells"):
        assert getattr(found, name) == getattr(want, name)
    # In batches, in any order, without the table.
    order = np.array(data.draw(st.permutations(range(own.records))))
    cut = data.draw(st.integers(0, own.records))
    batches = [apply(replace(choice, labels=None), own.codes[part]) for part in (order[:cut], order[cut:])]
    assert np.concatenate(batches).tolist() == want.codes[order].tolist()
    classes = equivalence_classes(want.codes)
    assert choice.sizes.tolist() == classes.sizes.tolist()
    assert choice.codes.tolist() == np.unique(want.codes[classes.labels >= 0], axis=0).tolist()


@pytest.mark.parametrize("recoder", COUNTING)
@settings(deadline=None, max_examples=examples_of(40))
@given(data=st.data())
def test_a_row_with_a_count_is_as_many_records(
    data: st.DataObject, drawn: SimpleNamespace, recoder: str
) -> None:
    from anon_pipeline.recode.by_record import by_record
    from anon_pipeline.recode.joint import join_counts
    from anon_pipeline.recode.tuples import ValueCounts, distinct_tuples, with_values

    task = data.draw(drawn.tasks(recoder, data.draw(st.sampled_from(LOSSES))))
    own = task.by_record
    weights = np.array(data.draw(st.lists(st.integers(1, 4), min_size=own.records, max_size=own.records)))
    rows = np.repeat(np.arange(own.records), weights)
    records = by_record(
        own.codes[rows],
        task.hierarchies,
        sensitive=[x[rows] for x in own.sensitive],
        target=None if own.target is None else own.target[rows],
    )
    columns = [*own.sensitive, *([] if own.target is None else [own.target])]
    values = [ValueCounts(own.codes, column, weights) for column in columns]
    labeled = own.target is not None
    table, _ = distinct_tuples(own.codes, task.hierarchies, weights=weights)
    if recoder_of(recoder).family.together:
        joint = join_counts(own.codes, own.sensitive, weights, task.hierarchies)
        labels = with_values(table, task.hierarchies, values[len(own.sensitive) :], labeled=labeled)
        counted: Any = replace(joint, table=labels)
    else:
        counted = with_values(table, task.hierarchies, values, labeled=labeled)
    try:
        want = recode(replace(task, by_record=records))
    except InfeasibleError as error:
        with pytest.raises(InfeasibleError) as raised:
            choose(replace(task, by_record=None), counted)
        assert (str(raised.value), raised.value.exact) == (str(error), error.exact)
        return
    choice = choose(replace(task, by_record=None), counted)
    assert (choice.loss, choice.suppressed, choice.levels) == (want.loss, want.suppressed, want.levels)
    assert apply(choice, own.codes[rows]).tolist() == want.codes.tolist()


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_classes_are_found_by_keys_of_any_width(data: st.DataObject) -> None:
    """Up to six columns of up to 2^20 codes: one number does not hold them, so prefixes are ranked."""
    q = data.draw(st.integers(0, 6))
    widths = [data.draw(st.sampled_from([1, 3, 2**20])) for _ in range(q)]
    lookups = [np.arange(width) for width in widths]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    leaves = np.stack([rng.integers(0, min(width, 50), 60) for width in widths] or [np.zeros(60)], axis=1)
    leaves = leaves[:, :q].astype(np.int64)
    rows = np.unique(leaves, axis=0)
    kept = rng.random(len(rows)) < 0.7
    kept[0] = True
    finder = key_classes(lookups, rows[kept], np.flatnonzero(kept))
    numbers = {tuple(row): place if kept[place] else -1 for place, row in enumerate(rows.tolist())}
    assert finder.find(leaves).tolist() == [numbers[tuple(row)] for row in leaves.tolist()]


def test_recoders_that_part_equal_records_need_them(drawn: SimpleNamespace, micro_task: Task) -> None:
    table = counts_of(micro_task)
    for name in ("mdav", "mondrian_relaxed"):
        with pytest.raises(ValueError, match=f"{name} must have its records in memory"):
            choose(replace(micro_task, recoder=name), table)
        counter = TableCounter(micro_task, table)
        with pytest.raises(ValueError, match=f"{name} must have its records in memory"):
            choose_elsewhere(replace(micro_task, recoder=name), counter, most=5)
    with pytest.raises(ValueError, match="recode must get a task with its records, got none"):
        recode(replace(micro_task, by_record=None))


@pytest.fixture
def micro_task(from_rows: Any) -> Task:
    from anon_pipeline.recode import Constraints
    from tests.recode.asking import ask

    hierarchy = from_rows("x", [("a", "*"), ("b", "*")])
    return ask(np.array([[0], [1], [1]]), (hierarchy,), Constraints(1, 0), "ola")
