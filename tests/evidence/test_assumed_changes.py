"""What attackers assume of changed columns: simulated from the change itself, whatever it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.assumed_changes import Assumptions, assumptions
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.known_attack import known_attack
from anon_pipeline.evidence.known_table import known_table
from anon_pipeline.perturb.whole_column import change, class_swapping
from anon_pipeline.policy import Policy, policy_from

JOBS = ("baker", "clerk", "miner", "nurse", "smith")
SWAPPED = {"role": "perturb", "mechanism": "class_swapping", "values": list(JOBS)}
NUMBER = {"role": "perturb", "resolution": 1}


def policy_of(**columns: Any) -> Policy:
    return policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {"town": {"role": "generalize", "hierarchy": {"suppress": True}}, **columns},
            "anonymize": {"k": 2},
            "perturb": {"epsilon": 1, "without_guarantee": True},
        }
    )


def evidence_of(policy: Policy, sizes: list[int]) -> Evidence:
    """Return the evidence of classes of some sizes, with random jobs and incomes, released as they are."""
    random, labels = np.random.default_rng(0), np.repeat(np.arange(len(sizes)), sizes)
    n = len(labels)
    columns = {"job": random.choice(JOBS, n), "income": random.integers(0, 1_000, n).astype(float)}
    table = pd.DataFrame({"town": [f"town {label}" for label in labels], **columns})
    table = table[[*policy.columns]].assign(**{RECORD: np.arange(n), CLASS: labels})
    return evidence_from(table.drop(columns=CLASS), policy, originals=table)


def found_by(policy: Policy) -> Assumptions:
    return assumptions(known_table(evidence_of(policy, [10] * 200), policy).table, policy)


def test_a_random_order_tells_nothing_of_categories() -> None:
    likely = found_by(policy_of(job=SWAPPED)).likely["job"]
    assert likely.shape == (5, 5) and np.abs(likely).max() < 0.2


def test_a_change_that_changes_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attackers do not take the mechanism's word for what it does: they simulate it."""
    monkeypatch.setattr(class_swapping, "swap_within_classes", lambda columns: columns.values)
    change.import_entry.cache_clear()  # else the function of before is taken
    policy = policy_of(job=SWAPPED)
    try:
        likely = found_by(policy).likely["job"]
        linked = known_attack(given := evidence_of(policy, [10] * 200), policy).over_noise(["job"]).mean
    finally:
        change.import_entry.cache_clear()
    assert (np.diag(likely) > 1).all() and likely[~np.eye(5, dtype=bool)].max() < -1
    assert given.originals is not None
    alone = given.originals.frame.groupby(["town", "job"]).ngroups / 2_000  # one of those who share a job
    assert linked == pytest.approx(alone, abs=1e-9)


def test_numbers_have_their_median_change_and_noise_none() -> None:
    found = found_by(policy_of(income={**NUMBER, "mechanism": "class_swapping"}, job=SWAPPED))
    assert found.moved.shape == (1,) and 200 < found.moved[0] < 400
    assert found_by(policy_of(income=NUMBER, job=SWAPPED)).moved.shape == (0,)


def test_without_changed_columns_nothing_is_assumed() -> None:
    drawn = {"role": "perturb", "mechanism": "randomized_response", "values": list(JOBS)}
    policy = policy_from(
        policy_of(job=SWAPPED).model_dump()
        | {
            "columns": {"town": {"role": "generalize", "hierarchy": {"suppress": True}}, "job": drawn},
            "perturb": {"epsilon": 1},
        }
    )
    found = found_by(policy)
    assert len(found.moved) == 0 and found.likely == {}
