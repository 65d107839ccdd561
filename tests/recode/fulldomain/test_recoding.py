"""From a node to a recoding: what is released is what brute force would release."""

from __future__ import annotations

import numpy as np

from anon_pipeline.recode.fulldomain.optimal import optimal
from anon_pipeline.recode.fulldomain.recoding import full_domain_recoding
from anon_pipeline.recode.fulldomain.search import prepare_search
from anon_pipeline.recode.task import Constraints, Task
from anon_pipeline.recode.tuples import distinct_tuples


def test_a_recoding_says_what_it_did(from_rows) -> None:
    zips = from_rows("zip", [("94139", "9413*", "*"), ("94138", "9413*", "*"), ("94142", "9414*", "*")])
    codes = np.array([[0], [1], [2], [0]])
    table = distinct_tuples(codes, [zips])
    search = prepare_search(Task(codes, (zips,), Constraints(3, 1), "optimal"), table)
    recoding = full_domain_recoding(search, optimal(search))
    assert recoding.codes.tolist() == [[0], [0], [-1], [0]]
    assert recoding.values[0].tolist() == ["9413*", "9414*"]
    assert (recoding.levels, recoding.suppressed, recoding.loss) == ((1,), 1, (3 * 0.5 + 1) / 4)
    assert recoding.checked == len(search.seen) > 0
