"""From a node to a recoding: what is released is what brute force would release."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.fulldomain.release import full_domain_recoding, generalized_tuples
from anon_pipeline.recode.fulldomain.search import optimal, prepare_search
from anon_pipeline.recode.model import Constraints, Task
from anon_pipeline.recode.table import distinct_tuples


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_small_classes_are_suppressed_and_the_rest_generalized(
    data: st.DataObject, drawn: SimpleNamespace
) -> None:
    codes, hierarchies = data.draw(drawn.tables())
    k = data.draw(st.integers(1, 5))
    levels = [data.draw(st.integers(0, hierarchy.height - 1)) for hierarchy in hierarchies]
    table = distinct_tuples(codes, hierarchies)
    got = generalized_tuples(table, hierarchies, levels, k=k)[table.labels].tolist()
    rows = [
        [int(h.lookups[level][code]) for h, level, code in zip(hierarchies, levels, row, strict=True)]
        for row in codes
    ]
    sizes = Counter(map(tuple, rows))
    assert got == [row if sizes[tuple(row)] >= k else [-1] * len(row) for row in rows]


def test_a_recoding_says_what_it_did(from_rows) -> None:
    zips = from_rows("zip", [("94139", "9413*", "*"), ("94138", "9413*", "*"), ("94142", "9414*", "*")])
    codes = np.array([[0], [1], [2], [0]])
    table = distinct_tuples(codes, [zips])
    search = prepare_search(Task(codes, (zips,), Constraints(3, 1), "optimal"), table)
    recoding = full_domain_recoding(search, optimal(search), table, [zips])
    assert recoding.codes.tolist() == [[0], [0], [-1], [0]]
    assert recoding.values[0].tolist() == ["9413*", "9414*"]
    assert (recoding.levels, recoding.suppressed, recoding.loss) == ((1,), 1, (3 * 0.5 + 1) / 4)
    assert recoding.checked == len(search.seen) > 0
