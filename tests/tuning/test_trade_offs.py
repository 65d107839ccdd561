"""What a recommended point loses, in words, and what keeps out the points that lose less."""

from __future__ import annotations

from dataclasses import replace

from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.tuning.results import Point, Tuning
from anon_pipeline.tuning.trade_offs import losses_in_words
from tests.tuning.test_choose import point, refused


def tuning(recommended: Point | None, *others: Point) -> Tuning:
    points = others if recommended is None else (recommended, *others)
    return Tuning(points, (), recommended, "", None, (), records=1000)


def hiding(one: Point, *names: str, suppression: float = 0.0) -> Point:
    return replace(one, expected=replace(one.expected, hidden=names, suppression=suppression))


BEST = hiding(point(0.1, 0.6, k=50), "age", "town", suppression=0.1234)


def test_what_it_loses_names_the_hidden_columns_and_the_records() -> None:
    assert losses_in_words(tuning(BEST)) == [
        "What it loses: age, town would be hidden entirely, or in at least 95 % of the records; about "
        "12 % of the records would be left out. Its loss is 0.6."
    ]
    whole = point(0.1, 0.25)
    assert losses_in_words(tuning(whole)) == [
        "What it loses: no column would be hidden entirely. Its loss is 0.25."
    ]


def test_fewer_records_than_k_are_not_told() -> None:
    (said,) = losses_in_words(tuning(hiding(BEST, suppression=0.001)))
    assert "at most 5 % of the records" in said


def test_without_a_recommendation_nothing_is_said() -> None:
    assert losses_in_words(tuning(None, point(0.1, 0.2, refused("k", 3, 5)))) == []


def test_the_point_that_passes_and_loses_less_is_named() -> None:
    better = hiding(
        point(0.2, 0.4, Verdict("utility_kept", Status.WARNED, 0.1, 0.2, "at least"), k=10), "age"
    )
    assert losses_in_words(tuning(BEST, better))[1:] == [
        "Least loss of the points that pass: ola, k = 10, ε = 1 (loss 0.4 instead of 0.6; it would not hide "
        "town)."
    ]
    as_good = hiding(point(0.2, 0.595), "age", "town")
    assert len(losses_in_words(tuning(BEST, as_good))) == 1  # a difference that is none


def test_what_refuses_the_best_point_is_said_with_its_bounds() -> None:
    keen = point(0.3, 0.2, refused("k", 3, 10, "at least"), refused("linking_risk", 0.3, 0.1), k=3)
    worse = point(0.3, 0.3, refused("suppression", 0.3, 0.1), k=3)
    assert losses_in_words(tuning(BEST, worse, keen))[1:] == [
        "Least loss of all points: ola, k = 3, ε = 1 (loss 0.2 instead of 0.6; it would not hide age, "
        "town). The gate refuses it: k (has 3, at least 10 is demanded); "
        "linking_risk (has 0.3, at most 0.1 is demanded)."
    ]


def test_a_refused_point_that_loses_no_less_is_no_news() -> None:
    worse = point(0.3, 0.6, refused("k", 3, 10, "at least"), k=3)
    assert len(losses_in_words(tuning(BEST, worse))) == 1


def test_where_people_are_counted_the_share_is_one_of_people() -> None:
    counted = replace(tuning(BEST), people=500)
    assert "about 12 % of the people would have a record left out" in losses_in_words(counted)[0]
    few = replace(tuning(hiding(BEST, suppression=0.001)), people=500)  # k = 50 of them, not of 1,000 records
    assert "at most 10 % of the people" in losses_in_words(few)[0]


def test_the_point_that_hides_fewer_columns_is_named_though_it_loses_no_less() -> None:
    fewer, fewest = hiding(point(0.1, 0.6, k=20), "age"), hiding(point(0.1, 0.61, k=10), "age")
    assert losses_in_words(tuning(BEST, fewest, fewer))[1:] == [
        "Fewest columns hidden, of the points that pass: ola, k = 20, ε = 1 (loss 0.6 instead of 0.6; it "
        "would not hide town)."
    ]
    less = hiding(point(0.1, 0.4, k=10), "age")  # the least loss, which is named already
    assert len(losses_in_words(tuning(BEST, fewer, less))) == 2
