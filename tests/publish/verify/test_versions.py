"""A release that is out, of manifest version 2, verifies: a later change of the format must not lose it.

`version_2/noisy` and `version_2/beside`, which also draws categories, were made from generated patients by
`run policy.yaml`. Until 0.2.0 is released, whoever adds a limit makes them again. From then on nobody must:
a change that breaks this test needs manifest version 3.
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


@pytest.mark.parametrize("folder", [OUT, OUT.parent / "beside"], ids=lambda folder: folder.name)
def test_no_verdict_may_be_missing(folder: Path) -> None:
    """Else whoever forges a manifest could leave out the one warning that it should have."""
    policy = load_policy(folder / "policy.yaml", retired=True)
    document = json.loads((folder / "out" / "manifest.json").read_text(encoding="utf-8"))
    gate, verdicts = document["gate"], document["gate"]["verdicts"]
    names = [verdict["limit"] for verdict in verdicts]
    assert names == limits_of(policy)
    assert broken_gate(document, policy, None, rules=RULES_2) == []
    warned = {verdict["limit"] for verdict in verdicts if verdict["status"] == "warned"}
    assert {"rare_values.zip", "accepted.gate.linking_risk"} <= warned
    for name in names:
        kept = [verdict for verdict in verdicts if verdict["limit"] != name]
        (wrong,) = broken_gate({**document, "gate": {**gate, "verdicts": kept}}, policy, None, rules=RULES_2)
        assert wrong.startswith("it must judge"), name


def test_of_all_limits_that_a_kind_has_none_may_be_missing() -> None:
    """Advice was once left out together with all advice that came at the same time, unnoticed."""
    policy = load_policy(OUT / "policy.yaml", retired=True)
    gate, verdicts = DOCUMENT["gate"], DOCUMENT["gate"]["verdicts"]
    for kind in {verdict["limit"].partition(".")[0] for verdict in verdicts}:
        kept = [verdict for verdict in verdicts if verdict["limit"].partition(".")[0] != kind]
        (wrong,) = broken_gate({**DOCUMENT, "gate": {**gate, "verdicts": kept}}, policy, None, rules=RULES_2)
        assert wrong.startswith("it must judge"), kind


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
