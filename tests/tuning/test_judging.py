"""Limits are judged for certain, on expectation, or not at all."""

from __future__ import annotations

from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy import policy_from
from anon_pipeline.tuning.judging import limits_linking, limits_not_judged, verdicts
from anon_pipeline.tuning.tuned import Expected


def expected(risk: float, loss: float = 0.1, *, suppression: float = 0.0, smallest: int = 5) -> Expected:
    return Expected(0.1, 0.1, risk, risk, suppression, suppression, loss, loss, (0.0, 0.0), smallest)


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
