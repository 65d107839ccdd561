"""Comparing points: the front, the recommended one, the nearest one where none passes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy import policy_from
from anon_pipeline.tuning.choose import (
    LEAST_RISK,
    LEAST_USELESS,
    USEFUL,
    USEFUL_WITHOUT_EPSILON,
    choose_point,
    excess,
    mark_front,
    nearest,
)
from anon_pipeline.tuning.grid import Choice
from anon_pipeline.tuning.limit_forecasts import verdicts
from anon_pipeline.tuning.results import Expected, Point


def expected(risk: float, loss: float = 0.1, *, suppression: float = 0.0, smallest: int = 5) -> Expected:
    return Expected(0.1, 0.1, risk, risk, suppression, suppression, loss, loss, (0.0, 0.0), smallest)


def point(risk: float, loss: float, *missed: Verdict, k: int = 5, epsilon: float | None = 1.0) -> Point:
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


def test_without_noise_the_rule_names_no_epsilon() -> None:
    points = [point(0.05, 0.3, epsilon=None), point(0.08, 0.2, k=9, epsilon=None)]
    assert choose_point(points) == (points[1], USEFUL_WITHOUT_EPSILON)
    assert "ε" not in USEFUL_WITHOUT_EPSILON and "the one with the largest k" in USEFUL_WITHOUT_EPSILON


def warned(limit: str) -> Verdict:
    return Verdict(limit, Status.WARNED, 0.9, 0.8, "at most")


def test_the_smallest_epsilon_at_which_the_release_is_useful_is_recommended() -> None:
    out = point(0.5, 0.01, refused("linking_risk", 0.5, 0.1), epsilon=0.1)
    noisy = point(0.01, 0.9, warned("utility_relative_error.height"), epsilon=0.2)
    points = [out, noisy, point(0.05, 0.3), point(0.08, 0.2, k=9), point(0.01, 0.1, epsilon=8)]
    assert choose_point(points) == (points[3], USEFUL)


def test_a_warning_of_another_kind_does_not_keep_a_point_out() -> None:
    points = [point(0.05, 0.3, warned("k")), point(0.05, 0.2, epsilon=2)]
    assert choose_point(points) == (points[0], USEFUL)


def test_ties_go_to_the_least_loss_then_the_least_risk() -> None:
    points = [point(0.1, 0.3), point(0.2, 0.2), point(0.1, 0.2)]
    assert choose_point(points)[0] == points[2]


def test_what_no_point_keeps_of_the_recoding_is_left_aside() -> None:
    hidden, error = warned("utility_fully_generalized"), warned("utility_relative_error.height")
    points = [
        point(0.1, 0.9, hidden, error, epsilon=0.1),
        point(0.2, 0.2, hidden),
        point(0.9, 0.1, hidden, epsilon=8),
    ]
    assert choose_point(points) == (points[1], USEFUL)


def test_where_every_point_hides_a_column_those_that_hide_the_fewest_are_compared() -> None:
    def hiding(k: int, loss: float, *names: str, limit: bool = True) -> Point:
        found = point(0.1, loss, *[warned("utility_fully_generalized")] * limit, k=k)
        return replace(found, expected=replace(found.expected, hidden=names))

    points = [hiding(5, 0.3, "age"), hiding(10, 0.35, "age"), hiding(100, 0.9, "age", "sex", "town")]
    assert choose_point(points)[0] is points[1]
    kept = [hiding(5, 0.3, "age", limit=False), hiding(100, 0.9, "age", "sex", limit=False)]
    assert choose_point(kept)[0] is kept[1]  # the policy accepts two


def test_where_none_is_useful_the_point_that_misses_least_is_recommended() -> None:
    """Not the smallest ε, whose error may be 53 times the value."""

    def error(times: float) -> Verdict:
        return Verdict("utility_relative_error.height", Status.WARNED, times, 1.0, "at most")

    hidden = Verdict("utility_fully_generalized", Status.WARNED, 1.0, 0.0, "at most")
    points = [
        point(0.1, 0.9, error(53), hidden, epsilon=0.1),
        point(0.2, 0.5, error(2.3), hidden, epsilon=2),
        point(0.3, 0.4, error(2.2), hidden, epsilon=2, k=3),
    ]
    assert choose_point(points) == (points[2], LEAST_USELESS)
    assert choose_point(points[:1])[0] == points[0]
    assert "larger ε" in LEAST_USELESS
    lost = [
        point(0.1, 0.9, hidden, epsilon=None, k=100),
        point(0.2, 0.8, warned("utility_lost_values"), epsilon=None, k=5),
    ]
    assert choose_point(lost) == (lost[0], LEAST_RISK)  # there is no ε that could be larger
    assert "ε" not in LEAST_RISK
    alike = [point(0.9, 0.1, error(2)), point(0.2, 0.2, error(2))]
    assert choose_point(alike)[0] == alike[1]


def test_where_none_passes_the_nearest_misses_its_worst_limit_least() -> None:
    far = point(0.2, 0.1, refused("linking_risk", 0.2, 0.1))
    near = point(0.2, 0.1, refused("k", 9, 10, "at least"), refused("suppression", 0.15, 0.1))
    found = nearest([far, near])
    assert found is not None
    assert (found.point, found.limit.limit, found.excess) == (near, "suppression", pytest.approx(0.5))
    assert nearest([far, point(0.1, 0.1)]) is None
    assert nearest([]) is None
    assert choose_point([far, near]) == (None, USEFUL)
    assert excess(refused("linking_risk", 0.1, 0.0)) == math.inf


def test_a_point_where_no_record_is_left_does_not_pass() -> None:
    policy = policy_from(attributes(gate={"linking_risk": 1.0}))
    found = verdicts(policy, expected(1.0, suppression=1.0))
    assert [v.limit for v in found if not v.status.publishable] == ["suppression"]
    assert [v.limit for v in found if v.status is Status.WARNED] == ["utility_released"]
    assert all(v.status.publishable for v in verdicts(policy, expected(1.0, suppression=0.99)))
