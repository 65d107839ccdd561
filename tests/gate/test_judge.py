"""The gate judges by the policy's limits, and fails closed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base import threads
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.gate import GateReport, Status, evaluate, limits_of
from anon_pipeline.policy import Policy
from anon_pipeline.stages.private import STAGES

Small = Callable[..., Policy]


def facts_of(policy: Policy) -> dict[str, dict[str, object]]:
    """What the stages of this policy would say of their origin."""
    made = {stage: {"made_by": policy.making} for stage in STAGES}
    made["k_anonymized"] |= {"hierarchies": {}, "information_loss": 0.5, "telling": {}, "lost": ()}
    made["raw"]["repeated"] = ()
    for stage in ("perturbed", "shuffled"):
        made[stage]["seeded"] = False
    return made


ALL = {
    "t_closeness": {"income": 0.5, "illness": 0.6},
    "l_diversity": {"illness": {"l": 2}},
    "linking_risk": 1.0,
    "suppression": 0.5,
    "confidence_k": 2,
    "attacks": {"known_columns": [{"columns": ["income", "illness", "note"], "risk": 1}]},
}
KNOWN = [f"known_columns.{name}" for name in ("illness", "income", "note", "illness + income + note")]
"""Measured in every release: each released column that somebody may know, and all together."""

USEFULNESS = (
    "utility_information_loss",
    "utility_relative_error.height",
    "utility_error_of_spread.height",
    "utility_fully_generalized",
    "utility_released",
    "utility_lost_values",
)


def vault() -> pd.DataFrame:
    """Twelve originals in three classes of four, as `k_anonymized` leaves them; the last one suppressed."""
    n = 13
    return pd.DataFrame(
        {
            RECORD: np.arange(n) * 7 + 1000,
            CLASS: [0] * 4 + [1] * 4 + [2] * 4 + [-1],
            "age": ["[20, 40)"] * 4 + ["[40, 60)"] * 8 + [None],
            "city": ["*"] * 8 + ["Cork"] * 4 + [None],
            "height": [160.0, 165, 170, 180] * 3 + [150.0],
            "income": [20, 30, 40, 50] * 3 + [20],
            "illness": ["flu", "gout", "flu", "none"] * 3 + ["flu"],
            "note": ["a"] * n,
        }
    )


def release(rows: list[int] | None = None) -> pd.DataFrame:
    """The same records shuffled, with some noise."""
    order = rows if rows is not None else [7, 3, 11, 0, 5, 1, 9, 2, 10, 4, 6, 8]
    frame = vault().iloc[order].reset_index(drop=True)
    return frame.assign(
        height=frame["height"] + np.array([3, -2, 0, 5, 1, -1, 2, 0, 4, -3, 6, 1])[: len(order)]
    )


def verdicts(report: GateReport) -> dict[str, Status]:
    return {verdict.limit: verdict.status for verdict in report.verdicts}


def judged(policy: Policy, table: pd.DataFrame, **changes: object) -> GateReport:
    return evaluate(table, policy, **{"facts": facts_of(policy), "originals": vault(), **changes})  # type: ignore[arg-type]


def test_a_good_release_passes_every_limit(small_policy: Small) -> None:
    report = judged(small_policy(anonymize={"k": 2}, gate={"k": 4, **ALL}), release())
    unkept = {v.as_text() for v in report.verdicts if v.status is not Status.PASSED}
    assert {text.partition(".")[0] for text in unkept} == {
        "accepted",
        "rare_texts",
        "single_value: 1 (at most 0) warned: one value in every record: note",
    }  # this test's limits, 3 of an illness, one note
    assert report.passed
    assert [v.limit for v in report.verdicts] == limits_of(small_policy(gate=ALL))


def test_only_what_the_policy_sets_is_judged_and_k_always(small_policy: Small) -> None:
    report = judged(small_policy(gate={"suppression": None, "k": None}), release())
    always = ["contract", "origin", "k", "released_identifiers", "single_value", "told_secrets"]
    always += ["told_originals"]
    usual = [
        "rare_values.note",
        "rare_texts.illness",
        "outlying.income",
        "list_cells.illness",
        "linking_risk",
    ]
    usual += ["homogeneity.illness", "homogeneity.income"]
    near = [f"near_homogeneity.{name}" for name in ("illness", "income", "note")]
    joint = ["joint_homogeneity.illness", "joint_homogeneity.income"]
    told = [*near, "hidden_homogeneity.height", *joint, "repeated_noise", "earlier_release"]
    assert list(verdicts(report)) == [
        *always,
        *usual,
        *told,
        *KNOWN,
        "found_groups.note",
        *USEFULNESS,
        "repeated_people",
    ]
    assert next(v for v in report.verdicts if v.limit == "k").bound == 3  # anonymize.k


def test_k_is_counted_on_released_values_not_on_class_ids(small_policy: Small) -> None:
    table = release([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])  # class 2 has two records left
    report = judged(small_policy(), table.assign(**{CLASS: 0}))
    assert next(v for v in report.verdicts if v.limit == "k").value == 2
    assert not report.passed


@pytest.mark.parametrize(
    ("gate", "limit", "value"),
    [
        ({"k": 5}, "k", 4),
        ({"suppression": 0.05}, "suppression", 1 / 13),
        ({"t_closeness": {"income": 0.01}}, "t_closeness.income", None),
        ({"l_diversity": {"illness": {"l": 4}}}, "l_diversity.illness", 3),
        ({"l_diversity": {"illness": {"kind": "entropy", "l": 2.9}}}, "l_diversity.illness", 2 * 2**0.5),
        ({"l_diversity": {"illness": {"kind": "recursive", "c": 1, "l": 2}}}, "l_diversity.illness", 1),
        ({"linking_risk": 0.1}, "linking_risk", None),
        ({"confidence_k": 5}, "confidence_k", 4),
    ],
)
def test_each_limit_refuses_beyond_its_bound(
    small_policy: Small, gate: dict[str, object], limit: str, value: float | None
) -> None:
    report = judged(small_policy(gate=gate), release())
    verdict = next(v for v in report.verdicts if v.limit == limit)
    assert verdict.status is Status.REFUSED
    assert not report.passed
    if value is not None:
        assert verdict.value == pytest.approx(value)


def test_a_class_without_l_values_has_no_ratio_and_is_refused(small_policy: Small) -> None:
    report = judged(
        small_policy(gate={"l_diversity": {"illness": {"kind": "recursive", "c": 9, "l": 4}}}), release()
    )
    verdict = next(v for v in report.verdicts if v.limit == "l_diversity.illness")
    assert (verdict.status, verdict.value) == (Status.REFUSED, None)
    assert verdict.reason == "a class has fewer than 4 distinct values"


def test_a_seeded_release_is_refused(small_policy: Small) -> None:
    for stage in ("perturbed", "shuffled"):
        facts = facts_of(small_policy())
        report = judged(small_policy(), release(), facts={**facts, stage: {**facts[stage], "seeded": True}})
        assert verdicts(report)["origin"] is Status.REFUSED


def test_without_all_facts_the_origin_is_refused(small_policy: Small) -> None:
    assert verdicts(judged(small_policy(), release(), facts=None))["origin"] is Status.REFUSED
    for stage in STAGES:
        facts = facts_of(small_policy())
        del facts[stage]
        assert verdicts(judged(small_policy(), release(), facts=facts))["origin"] is Status.REFUSED


@pytest.mark.parametrize(
    "change",
    [
        {"perturb": {"epsilon": 0.01}},
        {"suppress": {"confidence": 0.5}},
        {"columns": {"height": {"output_bounds": [168, 171]}}},
        {"anonymize": {"suppression_limit": 0.2}},
        {"source": {"path": "others.csv"}},
    ],
)
def test_tables_made_by_another_policy_are_refused(small_policy: Small, change: dict[str, object]) -> None:
    report = judged(small_policy(**change), release(), facts=facts_of(small_policy()))
    verdict = next(v for v in report.verdicts if v.limit == "origin")
    assert verdict.status is Status.REFUSED
    assert "made by another policy than this one: raw, deidentified" in (verdict.reason or "")
    assert (verdict.reason or "").endswith("; materialize these stages again")


def test_a_table_that_one_stage_made_by_another_policy_is_refused(small_policy: Small) -> None:
    for stage in STAGES:
        facts = facts_of(small_policy())
        facts[stage]["made_by"] = "0" * 64
        assert verdicts(judged(small_policy(), release(), facts=facts))["origin"] is Status.REFUSED


def test_limits_and_destination_may_change_without_making_the_tables_again(small_policy: Small) -> None:
    changed = small_policy(gate={"suppression": 0.4}, publish={"to": "elsewhere"})
    assert changed.making == small_policy().making
    assert verdicts(judged(changed, release(), facts=facts_of(small_policy())))["origin"] is Status.PASSED


@pytest.mark.parametrize(
    ("n", "released", "share"), [(20, 19, 0.05), (38 + 2, 38, 0.05), (10, 7, 0.3), (20, 17, 0.15)]
)
def test_the_suppression_limit_may_be_used_up(
    small_policy: Small, n: int, released: int, share: float
) -> None:
    originals = vault().iloc[[0] * n].assign(**{RECORD: np.arange(n)})
    report = judged(small_policy(gate={"suppression": share}), originals.iloc[:released], originals=originals)
    verdict = next(v for v in report.verdicts if v.limit == "suppression")
    assert (verdict.value, verdict.status) == (share, Status.PASSED)


def test_linking_is_measured_on_the_values_before_rounding_to_the_grid(small_policy: Small) -> None:
    originals = vault().iloc[:4].assign(height=[170.0, 170.4, 180.0, 190.0])  # 170.4 is 170 on the grid
    table = originals.assign(height=[170.0, 170.0, 180.0, 190.0])
    report = judged(small_policy(gate={"linking_risk": 1.0}), table, originals=originals)
    value = next(v.realized for v in report.verdicts if v.limit == "linking_risk")
    assert value == 0.75  # the second record is nearer to the first original than to its own


def test_unmeasured_limits_still_say_what_is_demanded(small_policy: Small) -> None:
    table = release().drop(columns=[RECORD, CLASS])
    report = evaluate(table, small_policy(gate=ALL))
    shown = {v.limit: (v.sense, v.bound) for v in report.with_status(Status.UNMEASURED)}
    assert shown["t_closeness.income"] == ("at most", 0.5)
    assert shown["confidence_k"] == ("at least", 2)
    assert shown["origin"] == ("holds", None)


def test_a_file_alone_says_what_it_could_not_measure(small_policy: Small) -> None:
    table = release().drop(columns=[RECORD, CLASS])
    report = evaluate(table, small_policy(gate={"k": 4, **ALL}))
    states = verdicts(report)
    assert {name for name, status in states.items() if status is Status.PASSED} == {
        "contract",
        "k",
        "rare_values.note",
        "found_groups.note",
        "outlying.income",
        "repeated_noise",
        "l_diversity.illness",
        "homogeneity.illness",
        "homogeneity.income",
        "spellings.illness",
        "list_cells.illness",
        *(f"near_homogeneity.{name}" for name in ("illness", "income", "note")),
        *(f"joint_homogeneity.{name}" for name in ("illness", "income")),
        "utility_fully_generalized",
    }
    assert {name for name, status in states.items() if status is Status.UNMEASURED} == {
        "origin",
        "released_identifiers",
        "told_secrets",
        "told_originals",
        "hidden_homogeneity.height",
        "t_closeness.income",
        "t_closeness.illness",
        *KNOWN,
        "linking_risk",
        "suppression",
        "confidence_k",
        *(name for name in USEFULNESS if name != "utility_fully_generalized"),
        "earlier_release",
        "repeated_people",
    }
    assert not report.passed


def test_a_file_with_private_or_unknown_columns_breaks_the_contract(small_policy: Small) -> None:
    for extra in ({RECORD: 1}, {"person": "x"}):
        table = release().drop(columns=[RECORD, CLASS]).assign(**extra)
        assert verdicts(evaluate(table, small_policy()))["contract"] is Status.REFUSED


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda t: t.assign(illness="flu"), id="sensitive values changed"),
        pytest.param(lambda t: t.assign(age="*"), id="generalized values changed"),
        pytest.param(lambda t: t.assign(**{RECORD: t[RECORD] + 1}), id="records of somebody else"),
        pytest.param(lambda t: t.assign(**{RECORD: 1000}), id="one record many times"),
        pytest.param(lambda t: t.drop(columns=RECORD), id="no record ids"),
        pytest.param(lambda t: t.drop(columns="height"), id="a column is missing"),
        pytest.param(lambda t: t.iloc[:0], id="empty"),
    ],
)
def test_what_does_not_belong_together_is_refused_by_every_limit(
    small_policy: Small, change: Callable[[pd.DataFrame], pd.DataFrame]
) -> None:
    report = judged(small_policy(gate=ALL), change(release()))
    assert set(verdicts(report).values()) == {Status.REFUSED}
    assert not report.passed
    assert "flu" not in str(report)


def test_a_suppressed_record_that_comes_back_is_refused(small_policy: Small) -> None:
    table = vault().assign(height=170.0)
    table.loc[12, ["age", "city"]] = ["[40, 60)", "Cork"]
    report = judged(small_policy(), table)
    assert not report.passed


def test_values_off_the_grid_break_the_contract(small_policy: Small) -> None:
    table = release()
    table.loc[0, "height"] += 0.25
    assert verdicts(judged(small_policy(), table))["contract"] is Status.REFUSED


def test_an_identifier_in_a_released_text_breaks_the_contract_without_being_shown(
    small_policy: Small,
) -> None:
    table, originals = release(), vault()
    table["note"] = "call (212) 555-0123"
    originals["note"] = "call (212) 555-0123"
    report = judged(small_policy(), table, originals=originals)
    verdict = report.verdicts[0]
    assert (verdict.limit, verdict.status) == ("contract", Status.REFUSED)
    assert "note: must hold no telephone numbers (telephone), got 12 records" in (verdict.reason or "")
    assert "0123" not in str(report)


def test_a_measure_that_raises_refuses_and_does_not_tell_why_in_words(
    small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("CANARY-7f3a")

    monkeypatch.setattr("anon_pipeline.limits.linking.mean_linking_risk", crash)
    report = judged(small_policy(gate=ALL), release())
    verdict = next(v for v in report.verdicts if v.limit == "linking_risk")
    assert (verdict.status, verdict.reason) == (Status.REFUSED, "the measure raised RuntimeError")


def test_row_order_and_index_do_not_matter(small_policy: Small) -> None:
    policy = small_policy(gate=ALL)
    first = judged(policy, release())
    turned = release().iloc[::-1]
    turned.index = [5] * len(turned)
    second = judged(policy, turned, originals=vault().sample(frac=1, random_state=0))
    assert first.verdicts == second.verdicts
    assert first.data_digest != second.data_digest  # the bytes differ


def test_the_report_survives_json(small_policy: Small) -> None:
    report = judged(small_policy(gate=ALL), release())
    told = GateReport.from_json(report.to_json())
    public = (
        replace(v, value=v.value if v.recomputable else None, realized=None, reason=None)
        for v in report.verdicts
    )
    assert told == replace(report, verdicts=tuple(public))
    assert [v.limit for v in report.verdicts if v.realized is not None] == ["linking_risk", *KNOWN]


def test_what_was_realized_is_not_written_and_not_read(small_policy: Small) -> None:
    document = judged(small_policy(gate={"linking_risk": 1.0}), release()).to_json()
    assert "realized" not in json.dumps(document)
    document["verdicts"][-1]["realized"] = 0.25
    with pytest.raises(ValueError, match="drawn noise"):
        GateReport.from_json(document)


def test_a_forged_passed_in_json_is_computed_anew(small_policy: Small) -> None:
    document = judged(small_policy(gate={"k": 9}), release()).to_json()
    assert not GateReport.from_json({**document, "passed": True}).passed


def test_an_empty_report_has_not_passed() -> None:
    assert not GateReport((), "d", "p").passed


def test_limits_side_by_side_say_what_they_say_one_after_the_other(
    small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(gate=ALL)
    found = []
    for processors in (1, 2, 4):
        monkeypatch.setattr(threads, "processors", lambda processors=processors: processors)
        monkeypatch.setattr(threads, "LARGE", 1)
        found.append(evaluate(release(), policy, facts_of(policy), originals=vault()))
    assert [verdict.limit for verdict in found[0].verdicts] == limits_of(policy)
    assert found[0] == found[1] == found[2]
