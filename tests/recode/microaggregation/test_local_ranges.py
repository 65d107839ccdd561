"""Local recoding: k-member's clusters release what their records have in common, and limits are kept."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode import Constraints, recode
from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.microaggregation.microaggregation import clusters_of
from anon_pipeline.recode.microaggregation.space import make_space
from tests.example_counts import examples_of
from tests.recode.asking import again, ask, compact, held


def covered(task, column: int, leaves: list[int]) -> object:
    """What a cluster releases of a column, from the definition."""
    hierarchy = task.hierarchies[column]
    places = hierarchy.places
    if places is None or len(set(leaves)) == 1:
        level = next(
            at for at, own in enumerate(hierarchy.lookups) if len({int(own[x]) for x in leaves}) == 1
        )
        return hierarchy.values[level][hierarchy.lookups[level][leaves[0]]]
    numbers = places[leaves]
    if np.isnan(numbers).any():
        return hierarchy.values[-1][0]
    ends = (leaves[int(np.argmin(numbers))], leaves[int(np.argmax(numbers))])
    return f"[{', '.join(str(hierarchy.values[0][leaf]) for leaf in ends)}]"


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_clusters_release_what_they_cover(data: st.DataObject, drawn: SimpleNamespace) -> None:
    codes, hierarchies = data.draw(drawn.tables(least=2, most=24))
    k = data.draw(st.integers(1, min(5, len(codes))))
    task = ask(codes, hierarchies, Constraints(k, 0), recoder="local", loss="granularity")
    space = make_space(task, task.by_record)
    labels = np.empty(space.records, np.int64)
    labels[space.order] = clusters_of(replace(task, recoder="k_member"), space)
    found = recode(task)
    assert found.suppressed == 0 and found.sse is None and found.levels is None
    for column in range(len(task.hierarchies)):
        released = found.values[column][found.codes[:, column]]
        for cluster in range(labels.max() + 1):
            rows = np.flatnonzero(labels == cluster)
            want = covered(task, column, task.by_record.codes[rows, column].tolist())
            assert {str(value) for value in released[rows]} == {str(want)}


@pytest.mark.parametrize("recoder", ["local", "forest"])
@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_limits_are_kept_in_any_order_of_the_rows(
    recoder: str, data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace
) -> None:
    task = data.draw(drawn.tasks(recoder, "granularity"))
    order = np.array(data.draw(st.permutations(range(task.by_record.records))))
    try:
        found = recode(task)
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            recode(again(task, order))
        return
    other = recode(again(task, order))
    assert (found.loss, found.suppressed) == (pytest.approx(other.loss), other.suppressed)
    assert sorted(map(str, brute.released(found))) == sorted(map(str, brute.released(other)))
    rows = [-1 if row is None else row for row in brute.released(found)]
    names = {row: place for place, row in enumerate(dict.fromkeys(r for r in rows if r != -1))}
    labels = compact([-1 if row == -1 else names[row] for row in rows])
    assert not broken_classes(task.constraints, held(task, labels)).any()
    assert found.suppressed == int((labels < 0).sum()) <= max(0, task.constraints.max_suppressed)
