"""The gate over several releases: each is k-anonymous, and together they are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import GateRefused, anonymize, evaluate
from anon_pipeline.encode.codes import PERSON, RECORD
from anon_pipeline.gate import Status, Verdict
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.contracts.stages import broken_contract, deidentified_contract, release_contract
from anon_pipeline.stages.deidentify import hashing_key
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.private import Means

Keeping = Callable[..., Policy]

COLUMNS = {
    "person": {"role": "identifier", "action": "drop"},
    "ward": {"role": "generalize", "hierarchy": {"suppress": True}},
    "illness": {"role": "sensitive", "distance": "equal"},
}


@pytest.fixture
def wards(keeping: Keeping) -> Callable[..., Policy]:
    """A policy on wards, in classes of five."""

    def make(**gate: int) -> Policy:
        none = dict.fromkeys(("age", "city", "height", "income", "note"))
        return keeping(
            columns={**none, **COLUMNS},
            anonymize={"k": 5, "suppression_limit": 0.0},
            perturb=None,
            gate={"k": 5, "suppression": None, **gate},
        )

    return make


def patients(wards: str, names: str | None = None) -> pd.DataFrame:
    """One patient per character, in the ward of that letter."""
    people = names or "".join(chr(0x4E00 + i) for i in range(len(wards)))  # without capitals
    return pd.DataFrame({"person": list(people), "ward": list(wards), "illness": "flu"})


MONDAY = patients("x" * 6 + "y" * 6)
TUESDAY = patients("x" * 5 + "y" + "y" * 5 + "x")  # F and L have changed places


def cross(report_of: object) -> Verdict:
    return next(v for v in report_of.verdicts if v.limit == "cross_release_k")  # type: ignore[attr-defined]


def test_two_5_anonymous_releases_whose_intersection_isolates_are_refused(
    wards: Callable[..., Policy],
) -> None:
    policy = wards(cross_release_k=2)
    monday = anonymize(policy, MONDAY, memory=Memory.empty())
    assert anonymize(policy, TUESDAY, memory=Memory.empty()).report.passed, "alone it is 5-anonymous"
    tuesday = anonymize(policy, TUESDAY, memory=monday.memory)
    verdict = cross(tuesday.report)
    assert (verdict.status, verdict.value, verdict.bound) == (Status.REFUSED, 1, 2)
    assert [v.limit for v in tuesday.report.unkept] == ["cross_release_k"]
    for gone in ("frame", "memory"):
        with pytest.raises(GateRefused, match=r"cross_release_k \(at least 2\) refused"):
            getattr(tuesday, gone)


def test_a_refused_release_does_not_count_against_the_next(wards: Callable[..., Policy]) -> None:
    policy = wards(cross_release_k=5)
    monday = anonymize(policy, MONDAY, memory=Memory.empty())
    assert not anonymize(policy, TUESDAY, memory=monday.memory).report.passed
    wednesday = anonymize(policy, MONDAY, memory=monday.memory)
    assert cross(wednesday.report).value == 6


def test_without_the_limit_both_are_published(wards: Callable[..., Policy]) -> None:
    policy = wards()
    monday = anonymize(policy, MONDAY, memory=Memory.empty())
    assert anonymize(policy, TUESDAY, memory=monday.memory).report.passed


def test_persons_are_told_apart_by_their_key_not_by_their_row(wards: Callable[..., Policy]) -> None:
    policy = wards(cross_release_k=5)
    monday = anonymize(policy, MONDAY, memory=Memory.empty())
    other_order = MONDAY.iloc[::-1]
    assert cross(anonymize(policy, other_order, memory=monday.memory).report).value == 6


def test_strangers_do_not_constrain_each_other(wards: Callable[..., Policy]) -> None:
    policy = wards(cross_release_k=5)
    monday = anonymize(policy, MONDAY, memory=Memory.empty())
    strangers = patients("x" * 5 + "y" * 5, "MNOPQRSTUV")
    assert cross(anonymize(policy, strangers, memory=monday.memory).report).value == 5


def test_slow_drift_is_stopped_long_before_thirty_releases(wards: Callable[..., Policy]) -> None:
    """Each release moves one pair to the other ward: the intersection shrinks until the gate stops it."""
    policy = wards(cross_release_k=3)
    memory, published = Memory.empty(), 0
    for day in range(30):
        x = "".join("y" if i < day else "x" for i in range(20))
        release = anonymize(policy, patients(x + "".join("x" if w == "y" else "y" for w in x)), memory=memory)
        if not release.report.passed:
            break
        memory, published = release.memory, published + 1
    assert published == 1  # the first pair that moves is alone between its two wards


def test_releases_with_one_table_and_other_people_all_count(wards: Callable[..., Policy]) -> None:
    """Ten rows `x, flu` are the same table, whoever is behind them; I alone is in all three."""
    policy = wards(cross_release_k=2)
    first = anonymize(policy, patients("x" * 10, "ABCDEFGHIJ"), memory=Memory.empty())
    second = anonymize(policy, patients("x" * 10, "IJKLMNOPQR"), memory=first.memory)
    assert second.report.data_digest == first.report.data_digest
    assert second.memory is not None
    assert len(second.memory.releases) == 2
    third = anonymize(policy, patients("x" * 10, "KLIABCDEFG"), memory=second.memory)
    verdict = cross(third.report)
    assert (verdict.status, verdict.value) == (Status.REFUSED, 1)


def test_the_same_release_again_is_not_added(wards: Callable[..., Policy]) -> None:
    policy, people = wards(cross_release_k=2), patients("x" * 10)
    memory = anonymize(policy, people, memory=Memory.empty()).memory
    again = anonymize(policy, people.iloc[::-1], memory=memory).memory
    assert memory is not None and again is not None
    assert again.releases == memory.releases
    assert len(again.members) == 10


def test_what_cannot_be_measured_is_refused(wards: Callable[..., Policy]) -> None:
    policy = wards(cross_release_k=5)
    release = anonymize(policy, MONDAY, memory=Memory.empty())
    alone = evaluate(release.frame, policy)
    assert cross(alone).status is Status.UNMEASURED


Keeping = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def test_the_vaults_contract_demands_a_person_of_each_record(keeping: Keeping, labeled: People) -> None:
    policy = keeping()
    raw = pipeline.raw(policy, labeled(), entropy=system_entropy())
    table = pipeline.deidentified(policy, raw, key=hashing_key(policy)).frame
    schema = deidentified_contract(policy)
    assert broken_contract(table, schema) == []
    assert broken_contract(table.drop(columns=PERSON), schema)
    assert broken_contract(table.assign(**{PERSON: table[PERSON].iloc[0]}), schema) == [
        "_person_id: must be a keyed hash, different in every record"
    ]


def test_a_release_with_persons_breaks_its_contract(keeping: Keeping, labeled: People) -> None:
    policy = keeping()
    means = Means(Path(), hashing_key(policy), system_entropy(), memory=Memory.empty())
    table = pipeline.run(policy, labeled(), means).suppressed.frame
    schema = release_contract(policy)
    assert PERSON in table
    assert broken_contract(table.drop(columns=RECORD).drop(columns="_class_id"), schema)
    assert broken_contract(table[policy.released], schema) == []


def test_the_manifest_says_what_is_composed_how(keeping: Keeping) -> None:
    said = "\n".join(guarantee(keeping(perturb={"republish": "sticky"}, gate={"cross_release_k": 3})))
    assert "records can be followed from release to release" in said
    assert "at least 3 persons" in said
    assert "the ε values add up" in "\n".join(guarantee(keeping()))
