"""Releases that the noise could have made: of a fixed seed, and the same for any order of the input."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base import blocks
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.simulated_releases import DrawingTable, drawing_table
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Means


def policy_of(**sections: Any) -> Policy:
    return policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {
                "town": {"role": "generalize", "hierarchy": {"suppress": True}},
                "height": {"role": "perturb", "unit": "cm", "resolution": 1},
                "illness": {"role": "sensitive", "distance": "equal"},
            },
            "anonymize": {"k": 5},
            "perturb": {"epsilon": 1},
            "gate": {"linking_risk": 1},
            **sections,
        }
    )


def people(n: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "town": rng.choice(["Cork", "Galway", "Sligo"], n),
            "height": rng.normal(170, 12, n).round(),
            "illness": rng.choice(["flu", "gout", "none"], n),
        }
    )


def evidence_of(policy: Policy, frame: pd.DataFrame, seed: int = 1) -> Evidence:
    made = run(policy, frame, Means(Path(), None, seeded_entropy(seed)))
    return evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)


def table_of(policy: Policy, frame: pd.DataFrame, *, seed: int = 1, copies: int = 1) -> DrawingTable:
    return drawing_table(evidence_of(policy, frame, seed), policy, copies)


def test_neither_the_order_of_the_input_nor_its_own_noise_changes_what_is_drawn() -> None:
    policy, frame = policy_of(), people()
    shuffled = frame.sample(frac=1, random_state=3).reset_index(drop=True)
    first, second = table_of(policy, frame).releases(3), table_of(policy, shuffled, seed=2).releases(3)
    for one, other in zip(first, second, strict=True):
        assert one is not None and other is not None
        assert one.values.tolist() == other.values.tolist()
        assert one.rows.tolist() == other.rows.tolist()


def test_releases_are_remembered_and_each_has_noise_of_its_own() -> None:
    table = table_of(policy_of(), people())
    first, second = table.releases(2)
    assert first is not None and second is not None
    assert (first.values != second.values).any()
    assert table.releases(1)[0] is first


def test_a_release_is_measured_as_the_gate_measures_one() -> None:
    policy = policy_of()
    (drawn,) = table_of(policy, people()).releases(1)
    assert drawn is not None
    evidence = drawn.as_evidence()
    assert evidence.released["height"].tolist() == drawn.values[:, 0].tolist()
    assert evidence.classes.k >= policy.anonymize.k
    assert evidence.originals is not None
    assert len(evidence.released) == len(evidence.originals.own) == len(drawn.rows)


@pytest.mark.parametrize("copies", [1, 3])
def test_a_copy_of_a_record_is_in_a_class_of_its_own(copies: int) -> None:
    once, table = table_of(policy_of(), people()), table_of(policy_of(), people(), copies=copies)
    assert len(table.labels) == copies * len(once.labels)
    assert table.labels.max() + 1 == copies * (once.labels.max() + 1)


def test_who_is_left_out_by_the_confidence_has_too_few_originals_near() -> None:
    policy = policy_of(suppress={"confidence": 0.5}, perturb={"epsilon": 8})
    table = table_of(policy, people())
    far = np.full((len(table.labels), 1), 10_000, np.int64)
    near = table.originals.grid[table.originals.own].astype(np.int64)
    assert table.stays(far)[0].all(), "nobody is near: nobody is singled out"
    confident, released = table.stays(near)
    assert 0 < confident.sum() < len(near)
    assert not (released & ~confident).any()


def test_nobody_is_released_where_no_class_can_keep_its_limit() -> None:
    made = evidence_of(policy_of(), people())
    strict = policy_of(gate={"linking_risk": 1, "t_closeness": {"illness": 0.0}})
    assert drawing_table(made, strict, 1).draw_release(seeded_entropy(5)) is None


@pytest.mark.parametrize("confidence", [None, 0.5])
def test_blocks_do_not_change_what_is_drawn(
    confidence: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"linking_risk": 1, "t_closeness": {"illness": 0.4}}
    policy = policy_of(suppress={"confidence": confidence}, gate=limits)
    made = evidence_of(policy, people())
    whole = drawing_table(made, policy, 2).draw_release(seeded_entropy(5))
    monkeypatch.setattr(blocks, "BLOCK", 17)
    parts = drawing_table(made, policy, 2).draw_release(seeded_entropy(5))
    assert whole is not None
    assert parts is not None
    assert parts.values.tolist() == whole.values.tolist()
    assert parts.rows.tolist() == whole.rows.tolist()


def test_what_nobody_needs_is_freed_at_once() -> None:
    table = table_of(policy_of(), people())
    table.releases(1)
    labels = weakref.ref(table.labels)
    del table
    assert labels() is None, "no cycle of references waits for the collector"
