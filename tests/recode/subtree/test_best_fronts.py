"""From fronts to a recoding: what is released covers what it stands for, in memory and by batches."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode import Constraints, choose, choose_elsewhere, recode
from anon_pipeline.recode.choice import apply, recoding_of
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.fulldomain.counter import TableCounter
from anon_pipeline.recode.subtree.best_fronts import choose_fronts
from tests.example_counts import examples_of
from tests.recode.asking import ask, compact, counts_of, held
from tests.recode.subtree.questions import random_task


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_any_state_is_released_as_brute_force_says(
    data: st.DataObject, drawn: SimpleNamespace, fronts: SimpleNamespace, brute: SimpleNamespace
) -> None:
    task = data.draw(drawn.tasks("top_down", "granularity"))
    search = fronts.search(task)
    bits = st.lists(st.booleans(), min_size=search.size, max_size=search.size)
    state = np.array(data.draw(bits), np.bool_)
    want = fronts.brute(task, search, state)
    if want.excess:
        with pytest.raises(InfeasibleError):
            choose_fronts(search, state)
        return
    found = recoding_of(choose_fronts(search, state), task.by_record.labels)
    released = brute.released(found)
    assert [row is not None for row in released] == want.kept.tolist()
    kept = [tuple(map(str, row)) for row in released if row is not None]
    labels = want.labels[want.kept]
    pairs = set(zip(kept, labels.tolist(), strict=True))
    assert len(pairs) == len(set(labels.tolist())) >= len(set(kept))  # one class releases one row
    for column, hierarchy in enumerate(task.hierarchies):
        for leaf, row in zip(task.by_record.codes[:, column].tolist(), released, strict=True):
            levels = zip(hierarchy.values, hierarchy.lookups, strict=True)
            assert row is None or row[column] in [values[lookup[leaf]] for values, lookup in levels]


@pytest.mark.parametrize("recoder", ["top_down", "genetic"])
@settings(deadline=None, max_examples=examples_of(40))
@given(data=st.data())
def test_batches_are_recoded_as_the_table_is(
    data: st.DataObject, drawn: SimpleNamespace, recoder: str
) -> None:
    task = data.draw(drawn.tasks(recoder, "precision"))
    try:
        whole = recode(task)
    except InfeasibleError:
        return
    choice = choose(task, counts_of(task))
    codes = task.by_record.codes
    cut = len(codes) // 2
    parts = [apply(choice, codes[:cut]), apply(choice, codes[cut:])]
    assert np.concatenate(parts).tolist() == whole.codes.tolist()
    labels = compact(choice.labels[task.by_record.labels].tolist())
    assert not broken_classes(task.constraints, held(task, labels)).any()
    assert choice.sizes.tolist() == np.bincount(labels[labels >= 0]).tolist()


def test_its_tuples_must_fit_into_memory() -> None:
    task = random_task(1, "top_down")
    with pytest.raises(ValueError, match="top_down must have its tuples in memory"):
        choose_elsewhere(task, TableCounter(task, counts_of(task)), most=5)


NAMED = [("7", "*", "*"), ("8", "*", "*"), ("121", "12*", "*"), ("125", "12*", "*"), ("other", "x", "*")]


def test_values_of_one_name_are_one_value(from_rows, encode_column) -> None:
    """The mask of a short code is the name of the top; equal texts are one class to whoever reads them."""
    hierarchy = from_rows("x", [("a", "other", "*"), ("b", "other", "*"), *NAMED])
    codes = encode_column(["a", "b", "a", "7", "8", "8", "121", "121", "125", "125"], hierarchy)
    task = ask(codes.reshape(-1, 1), [hierarchy], Constraints(2, 1), recoder="top_down", loss="granularity")
    for recoder in ("top_down", "annealing", "genetic"):
        found = recode(replace(task, recoder=recoder))
        texts = [None if c < 0 else str(found.values[0][c]) for c in found.codes[:, 0].tolist()]
        assert len({text for text in texts if text}) == len(found.values[0])
        assert all(texts.count(text) >= 2 for text in texts if text)
        assert found.loss <= recode(replace(task, recoder="optimal")).loss
        choice = choose(replace(task, recoder=recoder), counts_of(task))
        assert apply(choice, codes.reshape(-1, 1)).tolist() == found.codes.tolist()
