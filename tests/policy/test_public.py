"""What is public of a policy, and the policy that is read back from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.limits.table import demands
from anon_pipeline.policy import Policy, load_policy, policy_from
from anon_pipeline.policy.public import (
    PublicPolicy,
    differs,
    public_attributes,
    public_document,
    public_policy,
)
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.stages.facts.check import decided_facts
from tests.policy.everything import EVERYTHING

ROOT = Path(__file__).resolve().parents[2]
Small = Callable[..., Policy]

LISTED = {
    "columns": {
        "city": {"hierarchy": {"suppress": None, "tree": {"hidden": ["Cork"], "b": ["Dublin", "Galway"]}}},
        "illness": {"distance": "ordered", "order": ["flu", "asthma", "none"]},
    }
}


def read_back(policy: Policy) -> PublicPolicy:
    return public_policy(json.loads(json.dumps(public_document(policy))))


def policies() -> list[Policy]:
    files = [*ROOT.glob("assets/releases/*/defs.yaml"), *ROOT.glob("tests/publish/version_*/*/policy.yaml")]
    return [load_policy(path, retired=True) for path in files]


SEES: dict[str, Callable[[Policy], Any]] = {
    "limits": lambda policy: [(one.name, one.bound, one.sense, one.advised) for one in demands(policy)],
    "guarantee": guarantee,
    "facts": lambda policy: list(decided_facts(policy)),
    "report": public_attributes,
    "review": lambda policy: policy.is_reviewed,
    "numbers": lambda policy: policy.numeric,
    "columns": lambda policy: [policy.released, list(policy.generalized), list(policy.lasting)],
    "digests": lambda policy: [policy.digest, policy.making],
    "signs": lambda policy: policy.publish.sign is not None,
}


@pytest.mark.parametrize("sees", SEES)
def test_what_is_verified_and_reported_is_the_same_of_it(sees: str, small_policy: Small) -> None:
    found = [*policies(), small_policy(**LISTED), policy_from(EVERYTHING)]
    assert len(found) > 6
    for policy in found:
        assert SEES[sees](read_back(policy)) == SEES[sees](policy), policy.name


def test_lists_are_counted_and_nothing_of_them_is_told(small_policy: Small) -> None:
    document = public_document(small_policy(**LISTED))
    columns = document["attributes"]["columns"]
    assert columns["city"]["hierarchy"] == {"tree": {"hidden": [2, 1]}}
    assert columns["illness"]["order"] == {"hidden": 3}
    assert "Cork" not in json.dumps(document)
    policy = public_policy(document)
    assert policy.hidden == {"city", "illness"}
    illness = policy.columns["illness"].model_dump()
    assert illness["order"] == ("(value 1)", "(value 2)", "(value 3)")


def test_defaults_are_spelled_out_and_private_sections_left_out(small_policy: Small) -> None:
    document = public_document(small_policy())["attributes"]
    assert document["anonymize"]["loss"]
    assert document["publish"] == {"format": "parquet", "formulas": "neutralize"}
    assert not set(document) & {"source", "clean", "deidentify", "vault", "schedule", "dataset", "budget"}


def test_it_says_what_its_policy_says(small_policy: Small) -> None:
    policy = small_policy(**LISTED)
    document = public_document(policy)
    assert not differs(document, policy)
    assert differs(document, small_policy())
    fewer = json.loads(json.dumps(document))
    del fewer["attributes"]["perturb"]["epsilon"]
    assert differs(fewer, policy)
    later = json.loads(json.dumps(document))
    later["attributes"]["gate"]["later"] = None
    assert differs(later, policy)
    del document["attributes"]["gate"]["attacks"]["sample_uniques"]  # a field that came later, and is not set
    assert not differs(document, policy)


@pytest.mark.parametrize("document", [None, [], {}, "policy", {"attributes": {}}])
def test_anything_else_is_refused(document: object) -> None:
    with pytest.raises(InputError, match="must be the public part of a policy"):
        public_policy(document)


def test_one_that_cannot_be_read_is_not_quoted(small_policy: Small) -> None:
    document = public_document(small_policy())
    document["attributes"]["anonymize"]["recoder"] = "CANARY"
    with pytest.raises(PolicyError, match="cannot read it") as error:
        public_policy(document)
    assert "CANARY" not in str(error.value)


@pytest.mark.parametrize("size", [10**6, [10**5, 1], -1, 1.5, True, "2", [[]]])
def test_sizes_are_bounded(small_policy: Small, size: object) -> None:
    document = public_document(small_policy(**LISTED))
    document["attributes"]["columns"]["illness"]["order"] = {"hidden": size}
    with pytest.raises(PolicyError):
        public_policy(document)


@pytest.mark.parametrize("reviewed", [True, False])
def test_a_review_is_public_without_its_digest_and_only_if_it_holds(
    small_policy: Small, reviewed: bool
) -> None:
    """Its digest would confirm guesses of what is private, and the public part alone cannot compute it."""
    digest = small_policy().review_digest if reviewed else "0" * 16
    said = {"who": "Data office", "when": "2026-11-26"}
    policy = small_policy(reviewed={**said, "digest": digest})
    document = public_document(policy)
    assert digest not in json.dumps(document)
    assert document["attributes"].get("reviewed") == (said if reviewed else None)
    assert read_back(policy).is_reviewed is reviewed
    assert not differs(document, policy)
    assert differs(document, small_policy()) is reviewed
