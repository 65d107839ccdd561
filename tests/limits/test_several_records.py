"""Limits on what several records of one person reveal: of whom, by which bound, and what helps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline import anonymize
from anon_pipeline.base import blocks, packed_tables
from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.encode.codes import CLASS, PERSON, RECORD
from anon_pipeline.evidence.attackers import dominance, person_homogeneity
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.gate.great_expectations import gate_batch, suite_for, validate
from anon_pipeline.limits import usual
from anon_pipeline.limits.accepted_risks import accepted_risks
from anon_pipeline.limits.changes import compare_policies
from anon_pipeline.limits.table import advice_on, demands, limit_meaning, limits_of, unlimited_secrets
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.protection import Effect
from anon_pipeline.publish.whole_chain import Means, run

LIMITS = ("person_homogeneity.illness", "dominance")
KEY = "0123456789abcdef"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEOPLE_KEY", KEY)


def policy(
    *, columns: dict[str, Any] | None = None, gate: dict[str, Any] | None = None, **more: Any
) -> Policy:
    hidden = {"role": "generalize", "hierarchy": {"suppress": True}}
    every = {"sex": hidden, "month": hidden, "ward": hidden, "illness": {"role": "sensitive"}}
    document = {
        "name": "visits",
        "source": {"path": "visits.csv"},
        "columns": {"patient": {"role": "identifier"}, **every, **(columns or {})},
        "person": "patient",
        "deidentify": {"key_env": "PEOPLE_KEY"},
        "anonymize": {"k": 5, "recoder": "ola", "suppression_limit": 0.1},
        "gate": {"l_diversity": {"illness": {"l": 3}}, **(gate or {})},
        **more,
    }
    return policy_from({name: value for name, value in document.items() if value is not None})


def visits(n: int = 420, seed: int = 0) -> pd.DataFrame:
    """Patients with up to four visits each, who always have the same illness."""
    random = np.random.default_rng(seed)
    own = np.repeat(np.arange(n), random.integers(1, 5, n))
    return pd.DataFrame(
        {
            "patient": [f"P{i:04}" for i in own],
            "sex": random.choice(["f", "m"], n)[own],
            "month": random.integers(1, 13, len(own)).astype(str),
            "ward": random.choice(["east", "north", "south", "west"], len(own)),
            "illness": random.choice([f"illness {i}" for i in range(24)], n)[own],
        }
    )


def verdict_on(report: GateReport, name: str) -> Verdict:
    (verdict,) = (one for one in report.verdicts if one.limit == name)
    return verdict


def measured(name: str, made: Policy) -> float:
    value = verdict_on(anonymize(made, visits()).report, name).value
    assert value is not None
    return value


def test_they_are_asked_where_the_policy_says_whose_records_are(small_policy: Callable[..., Policy]) -> None:
    assert [name for name in limits_of(policy()) if name in LIMITS] == list(LIMITS)
    assert {one.name: (one.bound, one.advised) for one in demands(policy()) if one.name in LIMITS} == {
        LIMITS[0]: (usual.HOMOGENEITY, True),
        LIMITS[1]: (usual.DOMINANCE, True),
    }
    without = small_policy()
    assert without.person is None
    assert not {"person_homogeneity", "dominance"} & {name.partition(".")[0] for name in limits_of(without)}
    harmless = policy(columns={"illness": {"role": "insensitive"}}, gate={"k": 5, "l_diversity": {}})
    assert [name for name in limits_of(harmless) if name.startswith(("person_", "dominance"))] == [LIMITS[1]]


def test_one_illness_in_all_classes_of_a_patient_warns_or_is_refused() -> None:
    report = anonymize(policy(), visits()).report
    verdict = verdict_on(report, LIMITS[0])
    assert report.passed
    assert (verdict.status, verdict.bound) == (Status.WARNED, usual.HOMOGENEITY)
    assert verdict.value is not None and verdict.value > 0.15
    assert verdict_on(report, "homogeneity.illness").value == 0  # no class alone reveals it
    told = verdict.to_json()
    assert (told["value"], told["reason"]) == (None, None)  # it needs the originals: for the curator only
    limited = policy(gate={"attacks": {"person_homogeneity": {"illness": 0.15}}})
    refused = anonymize(limited, visits()).report
    assert not refused.passed
    assert [one.limit for one in refused.unkept] == [LIMITS[0]]
    loose = policy(gate={"attacks": {"person_homogeneity": {"illness": verdict.value}}})
    assert anonymize(loose, visits()).report.passed  # exactly at the bound


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": {name: {"role": "identifier"} for name in ("month", "ward")}},
        {"anonymize": {"k": 5, "recoder": "fixed", "levels": {"sex": 0, "month": 1, "ward": 0}}},
        {"rows_per_person": 1, "gate": {"utility": {"excess": 0.7}}},
        {"anonymize": {"k": 20, "recoder": "ola", "suppression_limit": 0.1}},
    ],
    ids=["left out", "generalized more", "one record", "a larger k"],
)
def test_what_is_advised_helps(changes: dict[str, Any]) -> None:
    assert measured(LIMITS[0], policy(**changes)) <= usual.HOMOGENEITY
    said = advice_on(LIMITS[0], policy())
    assert all(word in said for word in ("quasi-identifiers", "generalize", "rows_per_person: 1", "larger k"))


def purchases(most: int = 60) -> pd.DataFrame:
    """Six towns of six customers, one of whom buys most."""
    own = np.repeat(np.arange(36), np.where(np.arange(36) % 6 == 0, most, 2))
    frame = pd.DataFrame({"patient": [f"C{i}" for i in own], "ward": [f"town {i // 6}" for i in own]})
    return frame.assign(sex="f", month="1", illness=[f"article {i % 7}" for i in range(len(own))])


@pytest.mark.parametrize(("most", "expected"), [(60, 1.0), (11, 1.0), (10, 0.0), (2, 0.0)])
def test_half_of_the_records_of_a_class_is_not_more_than_half(most: int, expected: float) -> None:
    """The five others have two records each."""
    verdict = verdict_on(anonymize(policy(), purchases(most)).report, "dominance")
    assert verdict.value == expected
    assert verdict.status is (Status.WARNED if expected else Status.PASSED)
    assert verdict.to_json()["value"] is None
    limited = policy(gate={"attacks": {"dominance": 0.5}})
    assert anonymize(limited, purchases(most)).report.passed is not bool(expected)


def test_fewer_records_of_a_person_than_k_never_are_more_than_half() -> None:
    alone = purchases().drop_duplicates(["patient"])
    heavy = pd.concat([alone, *[purchases().query("patient in ['C0', 'C6', 'C12']")] * 2])
    for rows in (4, 9):
        verdict = verdict_on(anonymize(policy(rows_per_person=rows), heavy).report, "dominance")
        assert bool(verdict.value) is (rows >= 5)
    assert "rows_per_person to less than k" in advice_on("dominance", policy())


TABLE = st.integers(1, 40).flatmap(
    lambda r: st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 4), st.integers(0, 3)), min_size=r, max_size=r
    )
)


def evidence_of(records: list[tuple[int, int, int]], left_out: int = 0) -> tuple[Policy, Evidence]:
    """Return the evidence of records of (person, class, value); of some the vault alone has them."""
    frame = pd.DataFrame(records, columns=["person", "class", "value"])
    labels = pd.factorize(frame["class"])[0]
    originals = pd.DataFrame(
        {
            RECORD: np.arange(len(frame)) * 3 + 5,
            CLASS: labels,
            PERSON: [f"{one:032}" for one in frame["person"]],
            "sex": frame["class"].astype(str),
            **{"month": "1", "ward": "1"},
            "illness": [f"illness {one}" for one in frame["value"]],
        }
    )
    made = policy()
    released = originals.iloc[left_out:].sample(frac=1, random_state=1)
    return made, evidence_from(released, made, originals=originals)


@given(TABLE)
def test_both_are_what_a_loop_over_people_counts(records: list[tuple[int, int, int]]) -> None:
    """The slow twin, of all records; those that are left out count for nothing."""
    made, evidence = evidence_of([(9, 9, 9), *records], left_out=1)
    values: dict[int, set[int]] = {}
    for _, label, value in records:
        values.setdefault(label, set()).add(value)
    told, people = 0, {person for person, _, _ in records}
    for person in people:
        own = [(label, value) for who, label, value in records if who == person]
        common = set.intersection(*(values[label] for label, _ in own))
        told += (
            len({label for label, _ in own}) > 1
            and {value for _, value in own} == common
            and len(common) == 1
        )
    assert person_homogeneity(evidence, made, "illness") == told / len(people)
    inside, dominated = 0, 0
    for label in values:
        whose = [who for who, own, _ in records if own == label]
        inside += len({*whose})
        dominated += len({*whose}) * (max(whose.count(who) for who in whose) > len(whose) / 2)
    assert dominance(evidence) == dominated / inside


def test_numbers_are_equal_or_not_and_words_as_they_are_written() -> None:
    """As `homogeneity` has it: near numbers and spellings are other values."""
    own = {"illness": {"role": "sensitive", "distance": "ordered"}}
    numbers = visits().assign(illness=lambda frame: frame["illness"].str.slice(8).astype(int) * 1000.5)
    by_number = policy(columns=own, gate={"l_diversity": {}, "k": 5})
    alike = verdict_on(anonymize(by_number, numbers).report, LIMITS[0]).value
    assert alike is not None and alike > 0.15
    near = numbers.assign(illness=numbers["illness"] + numbers.groupby("patient").cumcount() / 10)
    assert verdict_on(anonymize(by_number, near).report, LIMITS[0]).value == 0
    spelled = visits().assign(
        illness=lambda frame: [text.upper() if i % 2 else text for i, text in enumerate(frame["illness"])]
    )
    report = anonymize(policy(), spelled).report
    value = verdict_on(report, LIMITS[0]).value
    assert value is not None and value < alike
    assert verdict_on(report, "spellings.illness").status is Status.WARNED


def test_packed_tables_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> list[tuple[Status, float | None]]:
        report = anonymize(policy(), visits(), entropy=seeded_entropy(1)).report
        return [(verdict_on(report, name).status, verdict_on(report, name).value) for name in LIMITS]

    plain = found()
    monkeypatch.setattr(blocks, "BLOCK", 37)
    assert found() == plain
    monkeypatch.setattr(packed_tables, "PACKED_FROM", 1)
    assert found() == plain


def test_a_file_alone_or_records_without_people_are_not_measured() -> None:
    released = anonymize(policy(), visits()).frame
    report = evaluate(released, policy())
    assert [(verdict_on(report, name).status, verdict_on(report, name).reason) for name in LIMITS] == [
        (Status.UNMEASURED, "needs the originals")
    ] * 2
    made, evidence = evidence_of([(0, 0, 0), (1, 0, 1)])
    with pytest.raises(InputError, match="against the originals"):
        dominance(Evidence(evidence.released, evidence.classes, None, Path()))
    nobody = policy(person=None, deidentify=None)
    alone = evidence_from(
        evidence.originals.frame,
        nobody,
        originals=evidence.originals.frame,  # type: ignore[union-attr]
    )
    for measure in (lambda: dominance(alone), lambda: person_homogeneity(alone, made, "illness")):
        with pytest.raises(InputError, match="on people"):
            measure()


def test_great_expectations_judge_as_the_gate_does() -> None:
    made = policy(gate={"attacks": {"person_homogeneity": {"illness": 0.1}}})
    chain = run(made, visits(), Means(Path(), KEY.encode(), seeded_entropy(3)))
    tables = chain.suppressed.frame, chain.k_anonymized.frame
    report = evaluate(tables[0], made, originals=tables[1])
    lines = {line.limit: line for line in validate(gate_batch(*tables, made), made).lines}
    suite = {each.meta["limit"] for each in suite_for(made, hierarchies=Path()).expectations}
    for name in LIMITS:
        verdict = verdict_on(report, name)
        assert name in suite
        assert lines[name].observed == verdict.value
        assert lines[name].success is verdict.status.publishable
    assert verdict_on(report, LIMITS[0]).status is Status.REFUSED


def test_the_keys_need_people_and_secrets() -> None:
    nobody = {"person": None, "deidentify": None}
    for attacks in ({"dominance": 0.1}, {"person_homogeneity": {"illness": 0.1}}):
        with pytest.raises(PolicyError, match="is about people with several records, and needs person"):
            policy(gate={"attacks": attacks}, **nobody)
    with pytest.raises(PolicyError, match="must name columns with the role sensitive, got month"):
        policy(gate={"attacks": {"person_homogeneity": {"month": 0.1}}})
    assert policy(gate={"attacks": {"person_homogeneity": {}}}, **nobody).person is None


@pytest.mark.parametrize("of", ["person_homogeneity", "dominance"])
def test_a_looser_bound_is_weaker_and_accepts_a_risk(of: str) -> None:
    def bound(share: float) -> Policy:
        wanted = {"illness": share} if of == "person_homogeneity" else share
        return policy(gate={"attacks": {of: wanted}})

    assert compare_policies(bound(0.1), bound(0.2)).effect is Effect.WEAKENS
    assert compare_policies(bound(0.2), bound(0.1)).effect is Effect.STRENGTHENS
    assert compare_policies(policy(), bound(0.05)).effect is Effect.STRENGTHENS  # it refuses now
    (key,) = set(accepted_risks(bound(0.2))) - set(accepted_risks(policy()))
    assert key.startswith(f"gate.attacks.{of}")
    assert "20 % of the people" in accepted_risks(bound(0.2))[key]
    assert not set(accepted_risks(bound(0.05))) - set(accepted_risks(policy()))


def test_a_bound_on_all_classes_of_a_person_limits_no_single_class() -> None:
    own = policy(gate={"l_diversity": {}, "k": 5, "attacks": {"person_homogeneity": {"illness": 0.05}}})
    assert unlimited_secrets(own) == ["illness"]


def test_each_is_said_in_a_sentence() -> None:
    assert "a single value of illness occurs in all classes of their records" in limit_meaning(
        LIMITS[0], policy()
    )
    assert "more than half of the records" in limit_meaning("dominance", policy())
