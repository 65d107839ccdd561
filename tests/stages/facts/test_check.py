"""No field of any stage's facts takes a text that is not the program's or the policy's own."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.stages.facts.check import checked_facts
from anon_pipeline.stages.facts.fields import PUBLIC_FIELDS
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import STAGES, Means

CANARY = "CANARY-7f3a"
Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
Path_ = tuple[Any, ...]


@pytest.fixture
def policy(small_policy: Small) -> Policy:
    return small_policy(
        columns={
            "mail": {"role": "identifier", "action": "hash"},
            "height": {"sensitivity": "declared", "input_bounds": [145, 195]},
        },
        record_key="person",
        deidentify={"key_env": "UNUSED"},
        perturb={"republish": "sticky"},
        gate={"t_closeness": {"income": 0.9}, "l_diversity": {"illness": {"l": 1}}},
    )


@pytest.fixture
def facts(policy: Policy, small_people: People) -> dict[str, dict[str, Any]]:
    """Facts of every stage, as the vault gives them back."""
    people = small_people().assign(mail=lambda frame: frame["person"])
    means = Means(Path(), b"0123456789abcdef", seeded_entropy(1), memory=Memory.empty())
    chain = run(policy, people, means)
    written: dict[str, dict[str, Any]] = json.loads(json.dumps(chain.suppressed.facts))
    written["perturbed"]["release_id"] = "0123456789abcdef" * 2
    written["k_anonymized"]["hierarchies"] = {"age": "0" * 64}
    checked_facts(policy, chain.suppressed.facts)  # as they are in memory
    return written


def _places(value: Any, at: Path_ = ()) -> Iterator[Path_]:
    """Yield the place of every value, at any depth."""
    if at:
        yield at
    if isinstance(value, dict):
        for name, below in value.items():
            yield from _places(below, (*at, name))
    elif isinstance(value, list):
        for i, below in enumerate(value):
            yield from _places(below, (*at, i))


def _with(facts: dict[str, Any], at: Path_, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(facts)
    inner: Any = changed
    for step in at[:-1]:
        inner = inner[step]
    inner[at[-1]] = value
    return changed


def _refused(policy: Policy, facts: Any, at: object) -> str:
    with pytest.raises(InputError) as caught:
        checked_facts(policy, facts)
        pytest.fail(f"taken: {at}")
    said = str(caught.value) + repr(caught.value) + repr(caught.value.__context__)
    assert CANARY not in said
    return str(caught.value)


def test_what_the_stages_write_is_taken(policy: Policy, facts: dict[str, Any]) -> None:
    assert checked_facts(policy, facts) is facts
    assert list(facts) == list(STAGES)
    for stage in STAGES:
        checked_facts(policy, {stage: facts[stage]})
    assert checked_facts(policy, {}) == {}


@pytest.mark.parametrize(
    "forged",
    [
        *(CANARY, [CANARY], {CANARY: 1}, {"a": CANARY}, f"{CANARY}\n", "age " + CANARY, {"age": [CANARY]}),
        *(int.from_bytes(CANARY.encode()), 10**400, 10**40, -1, math.nan, math.inf, [[1]], True),
    ],
    ids=lambda value: str(value)[:20],
)
def test_no_place_takes_anything_else(policy: Policy, facts: dict[str, Any], forged: Any) -> None:
    places = list(_places(facts))
    assert len(places) > 60
    for at in places:
        current = facts
        for step in at:
            current = current[step]
        if isinstance(forged, bool) and isinstance(current, bool):
            continue
        _refused(policy, _with(facts, at, forged), at)


def test_no_name_is_taken_that_is_not_known(policy: Policy, facts: dict[str, Any]) -> None:
    for at in [(), *(place for place in _places(facts))]:
        inner: Any = facts
        for step in at:
            inner = inner[step]
        if isinstance(inner, dict):
            changed = copy.deepcopy(facts)
            target: Any = changed
            for step in at:
                target = target[step]
            target[CANARY] = next(iter(inner.values()), 0)
            _refused(policy, changed, at)
        elif isinstance(inner, list):
            _refused(policy, _with(facts, at, [*inner, CANARY]), at)


def test_no_field_may_lack(policy: Policy, facts: dict[str, Any]) -> None:
    for stage, values in facts.items():
        for name in values:
            changed = copy.deepcopy(facts)
            del changed[stage][name]
            assert name in _refused(policy, changed, (stage, name))


def test_messages_name_stages_and_fields(policy: Policy, facts: dict[str, Any]) -> None:
    changed = _with(_with(facts, ("perturbed", "mechanism"), CANARY), ("raw", CANARY), 1)
    assert _refused(policy, {**changed, CANARY: {}}, "") == (
        "the facts of a table must be of the stages, got 1 others\n"
        "the facts of raw must be what that stage writes; these are not: fields that are not known. "
        "Materialize raw again.\n"
        "the facts of perturbed must be what that stage writes; these are not: mechanism. "
        "Materialize perturbed again."
    )
    public = {"perturbed": {"mechanism": CANARY}}
    with pytest.raises(InputError, match=r"not: .*mechanism") as refused:
        checked_facts(policy, public, PUBLIC_FIELDS)
    assert "Materialize" not in str(refused.value)  # of a manifest, no stage can be made again
    for wrong in ([], CANARY, None, {"raw": CANARY}, {"raw": []}):
        assert "must be a mapping of stages" in _refused(policy, wrong, wrong)


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("raw", "columns"), 3),
        (("deidentified", "dropped"), []),
        (("deidentified", "hashed"), ["mail", "mail"]),
        (("k_anonymized", "k"), 100),
        (("k_anonymized", "recoder"), "ola"),
        (("k_anonymized", "suppression_limit"), 0.0),
        (("perturbed", "epsilon"), 1.0),
        (("perturbed", "republish"), "fresh"),
        (("perturbed", "passed_through"), True),
        (("perturbed", "composition"), None),
        (("perturbed", "composition", "epsilon_spent"), "3"),
        (("perturbed", "composition", "epsilon_spent"), "1/7"),
        (("perturbed", "columns", "height", "epsilon"), 1.0),
        (("perturbed", "columns", "height", "resolution"), 2.0),
        (("perturbed", "columns"), {}),
        (("suppressed", "confidence"), None),
        (("suppressed", "released"), 241),
        (("shuffled", "records"), 10_000),
    ],
)
def test_facts_that_claim_to_be_made_by_the_policy_say_what_it_says(
    policy: Policy, facts: dict[str, Any], at: Path_, value: Any
) -> None:
    assert at[1] in _refused(policy, _with(facts, at, value), at)


def test_facts_of_another_policy_are_left_to_the_gate(policy: Policy, facts: dict[str, Any]) -> None:
    """The limit *origin* refuses them, and says what to do: their numbers may be others."""
    other = copy.deepcopy(facts)
    other["perturbed"] |= {"made_by": "0" * 64, "epsilon": 9.0}
    other["k_anonymized"] |= {"made_by": "0" * 64, "k": 7}
    checked_facts(policy, other)
