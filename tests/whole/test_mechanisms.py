"""Each mechanism from the policy to a judged release: facts, suppression, gate, words."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.mechanisms import NOISE_MECHANISMS
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.encode.grids import noises
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.measures import confident_originals
from anon_pipeline.gate import evaluate
from anon_pipeline.gate.great_expectations import gate_batch, suite_for, validate
from anon_pipeline.perturb.entropy import seeded_entropy, system_entropy
from anon_pipeline.perturb.mechanisms import cdf, mean_absolute, pmf, radius
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.risk.linking import expected_column_linking, linking_risk
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.facts.check import checked_facts
from anon_pipeline.stages.history.memory import noise_terms
from anon_pipeline.stages.private import Means
from anon_pipeline.utility.results import utility

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]

NEEDS: dict[str, dict[str, Any]] = {
    "discrete_gaussian": {"delta": 1e-5},
    "uniform": {"without_guarantee": True},
}
DECLARED = {"sensitivity": "declared", "input_bounds": [150, 190]}


def under(small_policy: Small, mechanism: str, *, declared: bool = False, **more: Any) -> Policy:
    changes: dict[str, Any] = {"perturb": {"mechanism": mechanism, **NEEDS.get(mechanism, {})}}
    if declared:
        changes["columns"] = {"height": DECLARED}
    return small_policy(**changes, **more)


@pytest.mark.parametrize(("mechanism", "declared"), itertools.product(NOISE_MECHANISMS, [False, True]))
def test_a_whole_release_passes_its_gate(
    small_policy: Small, small_people: People, mechanism: str, declared: bool
) -> None:
    policy = under(
        small_policy,
        mechanism,
        declared=declared,
        gate={"confidence_k": 3, "linking_risk": 1.0, "suppression": 0.9},
    )
    chain = pipeline.run(policy, small_people(), Means(Path(), None, system_entropy()))
    originals, released = chain.k_anonymized.frame, chain.suppressed.frame
    report = evaluate(released, policy, chain.suppressed.facts, originals=originals)
    assert report.passed, report
    checked_facts(policy, json.loads(json.dumps(chain.suppressed.facts)))
    said = chain.suppressed.facts["perturbed"]["columns"]["height"]
    assert (said["mechanism"], said["sensitivity"]) == (mechanism, "declared" if declared else "class")
    assert said["delta"] == NEEDS.get(mechanism, {}).get("delta")
    assert (released["height"] == released["height"].round()).all()
    batch = gate_batch(released, originals, policy)
    judged = validate(batch, policy)
    assert judged.success, judged.failures()
    measured = {verdict.limit: verdict.value for verdict in report.verdicts}
    assert {line.limit: line.observed for line in judged.lines}["confidence_k"] == measured["confidence_k"]


@pytest.mark.parametrize(("mechanism", "declared"), itertools.product(NOISE_MECHANISMS, [False, True]))
def test_suppression_counts_the_originals_within_the_mechanisms_own_radius(
    small_policy: Small, small_people: People, mechanism: str, declared: bool
) -> None:
    policy = under(small_policy, mechanism, declared=declared)
    means = Means(Path(), None, seeded_entropy(3))
    recoded = pipeline.run(policy, small_people(), means).k_anonymized
    noisy = pipeline.perturbed(policy, recoded, entropy=seeded_entropy(4))
    evidence = evidence_from(noisy.frame, policy, originals=recoded.frame)
    (noise,) = noises(policy)
    before = recoded.frame[recoded.frame[CLASS] >= 0]
    expected = []
    for record, label in zip(noisy.frame[RECORD], noisy.frame[CLASS], strict=True):
        values = before.loc[before[CLASS] == label, "height"].to_numpy(np.int64)
        wide = 40 if declared else int(np.ptp(values))
        reach = float(radius(noise, np.array([wide]), 0.99)[0])
        inputs = np.clip(values, 150, 190) if declared else values
        y = float(noisy.frame.loc[noisy.frame[RECORD] == record, "height"].iloc[0])
        expected.append(min(int((np.abs(inputs - y) <= reach).sum()), 1000))
    assert confident_originals(evidence, policy, cap=1000).tolist() == expected


def test_columns_may_differ_in_mechanism_and_share_the_budget(
    small_policy: Small, small_people: People
) -> None:
    policy = small_policy(
        columns={
            "height": {"mechanism": "discrete_gaussian", "weight": 3},
            "income": {
                "role": "perturb",
                "resolution": 100,
                "distance": None,
                "mechanism": "discrete_gaussian",
            },
            "arm": {"role": "perturb", "resolution": 1, "mechanism": "staircase", **DECLARED},
            "leg": {"role": "perturb", "resolution": 1, "weight": 5},
        },
        perturb={"epsilon": 10, "delta": 4e-6},
        suppress={"confidence": None},
    )
    found = noises(policy)
    assert [noise.mechanism for noise in found] == [
        *("discrete_gaussian", "discrete_gaussian", "staircase", "discrete_laplace")
    ]
    assert [noise.epsilon for noise in found] == [3, 1, 1, 5]
    assert [noise.delta for noise in found] == [Fraction(3, 10**6), Fraction(1, 10**6), None, None]
    assert [noise.inputs for noise in found] == [None, None, (150, 190), None]
    people = small_people().assign(arm=150.0, leg=lambda frame: frame["height"])
    chain = pipeline.run(policy, people, Means(Path(), None, seeded_entropy(5)))
    after = chain.suppressed.frame
    assert np.abs(after["arm"] - 150).mean() == pytest.approx(float(mean_absolute(found[2], 40)), rel=0.2)
    columns = chain.suppressed.facts["perturbed"]["columns"]
    assert {name: columns[name]["delta"] for name in columns} == {
        "height": 3e-6,
        "income": 1e-6,
        "arm": None,
        "leg": None,
    }
    lines = guarantee(policy)
    assert any("ε-local differential privacy" in line and "arm" in line for line in lines)
    assert "Together these columns spend ε = 10, δ = 4e-06: in one row the factors multiply." in lines
    assert any(
        "If the same people are released twice, the ε values and the δ values add up" in line
        for line in lines
    )


def test_each_mechanism_says_what_it_promises(small_policy: Small) -> None:
    said = {mechanism: guarantee(under(small_policy, mechanism))[2] for mechanism in NOISE_MECHANISMS}
    assert "scaled to the class (discrete Laplace): height. Of two members" in said["discrete_laplace"]
    assert "scaled to the class (staircase): height. Of two members" in said["staircase"]
    assert said["discrete_gaussian"].endswith("((ε, δ)-indistinguishable, ε = 2, δ = 1e-05).")
    assert "times (plus δ = 1e-05) as likely" in said["discrete_gaussian"]
    assert "guarantees nothing (uniform): height" in said["uniform"]
    assert "indistinguishable" not in " ".join(guarantee(under(small_policy, "uniform"))[1:])
    declared = guarantee(under(small_policy, "discrete_laplace", declared=True))
    (promised,) = (line for line in declared if "Whatever the class" in line)
    assert "Whatever the class, what is drawn for one row is at most e^2 (7.4) times" in promised
    assert "(ε-local differential privacy of this column, ε = 2)" in promised
    assert any("not differentially private" in line for line in declared)


def test_an_epsilon_is_not_promised_where_noise_guarantees_nothing(small_policy: Small) -> None:
    promised = [under(small_policy, mechanism).promised_epsilon for mechanism in NOISE_MECHANISMS]
    assert promised == [2, 2, 2, None]


def test_the_largest_epsilon_of_the_staircase_is_drawn(small_policy: Small, small_people: People) -> None:
    policy = small_policy(perturb={"mechanism": "staircase", "epsilon": 10})
    pipeline.run(policy, small_people(), Means(Path(), None, seeded_entropy(1)))


def test_noise_stays_only_under_equal_terms(small_policy: Small) -> None:
    policies = [
        *(under(small_policy, mechanism) for mechanism in NOISE_MECHANISMS),
        *(under(small_policy, mechanism, declared=True) for mechanism in NOISE_MECHANISMS),
        small_policy(perturb={"mechanism": "discrete_gaussian", "delta": 1e-6}),
    ]
    said = [noise_terms(policy)["height"] for policy in policies]
    assert len(set(said)) == len(said)
    assert said[0] == '["2", 1.0, null, "discrete_laplace"]'  # as memories of earlier versions have it


def test_a_gaussian_that_is_too_wide_names_its_column(small_policy: Small, small_people: People) -> None:
    people = small_people().assign(height=lambda frame: frame["height"] * 1_234_567)
    policy = small_policy(perturb={"mechanism": "discrete_gaussian", "epsilon": 0.01, "delta": 1e-9})
    with pytest.raises(InputError, match=r"height: the standard deviation") as caught:
        pipeline.run(policy, people, Means(Path(), None, seeded_entropy(1)))
    assert "1234567" not in str(caught.value)


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
def test_the_expected_linking_risk_is_that_of_the_mechanism(small_policy: Small, mechanism: str) -> None:
    (noise,) = noises(under(small_policy, mechanism))
    values, labels = np.array([0, 3, 3, 9, 20, 26, 27]), np.array([0, 0, 0, 0, 1, 1, 1])
    diameters = np.array([9, 7])
    expected = expected_column_linking(values, labels, scales=diameters, law=partial(cdf, noise))
    total = 0.0
    outputs = np.arange(-4_000, 4_001)
    for value, label in zip(values, labels, strict=True):
        mass = np.diff(cdf(noise, np.append(outputs[0] - 1, outputs) - value, diameters[label]))
        distances = np.abs(outputs[:, None] - values[labels == label])
        total += float(mass[np.abs(outputs - value) == distances.min(axis=1)].sum())
    assert expected == pytest.approx(total / len(values), abs=1e-9)
    own = np.arange(len(values))
    again = linking_risk(values[:, None].astype(float), own, values[:, None].astype(float), labels=labels)
    assert again.risk == 1.0


def test_a_suite_carries_the_noise_exactly(small_policy: Small) -> None:
    limits = {"gate": {"confidence_k": 3}}
    for mechanism in NOISE_MECHANISMS:
        policy = under(small_policy, mechanism, **limits)
        (confident,) = (e for e in suite_for(policy).expectations if e.meta == {"limit": "confidence_k"})
        assert noises(policy_from(confident.policy)) == noises(policy)


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
def test_what_is_expected_is_what_comes_out(
    small_policy: Small, small_people: People, mechanism: str
) -> None:
    policy = under(small_policy, mechanism, suppress={"confidence": None})
    (noise,) = noises(policy)
    chain = pipeline.run(policy, small_people(6_000), Means(Path(), None, seeded_entropy(6)))
    before = chain.k_anonymized.frame.set_index(RECORD)
    after = chain.suppressed.frame.set_index(RECORD)["height"].to_numpy()
    kept = before.loc[chain.suppressed.frame[RECORD]]
    original, labels = kept["height"].to_numpy(np.int64), pd.factorize(kept[CLASS])[0]
    diameters = kept["height"].groupby(labels).agg(np.ptp).to_numpy(np.int64)
    distance = np.abs(after - original)
    expected = mean_absolute(noise, diameters)[labels].mean()
    assert abs(distance.mean() - expected) < 3 * distance.std() / np.sqrt(len(distance))
    measured = linking_risk(
        after[:, None], np.arange(len(after)), original[:, None].astype(float), labels=labels
    ).risk
    risk = expected_column_linking(original, labels, scales=diameters, law=partial(cdf, noise))
    assert abs(measured - risk) < 3 * np.sqrt(risk * (1 - risk) / len(after))
    said = chain.suppressed.facts["perturbed"]["columns"]["height"]["expected_relative_error"]
    relative = (distance / original).mean()
    assert said == pytest.approx(relative, rel=0.06)


@pytest.mark.parametrize("mechanism", NOISE_MECHANISMS)
def test_the_error_that_an_analyst_is_told_to_expect_is_the_mechanisms_own(
    small_policy: Small, small_people: People, mechanism: str
) -> None:
    policy = under(small_policy, mechanism, declared=True, suppress={"confidence": None})
    people = small_people(2_000)
    entropy = seeded_entropy(7)
    before = pipeline.deidentified(policy, pipeline.raw(policy, people, entropy=entropy), key=None)
    recoded = pipeline.k_anonymized(policy, before)
    noisy = pipeline.perturbed(policy, recoded, entropy=entropy)
    evidence = evidence_from(noisy.frame, policy, originals=recoded.frame)
    told = utility(evidence, policy, before.frame).noise["height"].expected
    (noise,) = noises(policy)
    kept = recoded.frame.loc[recoded.frame[CLASS] >= 0, "height"].to_numpy(np.int64)
    z = np.arange(-20_000, 20_001)
    mass = pmf(noise, z, 40)
    moved = np.clip(kept, *noise.inputs)  # values beyond the public bounds are moved to them first
    shifts = {int(by): float(mass @ np.abs(z + by)) for by in np.unique(moved - kept)}
    errors = np.array([shifts[int(by)] for by in moved - kept]) / kept
    assert told == pytest.approx(float(errors.mean()), rel=1e-9)
