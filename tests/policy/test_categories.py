"""What the policy says of noise on categories, and what does not fit them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.mechanisms import MECHANISMS
from anon_pipeline.encode.categories import category_noises
from anon_pipeline.policy import Policy, policy_from

Small = Callable[..., Policy]

TREE = {"health": ["nurse", "doctor"], "other": ["cook", "clerk", "smith"]}
JOB: dict[str, Any] = {"role": "perturb", "mechanism": "exponential", "hierarchy": {"tree": TREE}}
SMOKES: dict[str, Any] = {
    "role": "perturb",
    "mechanism": "randomized_response",
    "values": [0, 1],
    "weight": 2,
}
BOTH = {"job": JOB, "smokes": SMOKES}
ALONE: dict[str, Any] = {"columns": {"height": None, **BOTH}, "suppress": None}


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        (
            {"mechanism": "randomized_response", "resolution": 1},
            "mechanism: randomized_response is for categories (with values or a hierarchy), not for numbers. "
            f"For numbers fit {', '.join(MECHANISMS)}.",
        ),
        (
            {"mechanism": "staircase", "values": ["a", "b"]},
            "mechanism: staircase is for numbers. For categories fit randomized_response, exponential (with "
            "a hierarchy), pram, rank_swapping (with ordered: true), class_swapping.",
        ),
        (
            {"mechanism": "rounding", "values": ["a", "b"]},
            "mechanism: rounding is for numbers. For categories fit randomized_response, exponential (with "
            "a hierarchy), pram, rank_swapping (with ordered: true), class_swapping.",
        ),
        (
            {"mechanism": "rank_swapping", "values": ["a", "b"], "amount": 0.1},
            "mechanism: rank_swapping needs ordered: true and values, from the lowest to the highest, got "
            "values without ordered: true",
        ),
        (
            {"mechanism": "rank_swapping", "hierarchy": {"tree": TREE}, "ordered": True, "amount": 0.1},
            "mechanism: rank_swapping needs ordered: true and values, from the lowest to the highest, got "
            "a hierarchy with ordered: true",
        ),
        (
            {"mechanism": "class_swapping", "values": ["a", "b"], "ordered": True},
            "ordered must be left out with mechanism: class_swapping, which uses no order; it is for "
            "rank_swapping",
        ),
        (
            {**SMOKES, "amount": 0.1},
            "amount must be left out: mechanism: randomized_response takes none",
        ),
        (
            {"mechanism": "class_swapping", "values": ["a", "b"], "shares": [1, 1]},
            "shares must be left out with class_swapping; they are for pram",
        ),
        (
            {"mechanism": "exponential", "values": ["a", "b"]},
            "mechanism: exponential needs a hierarchy, whose distances it keeps. Without one, use "
            "randomized_response, pram.",
        ),
        (
            {**SMOKES, "output_bounds": [0, 1], "resolution": 1},
            "output_bounds, resolution must be left out of a perturb column with categories. These fit: "
            "allow, role, mechanism, values, hierarchy, shares, ordered, amount, together, weight, "
            "missing.",
        ),
        (
            {"mechanism": "randomized_response"},
            "exactly one of values and hierarchy must be given, the column's public domain",
        ),
        (
            {**SMOKES, "hierarchy": {"tree": TREE}},
            "exactly one of values and hierarchy must be given, the column's public domain",
        ),
        ({**SMOKES, "values": ["a", "b", "a"]}, "each value of the domain must be named once"),
        (
            {**SMOKES, "values": ["a", "*"]},
            "the domain must not have the value *, which is how a suppressed value is released. Take another "
            "name for it, and map it in clean.columns",
        ),
        (
            {**JOB, "hierarchy": {"tree": {"x": ["a"], "y": ["*"]}}},
            "the domain must not have the value *, which is how a suppressed value is released. Take another "
            "name for it, and map it in clean.columns",
        ),
        (
            {**JOB, "hierarchy": {"tree": {"x": ["a"], "y": ["a"]}}},
            "each value of the domain must be named once",
        ),
        (
            {**SMOKES, "mechanism": "pram"},
            "shares must be given for each value of the domain (2), got 0",
        ),
        (
            {**SMOKES, "mechanism": "pram", "shares": {0: 1, "0": 2}},
            "shares must name each value once",
        ),
        (
            {**JOB, "mechanism": "pram", "shares": {"nurse": 1}},
            "shares must be given for each value of the domain and no other, got none for 4 of them and 0 "
            "others",
        ),
        (
            {**SMOKES, "mechanism": "pram", "shares": {"CANARY": 1, 0: 2}},
            "shares must be given for each value of the domain and no other, got none for 1 of them and 1 "
            "others",
        ),
        (
            {**SMOKES, "shares": {0: 1, 1: 2}},
            "shares must be left out with randomized_response; they are for pram",
        ),
        ({**SMOKES, "values": ["a"]}, "the domain must have 2 to 1000 values, got 1"),
        ({**SMOKES, "values": list(range(1001))}, "the domain must have 2 to 1000 values, got 1001"),
        (
            {**JOB, "hierarchy": {"table": "jobs.csv"}},
            "hierarchy must be a tree: its leaves are the public domain, whatever the data",
        ),
        (
            {**JOB, "hierarchy": {"tree": {"a": ["b"], "c": {"d": ["e"]}}}},
            "all leaves of the hierarchy must be at the same depth",
        ),
    ],
)
def test_what_does_not_fit_categories_is_a_policy_error(
    small_policy: Small, column: dict[str, Any], problem: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        small_policy(columns={"job": {"role": "perturb", **column}})
    assert caught.value.problems == (f"columns.job: {problem}",)


def test_limits_on_numbers_need_numbers(small_policy: Small) -> None:
    with pytest.raises(PolicyError) as caught:
        small_policy(
            columns=ALONE["columns"],
            gate={
                "linking_risk": 0.1,
                "confidence_k": 3,
                "attacks": {"assignment_risk": 0.1, "linkage": {"rules": 1, "match": [{"job": 1}]}},
            },
        )
    assert list(caught.value.problems) == [
        "suppress.confidence: needs a perturb column with numbers, got categories alone: job, smokes. Limits "
        "that fit: k, t_closeness, l_diversity.",
        "gate.linking_risk: needs a perturb column with numbers (linking does not use categories)",
        "gate.attacks.assignment_risk: needs a perturb column with numbers (linking does not use categories)",
        "gate.attacks.linkage.match: must name columns with the role generalize or perturb and numbers, got "
        "job",
    ]


def test_an_epsilon_that_is_none_is_refused(small_policy: Small) -> None:
    with pytest.raises(PolicyError, match="at most 1,000 for a column with categories, got more for job"):
        small_policy(columns={"job": JOB}, perturb={"epsilon": 2001})


def test_a_policy_of_categories_survives_its_own_text(small_policy: Small) -> None:
    policy = small_policy(columns=BOTH)
    again = policy_from(policy.model_dump(mode="json"))
    assert again == policy
    assert again.digest == policy.digest
    assert policy.columns["smokes"].domain == ("0", "1")


def test_shares_are_by_value_or_in_the_order_of_the_domain(small_policy: Small) -> None:
    by_value = {"smith": 5, "nurse": 1, "doctor": 2, "cook": 3, "clerk": 4}
    written = [by_value, [1, 2, 3, 4, 5]]
    columns = [{**JOB, "mechanism": "pram", "shares": shares} for shares in written]
    one, other = (small_policy(columns={"job": column}) for column in columns)
    assert one.categorical["job"].shares == (1, 2, 3, 4, 5)
    assert one.digest == other.digest
    (noise,) = category_noises(one).values()
    assert dict(zip(noise.domain.values, noise.draw_weights, strict=True)) == by_value
