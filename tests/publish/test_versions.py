"""A release that is out, of manifest version 2, verifies: a later change of the format must not lose it.

`version_2/noisy` was made by the development version of 0.2.0, from generated patients, by `run policy.yaml`.
`version_2/beside` was made in the same way, later: with the public part of its policy beside it.
Once 0.2.0 is released they must never be made again: a change that breaks this test needs manifest version 3.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anon_pipeline.gate import Status
from anon_pipeline.policy import load_policy
from anon_pipeline.publish.verify import Against, verify_in_detail
from tests.adversarial.mutations import KINDS, leaves, missed

OUT = Path(__file__).parent / "version_2" / "noisy"
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
