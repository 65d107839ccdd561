"""Comparing points: the front, the recommended one, the nearest one where none passes."""

from __future__ import annotations

import math

import pytest

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy import policy_from
from anon_pipeline.tuning.choose import BALANCED, LEAST_LOSS, choose_point, excess, mark_front, nearest
from anon_pipeline.tuning.grid import Choice, Grid, choices, default_grid, policy_at
from anon_pipeline.tuning.judging import limits_linking, limits_not_judged, verdicts
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


def test_the_default_grid_holds_the_policys_own_values() -> None:
    grid = default_grid(policy_from(attributes(anonymize={"k": 7}, perturb={"epsilon": 3})))
    assert 7 in grid.k and 3 in grid.epsilon and len(grid.k) == len(grid.epsilon) == 8
    assert len(choices(policy_from(attributes()), Grid())) == 1
    assert max(default_grid(policy_from(attributes(budget={"epsilon": 4}))).epsilon) == 2


def test_a_grid_that_does_not_fit_is_refused() -> None:
    own = attributes()["columns"] | {"height": {"role": "insensitive"}}  # type: ignore[operator]
    without = policy_from(attributes(columns=own, perturb=None))
    with pytest.raises(InputError, match="no column has the role perturb"):
        choices(without, Grid(epsilon=(1.0,)))
    assert default_grid(without).epsilon == ()
    with pytest.raises(InputError, match="at most 10,000 points, got 40,000"):
        choices(
            policy_from(attributes()), Grid(k=tuple(range(2, 202)), epsilon=tuple(map(float, range(1, 201))))
        )
    with pytest.raises(PolicyError, match=r"anonymize\.k"):
        policy_at(policy_from(attributes()), Choice(1, 1.0, None, "ola"))


def test_a_point_is_the_policy_but_for_its_values() -> None:
    policy = policy_from(attributes(gate={"linking_risk": 0.1}))
    assert policy_at(policy, Choice(5, 2.0, None, "ola")).digest == policy.digest
    other = policy_at(policy, Choice(9, 0.5, 0.9, "mondrian"))
    assert (other.anonymize.k, other.anonymize.recoder) == (9, "mondrian")
    assert (other.perturb.epsilon, other.suppress.confidence) == (0.5, 0.9)  # type: ignore[union-attr]
    assert other.gate == policy.gate and other.columns == policy.columns


def test_a_point_where_no_record_is_left_does_not_pass() -> None:
    policy = policy_from(attributes())
    assert [v.limit for v in verdicts(policy, expected(1.0, suppression=1.0)) if v.status != "passed"] == [
        "suppression"
    ]
    assert all(v.status == "passed" for v in verdicts(policy, expected(1.0, suppression=0.99)))


def test_limits_are_judged_certainly_on_expectation_or_not_at_all() -> None:
    gate = {
        "k": 6,
        "linking_risk": 0.2,
        "suppression": 0.1,
        "confidence_k": 4,
        "t_closeness": {"illness": 0.5},
        "attacks": {"prosecutor_risk": 0.1, "expected_linking_risk": 0.3, "assignment_risk": 0.2},
    }
    policy = policy_from(attributes(gate=gate, suppress={"confidence": 0.9}))
    found = {v.limit: v.status for v in verdicts(policy, expected(0.25, suppression=0.05))}
    assert found == {
        "k": "refused",
        "linking_risk": "refused",
        "suppression": "passed",
        "confidence_k": "passed",
        "expected_linking_risk": "passed",
        "prosecutor_risk": "refused",
    }
    assert limits_not_judged(policy) == ("assignment_risk",)
    assert limits_linking(policy) and not limits_linking(policy_from(attributes()))
