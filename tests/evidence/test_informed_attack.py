"""Attackers who know how columns are changed, and values beside: who knows more links more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.expectation import mean_linking_risk
from anon_pipeline.evidence.informed_attack import informed_shares, mean_informed_share, table_of_cells
from anon_pipeline.evidence.known_attack import known_attack
from anon_pipeline.evidence.known_people import Shown
from anon_pipeline.evidence.known_table import known_table
from anon_pipeline.evidence.measures import linking_risk
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.risk.informed_linking import informed_linking

NUMBER: dict[str, Any] = {"role": "perturb", "resolution": 1, "mechanism": "rank_swapping", "amount": 0.1}
N = 600


def policy_of(*, guarantee: bool = False, **number: Any) -> Policy:
    return policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {
                "town": {"role": "generalize", "hierarchy": {"suppress": True}},
                "height": {**NUMBER, **number},
                "weight": {**NUMBER, **number},
                "note": {"role": "insensitive"},
            },
            "anonymize": {"k": 2},
            "perturb": {"epsilon": 1, "without_guarantee": not guarantee},
        }
    )


def evidence_of(policy: Policy) -> Evidence:
    """Return the evidence of three classes, released as the policy's mechanism changes them."""
    random, labels = np.random.default_rng(0), np.arange(N) % 3
    values = random.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], N)
    columns = {"height": np.round(170 + 9 * values[:, 0]), "weight": np.round(700 + 120 * values[:, 1])}
    table = pd.DataFrame({"town": [f"town {label}" for label in labels], **columns})
    table["note"] = random.choice(["a", "b", "c"], N)
    table = table[[*policy.columns]].assign(**{RECORD: np.arange(N), CLASS: labels})
    drawing = known_table(evidence_from(table.drop(columns=CLASS), policy, originals=table), policy).table
    released = table.drop(columns=CLASS)
    drawn = drawing.noise.draw_values(seeded_entropy(9))[:N]
    own = drawing.originals.own[:N] % N
    released.loc[own, ["height", "weight"]] = drawn[:, :2].astype(float)
    return evidence_from(released, policy, originals=table)


@pytest.mark.parametrize("mechanism", ["rank_swapping", "correlated_noise"])
def test_who_knows_more_values_links_more(mechanism: str) -> None:
    policy = policy_of(mechanism=mechanism)
    evidence = evidence_of(policy)
    attack = known_attack(evidence, policy)
    assert attack.informed
    alone, more = attack.over_noise([]), attack.over_noise(["note"])
    assert alone.mean >= mean_linking_risk(evidence, policy).mean - 3 * alone.standard_error - 0.03
    assert more.mean > 1.3 * alone.mean > 0.05
    realized = attack.realized_share(evidence, policy, ["note"])
    assert realized == pytest.approx(more.mean, abs=0.1)


def test_the_mean_is_that_of_the_draws() -> None:
    policy = policy_of()
    evidence = evidence_of(policy)
    table = known_table(evidence, policy).table
    attack = known_attack(evidence, policy)
    cells, draws = table_of_cells(table, table.labels, None), attack.draws[:3]
    shares = np.array([informed_shares(cells, drawn) for drawn in draws])
    found = mean_informed_share(cells, draws)
    assert found.draws == 3 and found.mean == pytest.approx(shares.mean(axis=0).max())
    best = shares[:, shares.mean(axis=0).argmax()]
    assert found.standard_error >= np.std(best, ddof=1) / np.sqrt(3)
    (only,) = draws[:1]
    one = mean_informed_share(cells, [only])
    assert one.mean == shares[0].max() and 0 < one.standard_error < 0.05


def test_it_is_what_the_release_gives() -> None:
    """The share that the gate measures of a release is the larger one: here that of `informed_linking`."""
    policy = policy_of()
    evidence = evidence_of(policy)
    behind = evidence.originals
    assert behind is not None
    released = evidence.released[["height", "weight"]].to_numpy(float)
    informed = informed_linking(released, behind.own, behind.grid, labels=behind.labels)
    assert informed > 0.05
    assert linking_risk(evidence, policy).risk == linking_risk(evidence, policy).attacker_success == informed


def test_numbers_with_noise_have_no_such_attacker() -> None:
    policy = policy_of(guarantee=True, mechanism="discrete_laplace", amount=None)
    attack = known_attack(evidence_of(policy), policy)
    assert not attack.informed


def test_people_are_counted() -> None:
    policy = policy_of()
    table = known_table(evidence_of(policy), policy).table
    values = table.noise.draw_values(seeded_entropy(3))
    drawn, whose = Shown(values, np.arange(len(values))), np.arange(len(values)) // 2
    alone, theirs = (
        max(informed_shares(table_of_cells(table, table.labels, people), drawn)) for people in (None, whose)
    )
    assert theirs > 1.4 * alone > 0
