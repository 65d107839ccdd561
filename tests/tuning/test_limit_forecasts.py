"""Limits are judged for certain, on expectation, or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anon_pipeline import anonymize
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy import policy_from
from anon_pipeline.tuning.grid import Grid
from anon_pipeline.tuning.limit_forecasts import limits_not_judged, verdicts
from anon_pipeline.tuning.results import Expected
from anon_pipeline.tuning.tune import tune
from tests.tuning.policies import people
from tests.tuning.policies import policy as tuning_policy

USEFULNESS = (
    "utility_information_loss",
    "utility_relative_error.height",
    "utility_error_of_spread.height",
    "utility_fully_generalized",
    "utility_released",
)


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
        **dict.fromkeys(USEFULNESS, "passed"),
    }
    told = ("near_homogeneity.illness", "hidden_homogeneity.height")
    unjudged = (
        *("single_value", "told_secrets", "told_originals", "rare_texts.illness", "spellings.illness"),
        *("list_cells.illness", "unconfident_records", "assignment_risk", "homogeneity.illness", *told),
        *("repeated_noise", "earlier_release", "known_columns.illness", "utility_lost_values"),
        "repeated_people",
    )
    assert limits_not_judged(policy) == unjudged


def test_usefulness_is_judged_by_column_and_refuses_where_the_policy_demands_it() -> None:
    far = replace(
        expected(0.1),
        errors={"height": 12.0},
        of_spread={"height": 6.0},
        hidden=("age",),
        information_loss=0.85,
    )
    found = {v.limit: (v.status, v.value) for v in verdicts(policy_from(attributes()), far)}
    assert [found[name] for name in USEFULNESS] == [
        *((Status.WARNED, 0.85), (Status.WARNED, 12.0), (Status.WARNED, 6.0)),
        *((Status.WARNED, 1.0), (Status.PASSED, 1.0)),
    ]
    demanding = policy_from(attributes(gate={"utility": {"relative_error": {"height": 2}}}))
    states = {v.limit: v.status for v in verdicts(demanding, far)}
    assert (states["utility_relative_error.height"], states["utility_fully_generalized"]) == (
        Status.REFUSED,
        Status.WARNED,
    )


def test_drawn_categories_are_judged_by_their_law_as_the_gate_does() -> None:
    drawn = {"role": "perturb", "mechanism": "pram", "values": ["none", "cold", "cough", "flu"]}
    gone: dict[str, Any] = {name: {"role": "identifier"} for name in ("height", "weight")}
    columns = gone | {"illness": drawn | {"shares": [1, 2, 3, 4]}}
    own = tuning_policy(columns=columns, perturb={"epsilon": 0.1}, suppress={})
    (point,) = tune(own, people(), Grid()).points
    judged = {one.limit: (one.status, one.value) for one in anonymize(own, people()).report.verdicts}
    names = ("known_columns.illness", "utility_kept.illness")
    found = {one.limit: (one.status, pytest.approx(one.value)) for one in point.verdicts}
    assert [found[name] for name in names] == [judged[name] for name in names]
    assert judged["utility_kept.illness"][0] in (Status.WARNED, Status.PASSED)
    assert point.expected.linking_known == point.expected.linked_categories["illness"]
    assert not {*names} & {*limits_not_judged(own)}
    losses = [one.expected.loss for one in tune(own, people(), Grid(epsilon=(0.1, 1.0, 9.0))).points]
    assert losses == sorted(losses, reverse=True) and losses[0] > losses[2]
    with_numbers = tuning_policy(columns={"illness": columns["illness"]}, suppress={})
    assert names[0] in limits_not_judged(with_numbers) and names[1] not in limits_not_judged(with_numbers)
