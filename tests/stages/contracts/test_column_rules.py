"""Rules accept what their stage may release, refuse what else there is, and name values that break them."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from anon_pipeline.encode.codes import code_quasi_identifiers
from anon_pipeline.policy import Policy
from anon_pipeline.stages.contracts.column_rules import (
    IS_HASHED,
    IS_MASKED,
    IS_PERSON,
    IS_RECORD_KEY,
    domain_rule,
    generalized_rule,
    grid_rule,
)
from anon_pipeline.stages.contracts.shape import Rule

Small = Callable[..., Policy]


def test_ranges_of_an_order_are_of_its_values_and_in_order(small_policy: Small) -> None:
    order = {"order": ["low", "so, so", "[high]"]}
    policy = small_policy(
        columns={"city": {"hierarchy": {**order, "suppress": None}}}, anonymize={"recoder": "mondrian"}
    )
    age, city = pd.Series([1, 2], name="age"), pd.Series(["low", "low"], name="city")
    frame = pd.concat([age, city], axis=1)
    _, hierarchy = code_quasi_identifiers(frame, policy).hierarchies
    rule = generalized_rule(hierarchy, None, means=False, cells=False)
    for text in ("low", "[high]", "*", "[low, so, so]", "[so, so, [high]]", "[low, [high]]"):
        assert rule.holds(pd.Series([text])), text
    for text in ("lo", "[low, low]", "[so, so, low]", "[low]", "[low, middle]", "low, so, so", "[, ]", "["):
        assert not rule.holds(pd.Series([text])), text


RULES = [
    (IS_MASKED, ["***", None]),
    (IS_HASHED, ["0a" * 32, None]),
    (IS_PERSON, ["0a" * 32, "0a" * 32]),
    (IS_RECORD_KEY, ["0a" * 64, "0b" * 64]),
    (domain_rule(["yes", "no"]), ["yes", "yes"]),
    (grid_rule(0.5), [1.5, -2.0]),
]


@pytest.mark.parametrize(("rule", "good"), RULES, ids=[rule.name for rule, _ in RULES])
def test_a_rule_accepts_what_keeps_it_and_refuses_what_it_says_breaks_it(
    rule: Rule, good: list[object]
) -> None:
    assert rule.holds(pd.Series(good))
    assert not any(rule.holds(column) for column in rule.bad)


def test_two_records_of_one_key_break_its_rule_whatever_is_behind_it() -> None:
    assert not IS_RECORD_KEY.holds(pd.Series(["0a" * 64, "0a" * 32 + "0b" * 32]))
