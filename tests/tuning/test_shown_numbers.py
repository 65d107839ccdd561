"""Numbers of points in words: of a share of few records no more is told than that of k."""

from __future__ import annotations

from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.tuning.shown_numbers import missed_in_words, shown_share, title
from tests.tuning.test_choose import point, refused


def test_a_share_of_fewer_than_k_records_is_that_of_k() -> None:
    one = point(0.1, 0.1, k=5)
    assert [shown_share(share, one, 100) for share in (0.0, 0.01, 0.2)] == [0.0, 0.05, 0.2]


def test_a_point_is_named_by_what_differs() -> None:
    assert title(point(0.1, 0.1)) == "ola, k = 5, ε = 1"
    assert title(point(0.1, 0.1, epsilon=None)) == "ola, k = 5"


def test_what_is_missed() -> None:
    one = point(0.1, 0.1)
    assert missed_in_words(refused("k", 3, 5, "at least"), one, 100) == "has 3, at least 5 is demanded"
    few = refused("suppression", 0.02, 0.01)
    assert missed_in_words(few, one, 100) == "has 0.05, at most 0.01 is demanded"
    assert missed_in_words(Verdict("contract", Status.REFUSED), one, 100) == "does not keep it"
