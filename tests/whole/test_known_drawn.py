"""Drawn categories known together with noisy numbers: against sums over all outputs, and many releases."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.encode.codes import CLASS
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.known_attack import KnownAttack, known_attack
from anon_pipeline.evidence.known_categories import expected_of_category
from anon_pipeline.evidence.known_people import DRAWS
from anon_pipeline.perturb.mechanisms import pmf
from anon_pipeline.policy import Policy, policy_from
from tests.evidence.test_known_people import again, chain

TRADES, STAGES = ["baker", "cook", "smith", "weaver"], ["one", "two", "three"]
SETS = (("trade",), ("stage",), ("stage", "trade"), ("note", "stage", "trade"), ("note",))


def workers(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "town": rng.choice(["Cork", "Galway", "Sligo"], n),
            "height": rng.normal(170, 12, n).round(),
            "trade": rng.choice(TRADES, n),
            "stage": rng.choice(STAGES, n),
            "note": rng.choice(["x", "y"], n),
        }
    )


def policy_of(*, noise: bool = True, person: bool = False, epsilon: float = 6, **sections: Any) -> Policy:
    """Return a policy of two drawn categories, beside a noisy number if wished."""
    drop: dict[str, Any] = {"role": "identifier", "action": "drop"}
    drawn = {"role": "perturb", "mechanism": "randomized_response"}
    if person:
        sections |= {"person": "name", "rows_per_person": 2, "deidentify": {"key_env": "UNUSED"}}
    return policy_from(
        {
            "name": "workers",
            "source": {"path": "workers.csv"},
            "columns": {
                "name": drop,
                "town": {"role": "generalize", "hierarchy": {"suppress": True}},
                "height": {"role": "perturb", "unit": "cm", "resolution": 1} if noise else drop,
                "trade": {**drawn, "values": TRADES},
                "stage": {**drawn, "values": STAGES},
                "note": {"role": "insensitive"},
            },
            "anonymize": {"k": 5, "suppression_limit": 0.2},
            "perturb": {"epsilon": epsilon},
            **({"suppress": {"confidence": None}} if noise else {}),
            **sections,
        }
    )


def evidence(policy: Policy, made: Any, release: pd.DataFrame | None = None) -> Evidence:
    shown = made.suppressed.frame if release is None else release
    return evidence_from(shown, policy, originals=made.k_anonymized.frame)


def exact_share(frame: pd.DataFrame, attack: KnownAttack, columns: Sequence[str]) -> float:
    """Sum the largest P(all outputs | original) of each cell over all outputs, in whole tables."""
    domains = {"trade": TRADES, "stage": STAGES}
    laws = {
        name: np.exp(likely) for name, likely in zip(attack.categories, attack.hidden.likely, strict=True)
    }
    linked, (noise,) = 0.0, attack.hidden.law.drawn
    seen = [name for name in ("trade", "stage") if name in columns]
    for _, whole in frame.groupby(CLASS):
        x = whole["height"].to_numpy(np.int64)
        outputs = np.arange(x.min() - 600, x.max() + 601)
        for _, cell in whole.groupby("note") if "note" in columns else [(None, whole)]:
            most = np.zeros((len(outputs), *(len(domains[name]) for name in seen)))
            for record in cell.itertuples():
                chances = [pmf(noise, outputs - int(record.height), np.full(len(outputs), np.ptp(x)))]
                chances += [laws[name][domains[name].index(getattr(record, name))] for name in seen]
                most = np.maximum(most, functools.reduce(np.multiply.outer, chances))
            linked += most.sum()
    return linked / len(frame)


@pytest.mark.parametrize("epsilon", [2, 9])
def test_the_mean_is_the_sum_over_all_outputs(epsilon: float) -> None:
    policy = policy_of(epsilon=epsilon)
    made = chain(policy, workers())
    attack = known_attack(evidence(policy, made), policy)
    found = {columns: attack.over_noise(columns) for columns in SETS}
    for columns, one in found.items():
        exact = exact_share(made.k_anonymized.frame, attack, columns)
        assert abs(one.mean - exact) < 5 * one.standard_error + 1e-9
        assert one.standard_error < 0.01
    assert found["trade",].mean < found["stage", "trade"].mean < found["note", "stage", "trade"].mean


def test_who_also_sees_noisy_numbers_links_more_than_by_the_category_alone() -> None:
    """What the closed form of the category alone left out before."""
    policy = policy_of(epsilon=9)
    made = chain(policy, workers(200))
    given = evidence(policy, made)
    alone = expected_of_category(given, policy, "trade").mean
    joint = known_attack(given, policy).over_noise(["trade"])
    assert joint.mean - 5 * joint.standard_error > 1.5 * alone


def test_without_noisy_numbers_the_mean_is_the_closed_form() -> None:
    policy = policy_of(noise=False)
    made = chain(policy, workers(200))
    given = evidence(policy, made)
    attack = known_attack(given, policy)
    for name in ("trade", "stage"):
        found, exact = attack.over_noise([name]), expected_of_category(given, policy, name)
        assert abs(found.mean - exact.mean) < 5 * found.standard_error + 1e-9


def test_a_value_that_a_law_never_draws_rules_originals_out() -> None:
    """Every original of the cell is then compared by the others; no chance becomes a number that is none."""
    policy = policy_of(epsilon=40)
    made = chain(policy, workers(40))
    given = evidence(policy, made)
    attack = known_attack(given, policy)
    frame = made.k_anonymized.frame
    cells = frame.groupby([CLASS, "height", "trade", "stage", "note"]).ngroups
    found = attack.over_noise(["note", "stage", "trade"])
    assert found.mean == pytest.approx(cells / len(frame), abs=0.06)


def test_what_was_drawn_links_what_is_expected() -> None:
    policy = policy_of()
    made, shares = chain(policy, workers(90)), []
    attack = known_attack(evidence(policy, made), policy)
    for seed in range(1, 81):
        release = again(policy, made.k_anonymized, seed)
        shares.append(attack.realized_share(evidence(policy, made, release), policy, ["note", "trade"]))
    error, found = np.std(shares, ddof=1) / len(shares) ** 0.5, attack.over_noise(["note", "trade"])
    assert abs(found.mean - np.mean(shares)) < 4 * (error + found.standard_error)
    assert np.ptp(shares) > 0


def test_it_is_equal_for_different_draws_and_orders_of_the_same_input() -> None:
    policy = policy_of()
    made, found = chain(policy, workers()), []
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(made.k_anonymized.frame))
        release = again(policy, made.k_anonymized, seed)
        given = evidence_from(release, policy, originals=made.k_anonymized.frame.iloc[order])
        found.append([known_attack(given, policy).over_noise(columns) for columns in SETS])
    assert found[0] == found[1]


def test_with_one_record_each_people_are_linked_as_records() -> None:
    frame, found = workers(120), []
    for person in (False, True):
        policy = policy_of(person=person, epsilon=12 if person else 6)  # two records may share a person's ε
        attack = known_attack(evidence(policy, chain(policy, frame)), policy)
        found.append([attack.over_noise(columns) for columns in SETS])
    for records, people in zip(*found, strict=True):
        assert people.draws == DRAWS
        assert abs(records.mean - people.mean) < 4 * (records.standard_error + people.standard_error) + 1e-9


def test_two_records_of_a_person_link_him_more_often_than_one() -> None:
    frame = workers(60)
    twice = pd.concat([frame, frame], ignore_index=True)
    policy = policy_of(person=True, epsilon=12)
    found = [
        known_attack(evidence(policy, chain(policy, one)), policy).over_noise(["stage", "trade"])
        for one in (frame, twice)
    ]
    assert found[1].mean > found[0].mean + 5 * (found[0].standard_error + found[1].standard_error)
