"""Whom the confidence leaves out: exact against simulated, and the issue's numbers on Adult."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anon_pipeline.evidence import selection as module
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.selection import selection
from anon_pipeline.policy import Policy
from benchmarks.adult import adult_policy, paper_table
from tests.evidence.test_expected import chain, people, policy_of


def evidence(policy: Policy, n: int = 240) -> Evidence:
    made = chain(policy, people(n))
    return evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)


def test_the_law_and_simulation_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = policy_of(confidence=0.9, epsilon=20)
    given = evidence(policy)
    inside = np.flatnonzero(given.originals.labels >= 0)
    monkeypatch.setattr(module, "_DRAWS", 2000)
    found = selection(given, policy)
    chances, spreads = module.simulated_chances(given, policy, inside)
    assert (found.draws, found.least) == (0, pytest.approx(chances.min(), abs=0.05))
    assert found.below_half == pytest.approx((chances < 0.5).mean(), abs=0.02)
    other = module.bias_of(spreads[0], 1.0, ())
    bias = found.columns["height"]
    assert (bias.mean, bias.variance) == pytest.approx((other.mean, other.variance), abs=0.05)
    assert bias.variance < -0.01
    assert bias.by_value[0].released < bias.by_value[5].released
    assert sum(part.records for part in bias.by_value) == len(inside)


def test_several_columns_are_simulated_and_without_confidence_there_is_nothing() -> None:
    policy = policy_of(noisy=2, confidence=0.9, epsilon=20)
    found = selection(evidence(policy), policy)
    assert (found.draws, [*found.columns]) == (64, ["height", "weight"])
    assert 0 < found.least < 1
    free = policy_of()
    assert selection(evidence(free), free) is None


def test_adult_has_the_numbers_of_the_issue(shared_data: Path) -> None:
    """k = 10, ε = 8: one record is released with 0.017; 79 of 238 classes hold one below a half."""
    folder = shared_data / "adult"
    if not (folder / "adult.csv").is_file():
        pytest.skip("needs adult/adult.csv in the shared data")
    policy = adult_policy(10, 8, "ola")
    made = chain(policy, paper_table(folder))
    given = evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)
    found = selection(given, policy)
    assert (round(found.least, 3), found.open_classes, found.classes) == (0.017, 79, 238)
    assert found.below_half == pytest.approx(0.01203, abs=1e-5)
    assert found.columns["height"].variance == pytest.approx(-0.0217, abs=5e-4)
