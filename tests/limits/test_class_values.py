"""What warns where classes tell values: which columns, by which bound, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.gate import Status, limits_of
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.table import advice_on, demands, limit_meaning
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]
_NEW = ("near_homogeneity", "hidden_homogeneity", "spellings", "told_secrets")


def new_limits(policy: Policy) -> list[str]:
    return [name for name in limits_of(policy) if name.partition(".")[0] in _NEW]


def test_every_role_but_generalized_columns_has_advice_of_its_own(small_policy: Small) -> None:
    drawn = {"role": "perturb", "mechanism": "randomized_response", "values": ["a", "b"]}
    public = {"sensitivity": "declared", "input_bounds": [100, 220]}
    policy = small_policy(gate={"l_diversity": {"illness": {"kind": "distinct", "l": 2}}})
    assert new_limits(policy) == [
        "told_secrets",
        "spellings.illness",
        *(f"near_homogeneity.{name}" for name in ("illness", "income", "note")),
        "hidden_homogeneity.height",
    ]
    assert "hidden_homogeneity.note" in new_limits(small_policy(columns={"note": drawn}))
    assert "hidden_homogeneity.height" not in new_limits(small_policy(columns={"height": public}))
    advised = [demand for demand in demands(policy) if demand.limit.name in _NEW]
    assert all(demand.advised for demand in advised)


def test_numbers_in_order_have_no_spellings(small_policy: Small) -> None:
    policy = small_policy(gate={"t_closeness": {"income": 0.9, "illness": 0.9}})
    assert [name for name in new_limits(policy) if name.startswith("spellings")] == ["spellings.illness"]


def test_advice_depends_on_the_role(small_policy: Small) -> None:
    policy = small_policy()
    assert "give it the role sensitive" in advice_on("near_homogeneity.note", policy)
    assert "gate.l_diversity (kind: entropy)" in advice_on("near_homogeneity.illness", policy)
    people = small_policy(person="person", rows_per_person=2, deidentify={"key_env": "KEY"})
    assert "share of the people" in limit_meaning("near_homogeneity.note", people)
    assert "share of the records" in limit_meaning("near_homogeneity.note", policy)


@pytest.mark.parametrize(
    ("secret", "values", "status"),
    [
        ("illness", "xyz", Status.WARNED),
        ("town", "xyz", Status.PASSED),
        ("q4", "xyz", Status.PASSED),
        ("q4", ["ja", "nein", "nein"], Status.WARNED),
        ("q4", [1, 0, 0], Status.WARNED),
        ("sex", ["t", "f", "f"], Status.PASSED),
    ],
)
def test_a_secret_among_quasi_identifiers_warns_by_its_name_or_as_yes_and_no(
    secret: str, values: Sequence[object], status: Status
) -> None:
    """A column with the same values is told by the wards, whatever its name; a town is known anyway."""
    policy = Policy.model_validate(
        {
            "name": "wards",
            "source": {"path": "wards.csv"},
            "columns": {
                "ward": {"role": "generalize", "hierarchy": {"suppress": True}},
                secret: {"role": "generalize", "hierarchy": {"suppress": True}},
            },
            "anonymize": {"k": 5, "recoder": "ola"},
        }
    )
    frame = pd.DataFrame(
        {"ward": ["a"] * 20 + ["b"] * 20 + ["c"] * 20, secret: [values[0]] * 20 + [*values[1:]] * 20}
    )
    (verdict,) = (
        one for one in anonymize(policy, frame).report.verdicts if one.limit.startswith("told_secrets")
    )
    assert verdict.status is status
    assert verdict.reason == (
        None if status is Status.PASSED else f"revealed by the other quasi-identifiers: {secret}"
    )
    assert verdict.to_json()["reason"] is None


ADMISSIONS = pd.DataFrame(
    {
        "ward": ["a", "b"] * 60,
        "admitted": pd.date_range("2026-01-01", periods=40).repeat(3).strftime("%Y-%m-%d"),
        "illness": ["flu", "gout", "asthma"] * 40,
    }
)


@pytest.mark.parametrize(
    ("name", "changes", "status"),
    [
        ("admitted", {}, Status.WARNED),
        ("Sem_naiss", {}, Status.WARNED),
        ("admitted", {"hierarchy": {"dates": ["year"]}, "level": 1}, Status.PASSED),
    ],
)
def test_a_sensitive_column_that_others_know_warns_where_it_links_people(
    name: str, changes: dict[str, object], status: Status
) -> None:
    """By its values, or by its name; a year that all have in common links nobody."""
    columns = {
        "ward": {"role": "generalize", "hierarchy": {"suppress": True}},
        name: {"role": "sensitive", "distance": "equal", **changes},
        "illness": {"role": "generalize", "hierarchy": {"suppress": True}},
    }
    anonymized = {"k": 5, "recoder": "ola"}
    attributes = {"name": "a", "source": {"path": "a.csv"}, "columns": columns, "anonymize": anonymized}
    frame = ADMISSIONS.rename(columns={"admitted": name})
    if name != "admitted":
        frame[name] = [str(week) for week in range(1, 41) for _ in range(3)]

    def own(risk: float) -> dict[str, object]:
        """Bound it: beyond the usual bound the policy lets it happen, within it the gate refuses."""
        return {"gate": {"attacks": {"known_columns": [{"columns": [name], "risk": risk}]}}}

    for more, wanted in (({}, status), (own(1), status), (own(0.9), status), (own(0.4), Status.PASSED)):
        report = anonymize(Policy.model_validate({**attributes, **more}), frame).report
        (verdict,) = (one for one in report.verdicts if one.limit == "told_secrets")
        assert verdict.status is wanted
        said = f"sensitive, but known to others, who can find people by it: {name}"
        assert verdict.reason == (said if wanted is Status.WARNED else None)


def test_a_lone_sensitive_column_beside_noise_is_advised_against(small_policy: Small) -> None:
    lone = small_policy(columns={"income": None, "note": None})
    (known,) = (one for one in demands(lone) if one.limit.name == "known_columns")
    assert (known.of, known.advised, known.bound) == ("illness", True, 0.5)


def test_released_columns_that_tell_originals_are_named_by_the_recodings_facts(small_policy: Small) -> None:
    policy = small_policy()
    frame = pd.DataFrame({name: ["x"] * 5 for name in policy.released} | {"height": 1.0, "income": 1})
    told = {"telling": {"height": "income", "age": "note"}}
    said = "income reveals height, whose values noise hides; note reveals age, which is generalized"
    for facts, status, reason in (
        ({"k_anonymized": told}, Status.WARNED, said),
        ({"k_anonymized": {"telling": {}}}, Status.PASSED, None),
        ({}, Status.UNMEASURED, "needs the facts of the stages"),
    ):
        case = Case(policy, frame, evidence_from(with_ids(frame), policy, originals=with_ids(frame)), facts)
        (verdict,) = (d.verdict(case) for d in demands(policy) if d.name == "told_originals")
        assert (verdict.status, verdict.reason) == (status, reason)
        assert status is Status.UNMEASURED or verdict.to_json()["reason"] is None
    bare = small_policy(columns=dict.fromkeys(("income", "illness", "note")))
    assert "told_originals" not in limits_of(bare)


def with_ids(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(**{RECORD: range(len(frame)), CLASS: 0})
