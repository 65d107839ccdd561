"""The suite of a policy says what the gate says, on releases that keep and break every kind of limit."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from great_expectations.core import ExpectationSuite
from great_expectations.render.renderer.page_renderer import ExpectationSuitePageRenderer
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.encode.grids import noises
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.gate import GateReport, Status, evaluate
from anon_pipeline.gate.great_expectations import (
    ExpectReleaseToBeKAnonymous,
    Outcome,
    SuiteResult,
    gate_batch,
    suite,
    suite_for,
    validate,
)
from anon_pipeline.gate.great_expectations.cases import Layout, case_from
from anon_pipeline.limits.known_columns import KNOWN_COLUMNS
from anon_pipeline.limits.table import demands, limit_meaning, limit_of
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.sections import SuppressSection
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Means
from tests.example_counts import examples_of

ALL = {
    "k": 2,
    "t_closeness": {"pay": 0.3, "grade": 0.3, "illness": 0.3, "place": 0.3, "town": 0.3},
    "l_diversity": {
        "pay": {"kind": "entropy", "l": 2.5},
        "illness": {"kind": "distinct", "l": 2},
        "place": {"kind": "recursive", "l": 2, "c": 2.0},
    },
    "suppression": 0.3,
}
NOISE = {"linking_risk": 0.4, "confidence_k": 3}
Release = Callable[..., Any]

"""Limits that no table shows alone: they have no expectation."""


def _judge(made: Any, folder: Path) -> tuple[SuiteResult, GateReport]:
    """Ask both doors about the same release."""
    batch = gate_batch(made.released, made.originals, made.policy, hierarchies=folder)
    report = evaluate(made.released, made.policy, originals=made.originals, hierarchies=folder)
    return validate(batch, made.policy, hierarchies=folder), report


def _same(result: SuiteResult, report: GateReport) -> None:
    verdicts = [verdict for verdict in report.verdicts if limit_of(verdict.limit).expectation_name]
    assert [line.limit for line in result.lines] == [verdict.limit for verdict in verdicts]
    for line, verdict in zip(result.lines, verdicts, strict=True):
        assert (line.success, line.observed) == (verdict.status.publishable, verdict.value), line
        assert line.error is None
    assert result.success == all(verdict.status.publishable for verdict in verdicts)


LIMITS = st.fixed_dictionaries({"k": st.integers(2, 12), "share": st.floats(0, 1)})
MADE = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "noisy": st.integers(0, 2),
        "kept": st.sampled_from([0.3, 0.8, 1.0]),
        "noise": st.sampled_from([0, 3, 40]),
    }
)


@settings(
    max_examples=examples_of(20), deadline=None, derandomize=True, phases=[Phase.generate]
)  # shrinking takes minutes
@given(made=MADE, at=LIMITS)
def test_verdicts_agree_with_the_gate(
    release: Release, folder: Path, made: dict[str, Any], at: dict[str, Any]
) -> None:
    k, share = at["k"], at["share"]
    limits: dict[str, Any] = {
        "k": k,
        "t_closeness": dict.fromkeys(ALL["t_closeness"], share),
        "l_diversity": {
            "pay": {"kind": "entropy", "l": 1 + 5 * share},
            "illness": {"kind": "distinct", "l": 1 + k % 3},
            "place": {"kind": "recursive", "l": 1 + k % 4, "c": 0.1 + 3 * share},
        },
        "suppression": share,
    }
    if made["noisy"]:
        limits |= {"linking_risk": share, "confidence_k": k}
    _same(*_judge(release(gate=limits, **made), folder))


def test_a_stored_suite_with_sorted_keys_measures_the_same(release: Release, folder: Path) -> None:
    made = release(3, {**ALL, **NOISE, "attacks": {"attacker_success": 0.5}}, noisy=2)
    batch = gate_batch(made.released, made.originals, made.policy, hierarchies=folder)
    document = json.loads(json.dumps(suite.policy_document(made.policy), sort_keys=True))
    columns = dict(reversed(document["columns"].items()))
    layout = Layout(document | {"columns": columns}, {}, "_released", str(folder))
    stored = case_from(batch, layout)
    report = evaluate(made.released, made.policy, originals=made.originals, hierarchies=folder)
    verdicts = {verdict.limit: verdict.value for verdict in report.verdicts}
    simulated = [each for each in demands(made.policy) if each.limit.judged.over_noise is not None]
    own = [each.name for each in simulated if not each.limit.advisable]
    assert own == ["linking_risk", "attacker_success"]
    assert {each.name: each.verdict(stored).value for each in simulated} == {
        each.name: verdicts[each.name] for each in simulated
    }


def _at(report: GateReport) -> dict[str, Any]:
    """Return limits that are exactly what was measured."""
    found = {verdict.limit: verdict.value for verdict in report.verdicts}
    return {
        "k": int(found["k"]),
        "t_closeness": {name: found[f"t_closeness.{name}"] for name in ALL["t_closeness"]},
        "l_diversity": {
            "pay": {"kind": "entropy", "l": found["l_diversity.pay"]},
            "illness": {"kind": "distinct", "l": found["l_diversity.illness"]},
            "place": {"kind": "recursive", "l": 2, "c": found["l_diversity.place"]},
        },
        "suppression": found["suppression"],
        "linking_risk": found["linking_risk"],
        "confidence_k": int(found["confidence_k"]),
    }


def _beyond(limits: dict[str, Any]) -> dict[str, Any]:
    """Return limits that are just not kept."""
    diversity = limits["l_diversity"]
    return limits | {
        "k": limits["k"] + 1,
        "t_closeness": {name: t - 1e-9 for name, t in limits["t_closeness"].items()},
        "l_diversity": {
            "pay": {"kind": "entropy", "l": diversity["pay"]["l"] + 1e-6},
            "illness": {"kind": "distinct", "l": diversity["illness"]["l"] + 1},
            "place": diversity["place"],
        },
        "suppression": float(np.nextafter(limits["suppression"], 0)),
        "linking_risk": float(np.nextafter(limits["linking_risk"], 0)),
    }


@pytest.mark.parametrize("noisy", [1, 2])
def test_limits_are_kept_exactly_at_the_measured_value_and_broken_just_beyond(
    release: Release, folder: Path, noisy: int
) -> None:
    made = release(5, ALL | NOISE, noisy=noisy, n=90)
    limits = _at(_judge(made, folder)[1])
    result, report = _judge(made.rehashed(limits), folder)
    _same(result, report)
    broken = {line.limit for line in result.lines if not line.success}
    assert broken == {"l_diversity.place"}  # recursive diversity must be below c
    result, report = _judge(made.rehashed(_beyond(limits)), folder)
    _same(result, report)
    kept = {line.limit for line in result.lines if line.success}
    assert {name for name in kept if not limit_of(name).advisable} == {"confidence_k"}


@pytest.mark.parametrize(("noise", "kept"), [(0, True), (60, False)])
def test_confidence_is_kept_and_broken_as_the_gate_says(
    release: Release, folder: Path, noise: int, kept: bool
) -> None:
    result, report = _judge(release(9, {"confidence_k": 4}, noise=noise, n=80), folder)
    _same(result, report)
    assert next(line for line in result.lines if line.limit == "confidence_k").success is kept


@pytest.mark.parametrize("noisy", [1, 2])
def test_who_stands_alone_is_counted_as_the_gate_counts(release: Release, folder: Path, noisy: int) -> None:
    made = release(9, {}, noisy=noisy, n=80)
    strong = made.policy.perturb.model_copy(update={"epsilon": 40.0})
    open_ = made.policy.model_copy(update={"suppress": SuppressSection(), "perturb": strong})
    result, report = _judge(made._replace(policy=open_), folder)
    _same(result, report)
    (line,) = (one for one in result.lines if one.limit == "unconfident_records")
    assert line.observed > 0


def test_numbers_of_a_known_release_are_what_the_gate_measures(release: Release, folder: Path) -> None:
    result, report = _judge(release(1, ALL | NOISE, noisy=1), folder)
    _same(result, report)
    assert {line.limit: line.success for line in result.lines}["k"]
    result, report = _judge(release(1, ALL | NOISE | {"linking": "realized"}, noisy=1), folder)
    _same(result, report)
    assert result.failures() == [line.as_text() for line in result.lines if not line.success] != []


def test_an_infinite_ratio_is_broken_and_not_shown(release: Release, folder: Path) -> None:
    limits = {"l_diversity": {"town": {"kind": "recursive", "l": 4, "c": 100.0}}}
    made = release(3, limits)
    made.originals["town"] = made.released["town"] = "Bath"
    result, report = _judge(made, folder)
    _same(result, report)
    assert Outcome("l_diversity.town", False, None) in result.lines


def _people(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "ssn": [f"{i:09d}" for i in range(n)],
            "region": rng.choice(["north", "south"], n),
            "age": rng.integers(20, 60, n),
            "height": np.round(rng.integers(1500, 1900, n) * 0.1, 1),
            "weight": rng.integers(90, 200, n) * 0.5,
            "pay": rng.integers(1, 9, n) * 1000,
            "grade": rng.choice(["low", "middle", "high"], n),
            "illness": rng.choice(["flu", "cold", "gout"], n),
            "place": rng.choice(["Bath", "York", "Lyon", "Nice"], n),
            "town": rng.choice(["Bath", "York", "Lyon", "Nice"], n),
        }
    )


CHAIN = {
    "t_closeness": {"pay": 0.35, "place": 0.45, "town": 0.45},
    "l_diversity": {"illness": {"kind": "entropy", "l": 1.5}},
    "confidence_k": 5,
}


@pytest.mark.parametrize("recoder", ["ola", "mondrian"])
def test_the_whole_chain_is_judged_as_the_gate_judges_it(
    release: Release, folder: Path, recoder: str
) -> None:
    attributes = release(0, CHAIN, noisy=2).policy.model_dump(mode="json", exclude_none=True)
    policy = policy_from(attributes | {"anonymize": {"k": 5, "recoder": recoder}})
    chain = run(policy, _people(400), Means(folder, None, seeded_entropy(7)))
    made = release(0, {})._replace(
        policy=policy, released=chain.suppressed.frame, originals=chain.k_anonymized.frame
    )
    result, report = _judge(made, folder)
    _same(result, report)
    assert result.success  # `suppressed` has taken out what would break these limits
    found = {
        line.limit: line.observed for line in _judge(made.rehashed(CHAIN | NOISE | ALL), folder)[0].lines
    }
    tighter = CHAIN | {
        "k": int(found["k"]) + 1,
        "confidence_k": 200,
        "linking_risk": found["linking_risk"] / 2,
        "suppression": found["suppression"] / 2,
    }
    result, report = _judge(made.rehashed(tighter), folder)
    _same(result, report)
    assert {line.limit for line in result.lines if not line.success} == {
        *("k", "confidence_k", "linking_risk", "suppression")
    }


def test_a_suite_for_given_classes_knows_that_there_are_some() -> None:
    columns = {
        "age": {"role": "generalize", "hierarchy": {"intervals": [10]}},
        "illness": {"role": "sensitive"},
    }
    given = {"k": 3, "recoder": "given", "classes": "own"}
    made = policy_from({"name": "x", "source": {"path": "x.csv"}, "columns": columns, "anonymize": given})
    assert suite_for(made).expectations


def test_only_the_limits_of_the_policy_are_in_the_suite_and_k_always(release: Release) -> None:
    def known(policy: Any) -> list[str]:
        return [each.name for each in demands(policy) if each.limit is KNOWN_COLUMNS]

    policy = release(0, {}, noisy=0).policy
    assert [e.meta for e in suite_for(policy).expectations] == [
        {"limit": "k"},
        {"limit": "single_value"},
        *({"limit": f"rare_texts.{name}"} for name in ("illness", "place", "town")),
        {"limit": "outlying.pay"},
        *({"limit": f"list_cells.{name}"} for name in ("illness", "place", "town")),
        *({"limit": f"homogeneity.{name}"} for name in sorted(policy.sensitive)),
        *({"limit": f"near_homogeneity.{name}"} for name in sorted(policy.unchanged)),
        {"limit": "union_homogeneity"},
        *({"limit": name} for name in known(policy)),
        {"limit": "utility_fully_generalized"},
        {"limit": "utility_released"},
    ]
    policy = release(0, ALL | NOISE).policy
    assert [e.meta["limit"] for e in suite_for(policy).expectations] == [
        "k",
        "single_value",
        *(f"rare_texts.{name}" for name in ("illness", "place", "town")),
        "outlying.pay",
        *(f"t_closeness.{name}" for name in ALL["t_closeness"]),
        *(f"l_diversity.{name}" for name in ALL["l_diversity"]),
        *(f"spellings.{name}" for name in ("grade", "illness", "place", "town")),
        *(f"list_cells.{name}" for name in ("illness", "place", "town")),
        "linking_risk",
        "suppression",
        "confidence_k",
        "unconfident_records",
        *(f"homogeneity.{name}" for name in sorted(policy.sensitive)),
        *(f"near_homogeneity.{name}" for name in sorted(policy.unchanged)),
        "hidden_homogeneity.height",
        "union_homogeneity",
        *known(policy),
        "utility_relative_error.height",
        "utility_error_of_spread.height",
        "utility_fully_generalized",
        "utility_released",
    ]


def test_the_suite_carries_the_policy_exactly(release: Release) -> None:
    policy = release(0, ALL | NOISE, noisy=2).policy
    suite = suite_for(policy, hierarchies=Path("some/where"))
    carried = policy_from(suite.expectations[0].policy)
    assert noises(carried) == noises(policy)
    assert (carried.perturbed, carried.sensitive) == (policy.perturbed, policy.sensitive)
    assert list(carried.generalized) == list(policy.generalized)
    assert (carried.gate, carried.suppress) == (policy.gate, policy.suppress)
    wanted = [demand for demand in demands(policy) if demand.limit.expectation_name]
    assert [each for each in demands(carried) if each.limit.expectation_name] == wanted
    for expectation, demand in zip(suite.expectations, wanted, strict=True):
        assert expectation.expectation_type == demand.limit.expectation_name
        assert (expectation.limit_name, expectation.policy) == (demand.name, suite.expectations[0].policy)
        assert (expectation.hierarchies, expectation.released) == (str(Path("some/where")), "_released")


def test_the_number_of_releases_is_no_longer_said_to_the_suite(release: Release) -> None:
    policy = release(0, {}).policy
    with pytest.warns(DeprecationWarning, match="leave releases out of suite_for"):
        assert suite_for(policy, releases=3).expectations == suite_for(policy).expectations


def test_a_suite_survives_being_written_and_read_and_says_its_limits(release: Release) -> None:
    suite = suite_for(release(0, ALL | NOISE).policy)
    again = ExpectationSuite(**json.loads(json.dumps(suite.to_json_dict())))
    assert again.expectations == suite.expectations
    page = str(ExpectationSuitePageRenderer().render(suite).to_json_dict())
    for expectation in suite.expectations:
        name = expectation.limit_name
        assert f"'limit': '{name}'" in page
        assert limit_meaning(name) in page
    meaning = "Every class of equal quasi-identifiers has at least this many records."
    assert f"{meaning} (at least 2)" in page


def test_evidence_is_computed_once_for_all_expectations_of_a_suite(
    release: Release, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = release(7, ALL | NOISE, noisy=2)
    batch = gate_batch(made.released, made.originals, made.policy, hierarchies=folder)
    calls = []

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return evidence_from(*args, **kwargs)

    monkeypatch.setattr("anon_pipeline.gate.great_expectations.cases.evidence_from", counted)
    result = validate(batch, made.policy, hierarchies=folder)
    assert len(result.lines) > 10
    assert all(line.error is None for line in result.lines)
    assert calls == [1]


def test_a_policy_and_arguments_are_not_given_together(release: Release) -> None:
    suite = suite_for(release(0, {}, noisy=0).policy)
    given = {"policy": suite.expectations[0].policy, "limit_name": "k"}
    assert ExpectReleaseToBeKAnonymous(**given).policy == given["policy"]
    for wrong, message in (
        (given | {"k": 3}, "k: must be left out if a policy is given"),
        (given | {"limit_name": "l_diversity.pay"}, "must be a limit in the policy"),
        ({"k": 3}, "quasi_identifiers: must be given"),
        ({"limit_name": "k"}, "k: must be given"),
    ):
        with pytest.raises(ValueError, match=message):
            ExpectReleaseToBeKAnonymous(**wrong)


def test_a_batch_has_a_row_per_original_and_says_which_are_released(release: Release, folder: Path) -> None:
    made = release(2, {}, noisy=1)
    batch = gate_batch(made.released, made.originals, made.policy, hierarchies=folder)
    assert list(batch.columns) == [
        *("region", "age", "pay", "grade", "illness", "place", "town"),
        *(CLASS, "_released", "height", "_original_height"),
    ]
    assert len(batch) == len(made.originals)
    assert int(batch["_released"].sum()) == len(made.released)
    own = made.originals.set_index(RECORD).index.get_indexer(made.released[RECORD])
    assert np.array_equal(batch["height"].to_numpy()[own], made.released["height"].to_numpy())
    assert batch.loc[~batch["_released"], "height"].isna().all()
    assert batch["_original_height"].equals(made.originals["height"].rename("_original_height"))


def test_row_order_and_index_do_not_matter(release: Release, folder: Path) -> None:
    made = release(4, ALL | NOISE, noisy=2)
    batch = gate_batch(made.released, made.originals, made.policy, hierarchies=folder)
    moved = batch.sample(frac=1, random_state=1).set_index(pd.Index(np.zeros(len(batch), int)))
    expected = validate(batch, made.policy, hierarchies=folder)
    for line, same in zip(
        expected.lines, validate(moved, made.policy, hierarchies=folder).lines, strict=True
    ):
        assert line.success == same.success
        assert line.observed == pytest.approx(same.observed, rel=1e-12)


@pytest.mark.parametrize("spoil", ["stranger", "cell", "class", "empty"])
def test_a_release_that_the_gate_refuses_whole_makes_no_batch(
    release: Release, folder: Path, spoil: str
) -> None:
    made = release(6, ALL)
    released, originals = made.released.copy(), made.originals.copy()
    if spoil == "stranger":
        released.loc[0, RECORD] = -77
    elif spoil == "cell":
        released.loc[0, "illness"] = "CANARY-7f3a"
    elif spoil == "class":
        originals[CLASS] = originals[CLASS].where(originals[CLASS] < 0, 0)
    else:
        released = released.iloc[:0]
    report = evaluate(released, made.policy, originals=originals, hierarchies=folder)
    assert {verdict.status for verdict in report.verdicts} == {Status.REFUSED}
    with pytest.raises(InputError) as caught:
        gate_batch(released, originals, made.policy, hierarchies=folder)
    assert "CANARY" not in str(caught.value)


def test_what_could_not_be_measured_is_an_error_and_not_a_broken_limit(
    release: Release, folder: Path
) -> None:
    made = release(7, {"k": 200, "t_closeness": {"pay": 1.0}, "linking_risk": 1.0, "suppression": 1.0})
    batch = gate_batch(made.released, made.originals, made.policy, hierarchies=folder)
    lacking = "columns must be in the batch, not there: height"
    for line in validate(batch.drop(columns="height"), made.policy, hierarchies=folder).lines:
        assert line == Outcome(line.limit, False, None, "InputError", lacking)
        assert line.as_text() == f"{line.limit} not measured: InputError: {lacking}"
    assert not validate(batch, made.policy, hierarchies=folder).success
    lines = {line.limit: line for line in validate(batch, made.policy, hierarchies=folder).lines}
    assert lines["k"].error is None
    assert lines["k"].as_text().endswith(" not kept")
    assert lines["suppression"].success
    spoilt = batch.assign(pay=[["CANARY-7f3a"]] * len(batch))
    result = validate(spoilt, made.policy, hierarchies=folder)
    assert {(line.success, line.error) for line in result.lines} == {(False, "InputError")}
    assert "CANARY" not in repr(result)


def test_an_error_that_is_not_of_our_metrics_is_told_without_its_text() -> None:
    info = {"id": {"raised_exception": True, "exception_message": "Error: CANARY-7f3a"}}
    result = SimpleNamespace(success=False, result={}, exception_info=info)
    assert suite.outcome_of("k", result) == Outcome("k", False, error="GreatExpectationsError")
    assert suite.outcome_of("k", None) == Outcome("k", False, error="NotMeasured")


def test_an_outcome_says_itself_in_one_line() -> None:
    assert Outcome("k", True, 5).as_text() == "k kept"
    assert Outcome("t_closeness.pay", False, 0.25).as_text() == "t_closeness.pay not kept"
    assert Outcome("l_diversity.pay", False).as_text() == "l_diversity.pay not kept"
    assert Outcome("k", False, error="KeyError").as_text() == "k not measured: KeyError"
    assert Outcome("k", False, None, "InputError", "a\nb").as_text() == "k not measured: InputError: a; b"


def test_nothing_at_all_is_no_success() -> None:
    assert not SuiteResult(()).success
    assert SuiteResult((Outcome("k", True, 5),)).success
    assert not SuiteResult((Outcome("k", True, 5), Outcome("l", False))).success


def test_validating_logs_nothing_and_prints_nothing(
    release: Release,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    made = release(8, ALL | NOISE)
    batch = gate_batch(made.released, made.originals, made.policy, hierarchies=folder)
    with caplog.at_level(logging.INFO):
        validate(batch.assign(pay="CANARY-7f3a"), made.policy, hierarchies=folder)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert "CANARY" not in caplog.text
    assert capfd.readouterr() == ("", "")
