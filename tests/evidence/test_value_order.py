"""Originals in order of their values, against plain sorting; a release drawn again, against its twin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.packed_columns import pack_column
from anon_pipeline.base.packed_tables import PackedTable
from anon_pipeline.encode.codes import code_sensitive
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.expectation import expectation, mean_linking_risk
from anon_pipeline.evidence.measures import linking_risk
from anon_pipeline.evidence.value_order import (
    column_ranks,
    number_classes,
    repeat_originals,
    sort_originals,
    value_ranks,
)
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Means


def policy_of(noisy: int = 2, confidence: float | None = 0.9, **gate: Any) -> Policy:
    perturb = {"role": "perturb", "unit": "cm", "resolution": 0.5}
    return policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {
                "town": {"role": "generalize", "hierarchy": {"suppress": True}},
                "age": {"role": "generalize", "hierarchy": {"intervals": [5, 20]}},
                "height": perturb,
                "weight": perturb if noisy == 2 else {"role": "insensitive"},
                "illness": {"role": "sensitive", "distance": "equal"},
                "pay": {"role": "sensitive", "distance": "ordered"},
            },
            "anonymize": {"k": 5, "suppression_limit": 0.2},
            "perturb": {"epsilon": 4},
            "suppress": {"confidence": confidence},
            "gate": gate,
        }
    )


def evidence_of(policy: Policy, n: int = 400, seed: int = 0) -> Evidence:
    rng = np.random.default_rng(seed)
    town = rng.choice(np.array(["Ärö", "Cork", "Galway", "nan", None], dtype=object), n)
    frame = pd.DataFrame(
        {
            "town": town,
            "age": rng.integers(18, 60, n),
            "height": np.round(rng.normal(170, 4, n)),
            "weight": np.round(rng.normal(70, 6, n)),
            "illness": rng.choice(["flu", "gout", "none"], n, p=[0.6, 0.1, 0.3]),
            "pay": rng.integers(0, 4, n),
        }
    )
    made = run(policy, frame, Means(Path(), None, seeded_entropy(seed)))
    return evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)


def slow_order(evidence: Evidence, policy: Policy) -> tuple[np.ndarray, np.ndarray]:
    """Sort by the texts of every class and by the columns themselves, as it is defined."""
    behind = evidence.originals
    assert behind is not None
    inside = np.flatnonzero(behind.labels >= 0)
    found, first = np.unique(behind.labels[inside], return_index=True)
    texts = behind.frame[list(policy.generalized)].iloc[inside[first]].astype(str)
    there = behind.frame[list(policy.generalized)].iloc[inside[first]].notna()
    keys = [key for name in reversed(texts.columns) for key in (there[name], texts[name].to_numpy(str))]
    rank = np.empty(len(found), np.int64)
    rank[np.lexsort(keys)] = np.arange(len(found))
    labels = np.full(len(behind.labels), -1, np.int64)
    labels[inside] = rank[np.searchsorted(found, behind.labels[inside])]
    codes = [code_sensitive(behind.frame[name], policy.sensitive[name])[0] for name in policy.class_limited]
    order = np.lexsort((*codes, *behind.grid.T[::-1], labels))
    return labels, order[labels[order] >= 0]


@pytest.mark.parametrize("seed", range(4))
def test_the_order_is_that_of_plain_sorting(seed: int) -> None:
    policy = policy_of(t_closeness={"illness": 0.9, "pay": 0.9})
    evidence = evidence_of(policy, seed=seed)
    labels, own = slow_order(evidence, policy)
    found = sort_originals(evidence, policy)
    assert np.array_equal(found.labels, labels)
    assert np.array_equal(number_classes(evidence, policy).labels, labels)
    assert np.array_equal(found.labels[found.own], labels[own])
    assert np.array_equal(found.grid[found.own], found.grid[own])
    for name in ("illness", "pay"):
        assert found.frame[name].iloc[found.own].tolist() == found.frame[name].iloc[own].tolist()
    assert sorted(found.own) == sorted(number_classes(evidence, policy).own) == sorted(own)


@pytest.mark.parametrize("kind", ["str", "object", "category"])
@pytest.mark.parametrize("missing", [None, np.nan])
def test_ranks_are_those_of_whole_texts_where_values_are_missing(kind: str, missing: object) -> None:
    """Every interval begins with the same sign: the order is by all of the text, whatever the rows' order."""
    values = pd.Series(["[71, 73]", "[21, 54]", missing, "[21, 39]", "[71, 73]", "nan"], dtype=kind)
    ranks = value_ranks(values)
    assert ranks.tolist() == [2, 1, 3, 0, 2, 4]
    turned = np.array([3, 5, 1, 0, 2, 4])
    assert value_ranks(values.iloc[turned]).tolist() == ranks[turned].tolist()


def test_copies_have_classes_of_their_own() -> None:
    policy = policy_of(t_closeness={"illness": 0.9})
    behind = sort_originals(evidence_of(policy), policy)
    once, thrice = repeat_originals(behind, policy, 1), repeat_originals(behind, policy, 3)
    assert np.array_equal(once.labels, behind.labels)
    assert list(once.frame.columns) == list(thrice.frame.columns) == ["town", "age", "illness"]
    n, m, r = len(behind.labels), int(behind.labels.max()) + 1, len(behind.own)
    for copy in range(3):
        own = thrice.own[copy * r : (copy + 1) * r]
        assert np.array_equal(own - copy * n, behind.own)
        assert np.array_equal(thrice.labels[own] - copy * m, behind.labels[behind.own])
        assert np.array_equal(thrice.grid[own], behind.grid[behind.own])


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
@pytest.mark.parametrize(
    "gate",
    [
        {},
        {"t_closeness": {"illness": 0.35, "pay": 0.5}},
        {"l_diversity": {"illness": {"kind": "entropy", "l": 2}, "pay": {"kind": "distinct", "l": 3}}},
    ],
)
def test_the_simulated_mean_is_exactly_that_of_measuring_each_release(
    gate: dict[str, Any], confidence: float
) -> None:
    policy = policy_of(confidence=confidence, **gate)
    evidence = evidence_of(policy, 1_500)
    twin = expectation(evidence, policy, lambda e, p: linking_risk(e, p).risk, together=True)
    assert twin.draws
    assert mean_linking_risk(evidence, policy) == twin


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_few_draws_of_a_large_table_agree_with_draws_of_the_whole(confidence: float | None) -> None:
    policy = policy_of(confidence=confidence)
    evidence = evidence_of(policy, 30_000)
    whole = expectation(evidence, policy, lambda e, p: linking_risk(e, p).risk, together=True)
    found = mean_linking_risk(evidence, policy)
    assert (whole.draws, found.draws) == (8, 5)
    assert 0 < found.standard_error < 0.002
    assert abs(found.mean - whole.mean) <= 4 * np.hypot(found.standard_error, whole.standard_error)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["b", None, "a", "b", "nan"] * 3, dtype="str"),
        pd.Series([3, -1, 3, 7, -1] * 3),
        pd.Series([-0.0, 0.5, 0.0, np.nan, 0.5] * 3),
    ],
)
def test_a_packed_column_is_ranked_as_an_unpacked_one(values: pd.Series) -> None:
    table = PackedTable({"of": pack_column(values)}, len(values))
    assert column_ranks(table, "of").tolist() == value_ranks(values).tolist()
    assert column_ranks(pd.DataFrame({"of": values}), "of").tolist() == value_ranks(values).tolist()
