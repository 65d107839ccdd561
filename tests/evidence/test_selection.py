"""Whom the confidence leaves out: exact against simulated, and the issue's numbers on Adult."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anon_pipeline.encode.grids import noises
from anon_pipeline.evidence import selection as module
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.measures import compact_labels
from anon_pipeline.evidence.selection import selection
from anon_pipeline.evidence.simulated_releases import DrawingTable, drawing_table
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.grid import quantize
from anon_pipeline.perturb.mechanisms import radius, sensitivities
from anon_pipeline.perturb.noise import class_diameters
from anon_pipeline.policy import Policy
from benchmarks.adult import adult_policy, paper_table
from tests.evidence.test_expectation import chain, people, policy_of
from tests.evidence.test_known_people import chain as visits_chain
from tests.evidence.test_known_people import policy_of as visits_policy
from tests.evidence.test_known_people import visits


def evidence(policy: Policy, n: int = 240) -> Evidence:
    made = chain(policy, people(n))
    return evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)


def test_the_law_and_simulation_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = policy_of(confidence=0.9, epsilon=20)
    given = evidence(policy)
    inside = np.flatnonzero(given.originals.labels >= 0)
    monkeypatch.setattr(module, "_MOST_DRAWS", 2000)
    found = selection(given, policy)
    simulated = module.simulate(given, policy, inside)
    chances, spreads = simulated.chances, simulated.spreads
    assert simulated.draws == 2000
    assert found.left_out == pytest.approx(1 - chances.mean(), abs=0.005)
    assert found.left_out_in_all == simulated.left_out_in_all >= found.left_out - 0.005
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
    assert (found.draws, found.within, [*found.columns]) == (1024, 1 / 32, ["height", "weight"])
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


def test_people_are_counted_as_suppression_counts_them() -> None:
    """Suppression keeps who has k people in his interval; ten records of three people are not ten."""
    policy = visits_policy(confidence=0.9, epsilon=40)
    made = visits_chain(policy, visits(90))
    given = evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)
    found = selection(given, policy)
    inside = np.flatnonzero(given.originals.labels >= 0)
    table = drawing_table(given, policy, 1)
    kept = np.zeros(len(table.labels))
    entropy = seeded_entropy(1)
    for _ in range(400):
        values = table.noise.draw_values(entropy)
        counts = confident_people(table, values)
        kept += (counts == 0) | (counts >= policy.anonymize.k)
    assert found.draws > 0
    assert found.left_out == pytest.approx(1 - kept.mean() / 400, abs=0.01)
    assert found.below_half == pytest.approx((kept / 400 < 0.5).mean(), abs=0.02)
    by_records, _ = module.exact_chances(given, policy, inside)
    assert 1 - by_records.mean() < found.left_out - 0.02  # what was said before


def confident_people(table: DrawingTable, values: np.ndarray) -> np.ndarray:
    """Count the people within the interval of each noisy value, one by one."""
    behind, policy = table.originals, table.policy
    rows = behind.own
    exact, people = quantize(behind.grid[rows])[:, 0], behind.people[rows]
    sensitivity = sensitivities(
        noises(policy)[0], class_diameters(exact[:, None], compact_labels(table.labels))[:, 0]
    )
    reach = np.floor(radius(noises(policy)[0], sensitivity, policy.suppress.confidence))
    found = []
    for y, label in zip(values[:, 0], table.labels, strict=True):
        near = (table.labels == label) & (np.abs(exact - y) <= reach[label])
        found.append(len(set(people[near])))
    return np.array(found)


def test_released_numbers_without_noise_have_a_bias_too() -> None:
    """Tall people are left out more often; what goes with height then is less in the release."""
    policy = policy_of(confidence=0.9, epsilon=20)
    frame = people(240)
    frame["weight"] = frame["height"] * 2  # an insensitive column
    made = chain(policy, frame)
    given = evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)
    found = selection(given, policy)
    own = found.columns["weight"]
    inside = np.flatnonzero(given.originals.labels >= 0)
    chances, _ = module.exact_chances(given, policy, inside)
    numbers = given.originals.frame["weight"].to_numpy()[inside]
    assert own.mean == pytest.approx(np.average(numbers, weights=chances) - numbers.mean())
    assert own.variance < -0.01
    assert own.by_value[0].released == found.columns["height"].by_value[0].released
