"""A release that is out, of manifest version 2, verifies: a later change of the format must not lose it.

`version_2/noisy` was made by the development version of 0.2.0, from generated patients, by `run policy.yaml`.
`version_2/beside` was made in the same way, later: with the public part of its policy beside it.
Once 0.2.0 is released they must never be made again: a change that breaks this test needs manifest version 3.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anon_pipeline.gate import Status, limits_of
from anon_pipeline.policy import load_policy
from anon_pipeline.publish.verify.manifest_facts import broken_gate
from anon_pipeline.publish.verify.verify import Against, verify_in_detail
from anon_pipeline.publish.verify.versions import RULES_2
from tests.adversarial.mutations import KINDS, leaves, missed

OUT = Path(__file__).parents[1] / "version_2" / "noisy"
DOCUMENT = json.loads((OUT / "out" / "manifest.json").read_text(encoding="utf-8"))


def against() -> Against:
    return Against(load_policy(OUT / "policy.yaml", retired=True), OUT)


@pytest.mark.parametrize("policy", [True, False])
def test_it_verifies(policy: bool) -> None:
    found = verify_in_detail(OUT / "out", against() if policy else Against())
    assert found.report.with_status(Status.REFUSED) == ()
    assert found.warnings == ()
    assert {v.limit for v in found.report.with_status(Status.PASSED)} >= {
        "files",
        "data_digest",
        "folder",
        "report",
    }


def test_what_it_holds_is_compared() -> None:
    assert DOCUMENT["manifest_version"] == 2
    assert DOCUMENT["files"][0]["format"] == "parquet"
    assert DOCUMENT["allowed"]
    assert len(list(leaves(DOCUMENT))) > 100
    found = missed(OUT / "out", against(), KINDS[:2])
    assert set(found.unnoticed) <= found.listed
    assert found.crashed == 0


def test_later_advice_may_be_missing_but_only_all_of_it() -> None:
    """Else whoever forges a manifest could leave out the one warning that it should have."""
    policy = load_policy(OUT / "policy.yaml", retired=True)
    names = [verdict["limit"] for verdict in DOCUMENT["gate"]["verdicts"]]
    assert names == limits_of(policy, until=0) != limits_of(policy)
    assert broken_gate(DOCUMENT, policy, None, rules=RULES_2) == []
    gate = DOCUMENT["gate"]
    told = {"limit": "told_originals", "status": "passed", "value": None, "bound": None, "sense": "holds"}
    place = limits_of(policy).index("told_originals")
    verdicts = [*gate["verdicts"][:place], {**told, "reason": None}, *gate["verdicts"][place:]]
    some = {**DOCUMENT, "gate": {**gate, "verdicts": verdicts}}
    (wrong,) = broken_gate(some, policy, None, rules=RULES_2)
    assert wrong == "it must judge the policy's limits, all of them and no others, in their order"
    kept = [verdict for verdict in gate["verdicts"] if verdict["limit"] != "near_homogeneity.charges"]
    assert broken_gate({**DOCUMENT, "gate": {**gate, "verdicts": kept}}, policy, None, rules=RULES_2) == [
        wrong
    ]


BESIDE = OUT.parent / "beside"


@pytest.mark.parametrize("policy", [True, False])
def test_one_with_its_public_policy_verifies(policy: bool) -> None:
    whole = Against(load_policy(BESIDE / "policy.yaml", retired=True), BESIDE)
    found = verify_in_detail(BESIDE / "out", whole if policy else Against())
    assert found.report.with_status(Status.REFUSED) == ()
    assert found.in_part is not policy
    passed = {verdict.limit for verdict in found.report.with_status(Status.PASSED)}
    assert passed >= {
        "policy",
        "recorded gate",
        "facts",
        "statements",
        "gate.k",
        "gate.l_diversity.diagnosis",
    }


def test_what_it_holds_is_compared_without_the_policy() -> None:
    found = missed(BESIDE / "out", Against(), KINDS[:2])
    assert set(found.unnoticed) <= found.listed
    assert found.crashed == 0
