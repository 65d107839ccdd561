"""What Dagster believes of a report: all of it agrees, or nothing is a release."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from anon_pipeline.base.errors import GateRefused, PublishError
from anon_pipeline.orchestration.names import gate_check_keys
from anon_pipeline.orchestration.pipes_report import DESCRIPTION
from anon_pipeline.orchestration.pipes_results import (
    Reported,
    accepted_results,
    refuse_failed,
    refuse_incomplete,
    refuse_other_manifest,
)
from anon_pipeline.policy import Policy

KEY = dg.AssetKey(["small", "published"])
DATA = "1" * 64
SECRET = "CANARY-7f3a"
MakePolicy = Callable[..., Policy]


def check(policy: Policy, name: str = "k", *, passed: bool = True, **metadata: Any) -> dg.AssetCheckResult:
    """Return the result of a check, with metadata changed as wanted."""
    found = {"data_digest": DATA, "policy_digest": policy.digest, **metadata}
    return dg.AssetCheckResult(asset_key=KEY, check_name=name, passed=passed, metadata=found)


def release(**metadata: Any) -> dg.MaterializeResult[Any]:
    """Return a materialization, as a message is read."""
    found = {"data_digest": f"{DATA[:16]}…", **metadata}
    values = {name: dg.MetadataValue.text(value) for name, value in found.items()}
    return dg.MaterializeResult(asset_key=KEY, metadata=values)


def whole(policy: Policy) -> list[Any]:
    """Return a report with all that a release needs."""
    return [*(check(policy, key.name) for key in gate_check_keys(policy)), release()]


def test_a_whole_report_is_accepted(small_policy: MakePolicy) -> None:
    policy = small_policy()
    reported = accepted_results(whole(policy), policy, None)
    refuse_failed(reported)
    refuse_incomplete(reported, policy)
    assert len(reported.checks) == len(gate_check_keys(policy))
    assert reported.failed == []


def test_unknown_metadata_is_left_out_and_the_description_is_one_again(small_policy: MakePolicy) -> None:
    policy = small_policy()
    more = {SECRET: SECRET, f"level/{SECRET}": 1, DESCRIPTION: "k: 6 (at least 3) passed", "status": "passed"}
    results = [
        check(policy, **more, url="of the client"),
        release(left="* age", **{SECRET: SECRET, "url": "u"}),
    ]
    reported = accepted_results(results, policy, None, more={"url"})
    assert set(reported.checks["k"].metadata) == {"data_digest", "policy_digest", "status", "url"}
    assert reported.checks["k"].description == "k: 6 (at least 3) passed"
    assert reported.release is not None
    assert set(reported.release.metadata or {}) == {"data_digest", "left", "url"}
    assert SECRET not in repr(reported.release) + repr(reported.checks)


def test_names_of_columns_are_known(small_policy: MakePolicy) -> None:
    policy = small_policy()
    results = [release(**{"level/age": "1", "epsilon/height": "2", "level/other": "3"})]
    reported = accepted_results(results, policy, None)
    assert reported.release is not None
    assert set(reported.release.metadata or {}) == {"data_digest", "level/age", "epsilon/height"}


def other_asset(policy: Policy) -> dg.MaterializeResult[Any]:
    return dg.MaterializeResult(asset_key=dg.AssetKey([SECRET]), metadata={})


CONTRADICTIONS: dict[str, tuple[Callable[[Policy], list[Any]], str]] = {
    "another asset": (lambda policy: [other_asset(policy)], "another asset than small/published"),
    "no asset": (lambda policy: [dg.MaterializeResult(metadata={})], "another asset than"),
    "unknown check": (lambda policy: [check(policy, SECRET)], "1 checks are none of this policy's"),
    "twice": (lambda policy: [check(policy), check(policy, passed=False)], "reported twice"),
    "two releases": (lambda policy: [release(), release()], "reported twice"),
    "another policy": (lambda policy: [check(policy, policy_digest="0" * 64)], "made by another policy"),
    "no policy": (lambda policy: [check(policy, policy_digest={"a": [SECRET]})], "made by another policy"),
    "a partition": (lambda policy: [check(policy, partition=SECRET)], "of another partition"),
    "two tables": (
        lambda policy: [check(policy), check(policy, "origin", data_digest=SECRET)],
        "made on different data",
    ),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_a_report_that_contradicts_itself_is_not_believed(small_policy: MakePolicy, case: str) -> None:
    policy = small_policy()
    results, why = CONTRADICTIONS[case]
    with pytest.raises(GateRefused, match=why) as refused:
        accepted_results(results(policy), policy, None)
    assert SECRET not in str(refused.value)


def test_checks_of_another_partition_are_not_believed(small_policy: MakePolicy) -> None:
    policy = small_policy()
    with pytest.raises(GateRefused, match="another partition"):
        accepted_results([check(policy, partition="2026-01-05")], policy, "2026-01-12")


def test_each_check_must_have_a_result(small_policy: MakePolicy) -> None:
    policy = small_policy()
    for key in gate_check_keys(policy):
        results = [one for one in whole(policy) if getattr(one, "check_name", None) != key.name]
        with pytest.raises(GateRefused, match=rf"checks without a result: {key.name}\."):
            refuse_incomplete(accepted_results(results, policy, None), policy)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda results: results[:-1], "no release was published"),
        (
            lambda results: [*results[:-1], release(data_digest="2222222222222222…")],
            "other data than the checks",
        ),
        (lambda results: [*results[:-1], dg.MaterializeResult(asset_key=KEY)], "other data than the checks"),
    ],
)
def test_a_release_must_be_of_the_data_that_was_judged(
    small_policy: MakePolicy, change: Callable[[list[Any]], list[Any]], why: str
) -> None:
    policy = small_policy()
    with pytest.raises(GateRefused, match=why):
        refuse_incomplete(accepted_results(change(whole(policy)), policy, None), policy)


def test_checks_must_say_what_they_judged(small_policy: MakePolicy) -> None:
    policy = small_policy()
    results = [check(policy, key.name, data_digest=5) for key in gate_check_keys(policy)]
    with pytest.raises(GateRefused, match="do not say which data"):
        refuse_incomplete(accepted_results([*results, release()], policy, None), policy)


def test_a_failed_check_blocks_and_a_warning_does_not(small_policy: MakePolicy) -> None:
    policy = small_policy()
    warned = check(policy, "origin", passed=False)._replace(severity=dg.AssetCheckSeverity.WARN)
    refuse_failed(accepted_results([warned], policy, None))
    with pytest.raises(GateRefused, match=r"^The gate refused the release: k\. The checks say what to do\.$"):
        refuse_failed(accepted_results([warned, check(policy, passed=False)], policy, None))


def test_the_manifest_must_be_of_the_reported_release(staged: Callable[..., Any], tmp_path: Path) -> None:
    made = staged()
    done = made.materialize("published")
    assert done.success
    policy, folder = made.policy, made.folder / "out"
    evaluations = [one for one in done.get_asset_check_evaluations() if one.asset_key == KEY]
    checks = {
        one.check_name: dg.AssetCheckResult(
            asset_key=KEY,
            check_name=one.check_name,
            passed=one.passed,
            severity=one.severity,
            metadata=one.metadata,
        )
        for one in evaluations
    }
    reported = Reported(checks, release())
    refuse_other_manifest(reported, policy, folder, None)
    with pytest.raises(GateRefused, match="another partition"):
        refuse_other_manifest(reported, policy, folder, "2026-01-05")
    with pytest.raises(GateRefused, match="has no manifest"):
        refuse_other_manifest(reported, policy, tmp_path / "nowhere", None)
    lenient = {**checks, "k": checks["k"]._replace(passed=not checks["k"].passed)}
    with pytest.raises(GateRefused, match="another gate"):
        refuse_other_manifest(Reported(lenient, release()), policy, folder, None)
    document = json.loads((folder / "manifest.json").read_text())
    for key in ("data_digest", "policy_digest", "release", "gate"):
        (folder / "manifest.json").write_text(json.dumps(document | {key: SECRET}))
        with pytest.raises(GateRefused, match=f"another {key}") as refused:
            refuse_other_manifest(reported, policy, folder, None)
        assert SECRET not in str(refused.value)
    (folder / "manifest.json").write_text(SECRET)
    with pytest.raises(PublishError, match="must be a manifest") as unread:
        refuse_other_manifest(reported, policy, folder, None)
    assert SECRET not in str(unread.value)
