"""Facts against the rules of a version and against the policy, with rules of a version that is made up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from anon_pipeline.policy import Policy
from anon_pipeline.stages.facts import fact_rules as must
from anon_pipeline.stages.facts.agreement import FactVersion, broken_facts, decided_by, noise_said, said_of

CANARY = "CANARY-7f3a"
MADE = "a" * 64


@pytest.fixture
def policy(small_policy: Callable[..., Policy]) -> Policy:
    return small_policy()


def version(**changes: Any) -> FactVersion:
    """Return a version of two stages; what the policy decides are the columns."""
    fields: Mapping[str, Mapping[str, must.Rule]] = {
        "raw": {"records": must.count, "columns": must.count, "people": must.or_none(must.count)},
        "perturbed": {"columns": lambda value, known: True, "composition": lambda value, known: True},
    }
    known = {"said": lambda stage, policy: {"columns": 7} if stage == "raw" else {}, "noise": noise_said}
    return FactVersion(fields, **{**known, **changes})


def raw(**changes: Any) -> dict[str, Any]:
    return {"records": 9, "columns": 7, "people": None, "made_by": MADE, **changes}


def broken(policy: Policy, facts: dict[str, Any], **changes: Any) -> list[str]:
    found = list(broken_facts(version(**changes), policy, facts, making=MADE))
    assert CANARY not in "".join(found)
    return found


def test_what_keeps_the_rules_and_agrees_is_taken(policy: Policy) -> None:
    assert broken(policy, {"raw": raw()}) == []
    noise = {"columns": noise_said(policy), "composition": None, "made_by": MADE}
    assert broken(policy, {"raw": raw(), "perturbed": noise}) == []


def test_each_stage_is_one_line_with_its_fields_and_the_advice_of_the_version(policy: Policy) -> None:
    facts = {"raw": raw(records=CANARY, **{CANARY: 1}), CANARY: {}}
    assert broken(policy, facts, advice=". Make {} again.") == [
        "the facts of a table must be of the stages, got 1 others",
        "the facts of raw must be what that stage writes; these are not: fields that are not known, records. "
        "Make raw again.",
    ]


def test_only_facts_that_claim_the_policy_must_say_what_it_says(policy: Policy) -> None:
    assert broken(policy, {"raw": raw(columns=8)})[0].endswith("these are not: columns")
    assert broken(policy, {"raw": raw(columns=8, made_by="b" * 64)}) == []
    wrong = {"columns": {}, "composition": {"epsilon_spent": "1"}, "made_by": MADE}
    assert broken(policy, {"perturbed": wrong})[0].endswith("these are not: columns, composition")


@pytest.mark.parametrize(("person", "people", "taken"), [(None, None, True), (None, 3, False)])
def test_people_are_counted_with_a_person_alone(
    policy: Policy, person: str | None, people: int | None, taken: bool
) -> None:
    assert policy.person is person
    assert (broken(policy, {"raw": raw(people=people)}, people={"raw": ("people",)}) == []) is taken


def test_what_is_spent_must_be_a_sum_of_shares(small_policy: Callable[..., Policy]) -> None:
    two = {"weight": {"role": "perturb", "resolution": 1, "weight": 2}}
    keys = {"record_key": "person", "deidentify": {"key_env": "UNUSED"}}
    policy = small_policy(columns=two, perturb={"epsilon": 3}, **keys)
    for spent, taken in (("3", True), ("0", True), ("1", True), ("2", True), ("4", False), ("1/7", False)):
        noise = {"columns": noise_said(policy), "composition": {"epsilon_spent": spent}, "made_by": MADE}
        assert (broken(policy, {"perturbed": noise}) == []) is taken, spent


def test_what_the_policy_decides_is_named_with_the_items_of_lists(policy: Policy) -> None:
    names = list(decided_by(version(), policy))
    assert names[:2] == [("raw", "columns"), ("raw", "columns", "*")]
    assert ("perturbed", "columns", "height", "epsilon") in names
    assert ("perturbed", "columns") not in names  # there is noise


def test_identifiers_are_listed_by_what_happens_to_them(policy: Policy) -> None:
    said = said_of(policy, {"dropped": "drop", "masked": "mask"})
    assert said["deidentified"] == {"dropped": ["person"], "masked": []}
    assert said["perturbed"]["epsilon"] == 2
