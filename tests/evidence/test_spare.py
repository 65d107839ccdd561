"""How many records a class may lose: whichever are lost, its limits hold; by trying every subset."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.measures import class_t_closeness, is_t_close
from anon_pipeline.evidence.spare import spare_records, until_less_l_diverse, until_less_t_close
from anon_pipeline.policy import Policy
from tests.example_counts import examples_of

Small = Callable[..., Policy]
ILLNESSES = ["asthma", "flu", "gout", "none"]
CLASSES = st.lists(st.lists(st.sampled_from(ILLNESSES), min_size=1, max_size=6), min_size=1, max_size=4)
ANY_POLICY = settings(
    max_examples=examples_of(40), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def table(classes: list[list[str]]) -> pd.DataFrame:
    rows = [(place, illness) for place, own in enumerate(classes) for illness in own]
    places = [place for place, _ in rows]
    return pd.DataFrame(
        {
            RECORD: np.arange(len(rows)),
            CLASS: places,
            "age": [f"[{10 * place}, {10 * place + 10})" for place in places],
            "city": "*",
            "height": 170.0,
            "income": 1,
            "illness": [illness for _, illness in rows],
            "note": "a",
        }
    )


def judged(classes: list[list[str]], policy: Policy, left: list[int] | None = None) -> Evidence:
    """Bring a release together with its originals, of which some records are left."""
    originals = table(classes)
    return evidence_from(originals if left is None else originals.iloc[left], policy, originals=originals)


def members(classes: list[list[str]], evidence: Evidence) -> list[list[int]]:
    return [np.flatnonzero(evidence.classes.labels == c).tolist() for c in range(len(classes))]


@ANY_POLICY
@given(classes=CLASSES, wanted=st.integers(1, 4))
def test_distinct_values_are_kept_until_exactly_one_record_more(
    small_policy: Small, classes: list[list[str]], wanted: int
) -> None:
    policy = small_policy(gate={"l_diversity": {"illness": {"kind": "distinct", "l": wanted}}})
    evidence, limit = judged(classes, policy), policy.gate.l_diversity["illness"]
    spare = until_less_l_diverse(evidence, policy, "illness", limit)
    illness = evidence.released["illness"].to_numpy()
    for own, found in zip(members(classes, evidence), spare.tolist(), strict=True):
        broken = [
            lost
            for lost in range(len(own) + 1)
            if any(len(set(illness[list(kept)])) < limit.l for kept in combinations(own, len(own) - lost))
        ]
        assert found == min(broken) - 1


@ANY_POLICY
@given(classes=CLASSES, t=st.sampled_from([0.1, 0.25, 0.5, 0.8]))
def test_whatever_it_may_lose_a_class_stays_t_close(
    small_policy: Small, classes: list[list[str]], t: float
) -> None:
    policy = small_policy(gate={"t_closeness": {"illness": t}})
    evidence = judged(classes, policy)
    close = is_t_close(class_t_closeness(evidence, policy, "illness"), t)
    spare = until_less_t_close(evidence, policy, "illness", t).astype(int)
    assert ((spare >= 0) == close).all()
    for own, found in zip(members(classes, evidence), spare.tolist(), strict=True):
        for gone in combinations(own, min(max(found, 0), len(own) - 1)):
            kept = [i for i in range(len(evidence.released)) if i not in gone]
            left = judged(classes, policy, kept)
            label = left.classes.labels[next(place for place, i in enumerate(kept) if i in own)]
            distance = class_t_closeness(left, policy, "illness")[label]
            assert found < 0 or is_t_close(np.array([distance]), t).all()


def test_the_tightest_limit_decides_and_without_limits_all_may_be_lost(small_policy: Small) -> None:
    classes = [["flu", "flu", "gout", "none"], ["asthma", "flu"]]
    none = small_policy()
    assert spare_records(none, judged(classes, none)).tolist() == [4, 2]
    limits = {"l_diversity": {"illness": {"kind": "distinct", "l": 2}}, "t_closeness": {"illness": 0.9}}
    both = small_policy(gate=limits)
    evidence = judged(classes, both)
    each = [
        until_less_t_close(evidence, both, "illness", 0.9),
        until_less_l_diverse(evidence, both, "illness", both.gate.l_diversity["illness"]),
    ]
    assert spare_records(both, evidence).tolist() == np.minimum(*each).tolist()


def test_of_other_diversity_nothing_is_promised_but_of_the_whole_class(small_policy: Small) -> None:
    policy = small_policy(gate={"l_diversity": {"illness": {"kind": "entropy", "l": 2}}})
    evidence = judged([["flu", "gout"], ["flu", "flu"]], policy)
    limit = policy.gate.l_diversity["illness"]
    assert until_less_l_diverse(evidence, policy, "illness", limit).tolist() == [0, -1]


@pytest.mark.parametrize("limit", [1, 2])
def test_one_value_alone_is_lost_with_its_records(small_policy: Small, limit: int) -> None:
    policy = small_policy(gate={"l_diversity": {"illness": {"kind": "distinct", "l": limit}}})
    evidence = judged([["flu"] * 3], policy)
    found = until_less_l_diverse(evidence, policy, "illness", policy.gate.l_diversity["illness"])
    assert found.tolist() == [2 if limit == 1 else -1]
