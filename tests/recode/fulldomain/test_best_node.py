"""From a node to a recoding: what is released is what brute force would release."""

from __future__ import annotations

import numpy as np

from anon_pipeline.recode.choice import recoding_of
from anon_pipeline.recode.fulldomain.best_node import node_choice
from anon_pipeline.recode.fulldomain.optimal import optimal
from anon_pipeline.recode.fulldomain.search import prepare_search
from anon_pipeline.recode.task import Constraints
from tests.recode.asking import ask, counts_of


def test_a_recoding_says_what_it_did(from_rows) -> None:
    zips = from_rows("zip", [("94139", "9413*", "*"), ("94138", "9413*", "*"), ("94142", "9414*", "*")])
    codes = np.array([[0], [1], [2], [0]])
    task = ask(codes, (zips,), Constraints(3, 1), "optimal")
    search = prepare_search(task, counts_of(task))
    recoding = recoding_of(node_choice(search, optimal(search)), task.by_record.labels)
    assert recoding.codes.tolist() == [[0], [0], [-1], [0]]
    assert recoding.values[0].tolist() == ["9413*", "9414*"]
    assert (recoding.levels, recoding.suppressed, recoding.loss) == ((1,), 1, (3 * 0.5 + 1) / 4)
    assert recoding.checked == len(search.seen) > 0
