"""What the gate measures, against a slow implementation written from docs/methods.md alone: plain Python, no
arrays.

Whole random releases go through the stages; every number is then computed a second time from the tables.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.gate import GateReport, evaluate
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Chain, Means
from tests.example_counts import examples_of

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
GENERALIZED = ["age", "city"]
RESOLUTION = {"height": 1, "weight": 5}

LIMITS = {
    "t_closeness": {"income": 1.0, "illness": 1.0},
    "l_diversity": {
        "illness": {"kind": "entropy", "l": 1},
        "income": {"kind": "recursive", "c": 1000, "l": 1},
    },
    "linking_risk": 1.0,
    "suppression": 1.0,
    "confidence_k": 50,
}


@dataclass(frozen=True)
class Tables:
    """A release and its originals as lists of records."""

    originals: list[dict[str, Any]]
    released: list[dict[str, Any]]
    noisy: list[str]
    epsilon: dict[str, Fraction]

    @classmethod
    def of(cls, chain: Chain, policy: Policy) -> Tables:
        noisy = list(policy.perturbed)
        assert policy.perturb is not None
        share = Fraction(str(policy.perturb.epsilon)) / len(noisy)
        return cls(
            chain.k_anonymized.frame.to_dict("records"),
            chain.suppressed.frame.to_dict("records"),
            noisy,
            dict.fromkeys(noisy, share),
        )

    def members(self, released: dict[str, Any]) -> list[dict[str, Any]]:
        """Originals of a released record's class: equal generalized values, not suppressed."""
        return [x for x in self.originals if x[CLASS] >= 0 and all(x[q] == released[q] for q in GENERALIZED)]

    def by_class(self) -> list[list[dict[str, Any]]]:
        """Released records by equal generalized values."""
        classes = defaultdict(list)
        for record in self.released:
            classes[tuple(record[q] for q in GENERALIZED)].append(record)
        return list(classes.values())


def on_grid(record: dict[str, Any], name: str) -> int:
    return math.floor(Fraction(str(record[name])) / RESOLUTION[name] + Fraction(1, 2))


def units(record: dict[str, Any], name: str) -> Fraction:
    return Fraction(str(record[name])) / RESOLUTION[name]


def slow_t_ordered(part: Sequence[float], whole: Sequence[float]) -> Fraction:
    values = sorted(set(whole))
    cumulative = total = Fraction(0)
    for value in values:
        cumulative += Fraction(part.count(value), len(part)) - Fraction(whole.count(value), len(whole))
        total += abs(cumulative)
    return total / (len(values) - 1) if len(values) > 1 else Fraction(0)


def slow_t_equal(part: Sequence[str], whole: Sequence[str]) -> Fraction:
    shares = ((part.count(v), whole.count(v)) for v in set(whole))
    return sum((abs(Fraction(p, len(part)) - Fraction(q, len(whole))) for p, q in shares), Fraction(0)) / 2


def slow_entropy_l(part: Sequence[str]) -> float:
    shares = [count / len(part) for count in Counter(part).values()]
    return math.exp(-sum(p * math.log(p) for p in shares))


def slow_recursive(part: Sequence[float]) -> float:
    return max(Counter(part).values()) / len(part)  # l = 1: r₁ / (r₁ + r₂ + …)


def slow_linking(tables: Tables) -> Fraction:
    linked = 0
    for y in tables.released:
        members = tables.members(y)
        spans = {}
        for name in tables.noisy:
            values = [units(x, name) for x in members]
            spans[name] = max(values) - min(values)

        def distance(
            x: dict[str, Any], y: dict[str, Any] = y, spans: dict[str, Fraction] = spans
        ) -> Fraction:
            steps = [(units(y, n) - units(x, n)) / spans[n] for n in tables.noisy if spans[n]]
            return sum((step * step for step in steps), Fraction(0))

        own = next(x for x in members if x[RECORD] == y[RECORD])
        linked += distance(own) == min(distance(x) for x in members)
    return Fraction(linked, len(tables.released))


def slow_confident(tables: Tables, confidence: float) -> list[int]:
    counts = []
    for y in tables.released:
        members = tables.members(y)
        inside = members
        for name in tables.noisy:
            values = [on_grid(x, name) for x in members]
            radius = -(max(values) - min(values)) / float(tables.epsilon[name]) * math.log(1 - confidence)
            inside = [x for x in inside if abs(on_grid(y, name) - on_grid(x, name)) <= radius]
        counts.append(len(inside))
    return counts


def measured(report: GateReport) -> dict[str, float | None]:
    return {verdict.limit: verdict.value for verdict in report.verdicts}


@settings(max_examples=examples_of(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(8, 70),
    seed=st.integers(0, 10_000),
    two=st.booleans(),
    recoder=st.sampled_from(["ola", "optimal", "mondrian", "mondrian_relaxed"]),
    epsilon=st.sampled_from([0.5, 2, 8, 20]),
    confidence=st.sampled_from([0.5, 0.9, 0.99]),
)
def test_every_number_of_the_gate_is_the_one_of_methods(  # noqa: PLR0917 - hypothesis draws them
    small_policy: Small,
    small_people: People,
    n: int,
    seed: int,
    two: bool,
    recoder: str,
    epsilon: float,
    confidence: float,
) -> None:
    people = small_people(n, seed)
    columns: dict[str, Any] = {}
    if two:
        people["weight"] = (people["height"] * 7 + people["age"]) % 90
        columns["weight"] = {"role": "perturb", "resolution": RESOLUTION["weight"]}
    policy = small_policy(
        columns=columns,
        anonymize={"recoder": recoder, "suppression_limit": 0.3},
        perturb={"epsilon": epsilon},
        suppress={"confidence": confidence},
        gate={**LIMITS, "linking": "realized"},
    )
    try:
        chain = pipeline.run(policy, people, Means(Path(), None, seeded_entropy(seed)))
    except InfeasibleError:
        return
    report = evaluate(
        chain.suppressed.frame, policy, chain.suppressed.facts, originals=chain.k_anonymized.frame
    )
    got, tables = measured(report), Tables.of(chain, policy)
    classes = tables.by_class()
    incomes, illnesses = ([x[name] for x in tables.originals] for name in ("income", "illness"))
    assert got["k"] == min(len(records) for records in classes)
    assert got["suppression"] == pytest.approx(1 - len(tables.released) / n, abs=1e-15)
    worst = max(slow_t_ordered([x["income"] for x in records], incomes) for records in classes)
    assert got["t_closeness.income"] == pytest.approx(float(worst), abs=1e-12)
    worst = max(slow_t_equal([x["illness"] for x in records], illnesses) for records in classes)
    assert got["t_closeness.illness"] == pytest.approx(float(worst), abs=1e-12)
    least = min(slow_entropy_l([x["illness"] for x in records]) for records in classes)
    assert got["l_diversity.illness"] == pytest.approx(least, rel=1e-12)
    most = max(slow_recursive([x["income"] for x in records]) for records in classes)
    assert got["l_diversity.income"] == pytest.approx(most, rel=1e-12)
    assert got["linking_risk"] == pytest.approx(float(slow_linking(tables)), abs=1e-15)
    counts = [min(count, 50) for count in slow_confident(tables, confidence) if count]
    assert got["confidence_k"] == min(counts, default=50)


@settings(max_examples=examples_of(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(n=st.integers(12, 70), seed=st.integers(0, 10_000), epsilon=st.sampled_from([2, 8, 20]))
def test_what_is_suppressed_is_what_methods_suppresses(
    small_policy: Small, small_people: People, n: int, seed: int, epsilon: float
) -> None:
    policy = small_policy(perturb={"epsilon": epsilon}, anonymize={"suppression_limit": 0.2})
    means = Means(Path(), None, seeded_entropy(seed))
    staged = pipeline.deidentified(
        policy, pipeline.raw(policy, small_people(n, seed), entropy=means.entropy), key=None
    )
    recoded = pipeline.k_anonymized(policy, staged)
    mixed = pipeline.shuffled(
        policy, pipeline.perturbed(policy, recoded, entropy=means.entropy), entropy=means.entropy
    )
    tables = Tables.of(Chain(recoded, mixed), policy)
    counts = slow_confident(tables, 0.99)
    stay = [record for record, count in zip(tables.released, counts, strict=True) if count == 0 or count >= 3]
    left = Counter(tuple(record[q] for q in GENERALIZED) for record in stay)
    expected = {record[RECORD] for record in stay if left[tuple(record[q] for q in GENERALIZED)] >= 3}
    try:
        kept = set(pipeline.suppressed(policy, mixed, recoded).frame[RECORD])
    except InfeasibleError:
        kept = set()
    assert kept == expected
