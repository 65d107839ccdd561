"""An attacker who knows every record but one learns nothing of it from what public and operator are told.

Each attack is made twice: with the exact number, which only the curator sees, so that it is known to work;
and with all that verdicts, manifest and Dagster's metadata tell. The attacker picks one of the candidates
that fit, each candidate is the truth equally often, and his share of right guesses is stated with its
interval.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.audience import Audience
from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.encode.noise import noise_facts
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.gate import GateReport
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.table import demands
from anon_pipeline.orchestration.metadata import facts_metadata, report_metadata, verdict_metadata
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.facts.audience import facts_seen_by, stage_seen_by

Small = Callable[..., Policy]
View = tuple[Any, str]
"""The curator's number, and all that others are told as text."""


@dataclass(frozen=True)
class Guessed:
    """How often the attacker was right, in how many trials; the chance of a guess without any number."""

    right: float
    trials: int
    chance: float

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of his share of right guesses, 95 %, as if trials of one table were independent.

        They are not, and the interval is narrower than one over tables; see docs/methods.md, 8.8.
        """
        z, n, p = 1.96, self.trials, self.right / self.trials
        middle, wide = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle - wide) / (1 + z * z / n), (middle + wide) / (1 + z * z / n)


def attack(tables: Sequence[Sequence[View]]) -> tuple[Guessed, Guessed]:
    """Return what an attacker gets right with the exact number, and with what others are told.

    Args:
        tables: of each known table what is seen for every candidate; each is the truth once. Of the guesses
            among the candidates that fit, the expected share is counted.
    """
    found = []
    for part in (0, 1):
        right = 0.0
        for views in tables:
            seen = [view[part] for view in views]
            right += sum(1 / seen.count(true) for true in seen)
        found.append(Guessed(right, sum(map(len, tables)), 1 / len(tables[0])))
    assert found[0].trials >= 200
    return found[0], found[1]


def nothing_gained(found: Guessed) -> bool:
    """Tell whether the chance of a guess without any number is within the interval."""
    low, high = found.interval
    return low <= found.chance <= high


def tables_of(classes: int, size: int, seed: int) -> tuple[pd.DataFrame, np.random.Generator]:
    """Return records in classes and one more, which is suppressed; the attacker knows all but that one."""
    random, n = np.random.default_rng(seed), classes * size
    labels = np.repeat(np.arange(classes), size)
    known = pd.DataFrame(
        {
            RECORD: np.arange(n + 1) + 1000,
            CLASS: [*labels, -1],
            "age": [*(f"[{20 + c}, {21 + c})" for c in labels), None],
            "city": [*["*"] * n, None],
            "height": [*random.integers(150, 200, n).astype(float), 170.0],
            "income": [*random.integers(20, 40, n) * 1000.0, 20_000.0],
            "illness": "none",
            "note": "a",
        }
    )
    return known, random


def view_of(
    policy: Policy, originals: pd.DataFrame, limit: str, released: pd.DataFrame | None = None
) -> View:
    """Judge a release of some originals; return one limit's exact value, and what all others are told.

    Contract and origin say nothing of the originals that were suppressed, and are left out.
    """
    if released is None:
        released = originals[originals[CLASS] >= 0].reset_index(drop=True)
    quasi = originals[["age", "city"]]
    facts = {"k_anonymized": {"information_loss": float((quasi.isna() | quasi.eq("*")).to_numpy().mean())}}
    case = Case(policy, released, evidence_from(released, policy, originals=originals), facts)
    kept = tuple(one.verdict(case) for one in demands(policy) if one.limit.published.valued)
    report = GateReport(kept, "", "")
    (exact,) = [verdict.value for verdict in kept if verdict.limit == limit]
    assert report.passed
    told = [(verdict.as_text(), verdict_metadata(verdict, report, "gate.json")) for verdict in kept]
    return exact, json.dumps([told, report.to_json(), report_metadata(report)["gate"].value])


def test_t_over_the_whole_input_named_the_suppressed_value(small_policy: Small) -> None:
    """300 records, one of them suppressed, an ordered column of 25 values: one candidate was left."""
    order = [f"{i:02}" for i in range(25)]
    policy = small_policy(
        columns={"illness": {"distance": "ordered", "order": order}}, gate={"t_closeness": {"illness": 0.9}}
    )
    tables = []
    for seed in range(8):
        known, random = tables_of(15, 20, seed)
        values = [order[i] for i in np.minimum(random.geometric(0.1, len(known)) - 1, 24)]
        tables.append(
            [
                view_of(policy, known.assign(illness=[*values[:-1], one]), "t_closeness.illness")
                for one in order
            ]
        )
    exact, told = attack(tables)
    assert exact.interval[0] > 0.8
    assert nothing_gained(told)
    rounded, _ = attack([[(round(value, 4), seen) for value, seen in views] for views in tables])
    assert rounded.interval[0] > 0.8  # of 300 records four decimals are as good
    tight = bound_set_after_looking(tables)
    assert tight.interval[1] < 0.12


def bound_set_after_looking(tables: Sequence[Sequence[View]]) -> Guessed:
    """Return what a bound tells that was set, after a look, to two digits just above what was measured.

    This is what a bound and "passed" tell at worst: candidates beyond the bound are ruled out.
    """
    right = 0.0
    for views in tables:
        values = [exact for exact, _ in views]
        right += sum(1 / sum(one <= math.ceil(true * 100) / 100 for one in values) for true in values)
    return Guessed(right, sum(map(len, tables)), 1 / len(tables[0]))


def test_skewness_named_the_suppressed_value(small_policy: Small) -> None:
    policy = small_policy(gate={"attacks": {"skewness": {"illness": 50}}})
    kinds, tables = ["asthma", "flu", "gout", "none"], []
    for seed in range(50):
        known, random = tables_of(3, 20, seed)
        values = random.choice(kinds, len(known), p=[0.1, 0.2, 0.3, 0.4])
        tables.append(
            [view_of(policy, known.assign(illness=[*values[:-1], one]), "skewness.illness") for one in kinds]
        )
    exact, told = attack(tables)
    assert exact.interval[0] > told.chance
    assert nothing_gained(told)


def test_similarity_told_where_the_suppressed_income_is(small_policy: Small) -> None:
    policy = small_policy(gate={"attacks": {"similarity": {"income": 0.0001}}, "linking_risk": 1.0})
    tables = []
    for seed in range(5):
        known, _ = tables_of(10, 4, seed)
        tables.append(
            [
                view_of(
                    policy, known.assign(income=[*known["income"][:-1], 1000.0 * one]), "similarity.income"
                )
                for one in np.arange(20, 40, 0.5)
            ]
        )
    exact, told = attack(tables)
    assert exact.interval[0] > exact.chance
    assert nothing_gained(told)


def test_expected_linking_told_the_height_of_a_class_member(small_policy: Small) -> None:
    """The release has the noise of that height; the exact expectation left few of the heights themselves."""
    policy = small_policy(
        gate={"attacks": {"expected_linking_risk": 1}, "linking_risk": 1.0, "suppression": 0.5},
    )
    tables = []
    for seed in range(5):
        known, _ = tables_of(2, 8, seed)
        released = known[known[CLASS] >= 0].reset_index(drop=True)
        views = []
        for height in range(120, 200, 2):
            originals = known.assign(height=[float(height), *known["height"][1:]])
            views.append(view_of(policy, originals, "expected_linking_risk", released))
        tables.append(views)
    exact, told = attack(tables)
    assert exact.interval[0] > 5 * exact.chance
    assert nothing_gained(told)


def test_entropy_loss_told_the_age_of_a_suppressed_record(small_policy: Small) -> None:
    """The record is alone in its city and suppressed; the loss counts its age, one of ten, all the same."""
    policy = small_policy(
        columns={"age": {"hierarchy": {"intervals": [10]}}},
        anonymize={"loss": "entropy", "k": 3, "suppression_limit": 0.1},
    )
    tables = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        known = pd.DataFrame(
            {
                "person": [f"person {i}" for i in range(80)],
                "age": random.integers(20, 60, 80),
                "city": [*random.choice(["Cork", "Dublin"], 79), "Galway"],
                "height": 170.0,
                "income": 20_000,
                "illness": "none",
                "note": "a",
            }
        )
        views = []
        for age in range(22, 62, 4):
            frame = known.assign(age=[*known["age"][:-1], age])
            staged = pipeline.deidentified(
                policy, pipeline.raw(policy, frame, entropy=seeded_entropy(1)), key=None
            )
            facts = pipeline.k_anonymized(policy, staged).facts
            seen = {name: str(facts_metadata(name, values)) for name, values in facts.items()}
            told = json.dumps([facts_seen_by(facts, Audience.PUBLIC), seen])
            views.append((facts["k_anonymized"]["information_loss"], told))
        tables.append(views)
    exact, told = attack(tables)
    assert exact.interval[0] > exact.chance
    assert nothing_gained(told)


def test_the_digest_of_a_private_hierarchy_confirmed_a_guess(small_policy: Small, tmp_path: Path) -> None:
    """The attacker knows the table but for the region of one city; its digest confirms the right one."""
    policy = small_policy(
        columns={"city": {"hierarchy": {"suppress": None, "table": "cities.csv"}}},
        anonymize={"k": 3, "suppression_limit": 0.1},
    )
    regions, tables = [f"region {i}" for i in range(10)], []
    for seed in range(20):
        random = np.random.default_rng(seed)
        known = pd.DataFrame(
            {
                "person": [f"person {i}" for i in range(80)],
                "age": random.integers(20, 60, 80),
                "city": random.choice(["Cork", "Dublin"], 80),
                "height": 170.0,
                "income": 20_000,
                "illness": "none",
                "note": "a",
            }
        )
        others = "".join(f"{city};{random.choice(regions)};*\n" for city in ("Cork", "Dublin"))
        before = pipeline.deidentified(
            policy, pipeline.raw(policy, known, entropy=seeded_entropy(1)), key=None
        )
        views = []
        for region in regions:
            (tmp_path / "cities.csv").write_text(f"{others}Galway;{region};*\n", encoding="utf-8")
            facts = pipeline.k_anonymized(policy, before, hierarchies=tmp_path).facts
            seen = {name: str(facts_metadata(name, values)) for name, values in facts.items()}
            told = json.dumps([facts_seen_by(facts, Audience.PUBLIC), seen])
            views.append((json.dumps(facts["k_anonymized"]["hierarchies"]), told))
        tables.append(views)
    exact, told = attack(tables)
    assert exact.interval[0] > 0.95
    assert nothing_gained(told)


@pytest.mark.parametrize("audience", [Audience.PUBLIC, Audience.OPERATOR])
def test_the_mean_scale_told_an_income_of_millions(small_policy: Small, audience: Audience) -> None:
    """300 incomes near 40,000, one of 2 to 90 million: it was estimated to a few percent."""
    policy = small_policy(
        columns={"income": {"role": "perturb", "unit": "€", "resolution": 1, "distance": None}},
        perturb={"epsilon": 16},
    )
    random = np.random.default_rng(0)
    labels, close, near = np.repeat(np.arange(30), 10), 0, 0
    told = set()
    for _ in range(200):
        incomes = random.normal(40_000, 5_000, 300).round().astype(np.int64)
        rich = int(random.integers(2_000_000, 90_000_000))
        known = incomes.copy()
        incomes[0] = rich
        classes = EquivalenceClasses(labels, np.bincount(labels).astype(np.int64))
        both = np.stack((np.full(300, 170), incomes), axis=1)
        diameters = np.array([[0, np.ptp(incomes[labels == c])] for c in range(30)], np.int64)
        facts = noise_facts(policy, both, classes, diameters)
        others = sum(np.ptp(known[labels == c]) for c in range(1, 30))
        guess = 8 * 30 * facts["income"]["mean_scale"] - others + known[labels == 0][1:].min()
        close += abs(guess / rich - 1) < 0.06
        near += abs(random.laplace(0, np.ptp(incomes[:10]) / 8) / rich) < 0.06
        told.add(json.dumps(stage_seen_by("perturbed", {"columns": facts}, audience)))
    low, _ = Guessed(close, 200, 0).interval
    _, high = Guessed(near, 200, 0).interval
    assert low > high  # far better than from the noise alone
    assert len(told) == 1  # and now the same whatever the income is: nothing is gained
