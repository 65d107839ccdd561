"""Comparing points: the front, the recommended one, the nearest one where none passes."""

from __future__ import annotations

import math

import pytest

from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy import policy_from
from anon_pipeline.tuning.choose import BALANCED, LEAST_LOSS, choose_point, excess, mark_front, nearest
from anon_pipeline.tuning.grid import Choice
from anon_pipeline.tuning.judging import verdicts
from anon_pipeline.tuning.tuned import Expected, Point


def expected(risk: float, loss: float = 0.1, *, suppression: float = 0.0, smallest: int = 5) -> Expected:
    return Expected(0.1, 0.1, risk, risk, suppression, suppression, loss, loss, (0.0, 0.0), smallest)


def point(risk: float, loss: float, *missed: Verdict, k: int = 5, epsilon: float = 1.0) -> Point:
    return Point(Choice(k, epsilon, None, "ola"), expected(risk, loss), missed)


def refused(limit: str, value: float, bound: float, sense: str = "at most") -> Verdict:
    return Verdict(limit, Status.REFUSED, value, bound, sense)


def attributes(**sections: object) -> dict[str, object]:
    return {
        "name": "people",
        "source": {"path": "people.csv"},
        "columns": {
            "age": {"role": "generalize", "hierarchy": {"intervals": [5, 10]}},
            "height": {"role": "perturb", "resolution": 1},
            "illness": {"role": "sensitive"},
        },
        "anonymize": {"k": 5},
        "perturb": {"epsilon": 2},
    } | sections


def test_the_front_has_the_points_that_none_is_better_than() -> None:
    points = mark_front([point(0.1, 0.5), point(0.2, 0.3), point(0.2, 0.4), point(0.3, 0.3), point(0.4, 0.1)])
    assert [p.on_front for p in points] == [True, True, False, False, True]
    alike = mark_front([point(0.1, 0.5), point(0.1, 0.5, k=6)])
    assert [p.on_front for p in alike] == [True, True]


def test_where_linking_is_limited_the_least_loss_of_those_that_pass_is_recommended() -> None:
    out = point(0.5, 0.01, refused("linking_risk", 0.5, 0.1))
    points = [out, point(0.09, 0.2), point(0.05, 0.3), point(0.08, 0.2)]
    assert choose_point(points, linking_limited=True) == (points[3], LEAST_LOSS)


def test_ties_go_to_the_smaller_epsilon_then_the_larger_k() -> None:
    points = [point(0.1, 0.2, epsilon=2), point(0.1, 0.2, k=9), point(0.1, 0.2, k=7)]
    assert choose_point(points, linking_limited=True)[0] == points[1]


def test_where_linking_is_not_limited_the_balanced_one_is_recommended() -> None:
    points = [point(0.9, 0.1), point(0.2, 0.2), point(0.1, 0.9)]
    assert choose_point(points, linking_limited=False) == (points[1], BALANCED)
    assert choose_point(points[:1], linking_limited=False)[0] == points[0]


def test_where_none_passes_the_nearest_misses_its_worst_limit_least() -> None:
    far = point(0.2, 0.1, refused("linking_risk", 0.2, 0.1))
    near = point(0.2, 0.1, refused("k", 9, 10, "at least"), refused("suppression", 0.15, 0.1))
    found = nearest([far, near])
    assert found is not None
    assert (found.point, found.limit.limit, found.excess) == (near, "suppression", pytest.approx(0.5))
    assert nearest([far, point(0.1, 0.1)]) is None
    assert nearest([]) is None
    assert choose_point([far, near], linking_limited=True)[0] is None
    assert excess(refused("linking_risk", 0.1, 0.0)) == math.inf


def test_a_point_where_no_record_is_left_does_not_pass() -> None:
    policy = policy_from(attributes())
    assert [v.limit for v in verdicts(policy, expected(1.0, suppression=1.0)) if v.status != "passed"] == [
        "suppression"
    ]
    assert all(v.status == "passed" for v in verdicts(policy, expected(1.0, suppression=0.99)))
