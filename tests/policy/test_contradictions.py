"""Policies that contradict themselves load, and make nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel

from anon_pipeline import Policy, anonymize
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.policy.contradictions import LARGE_EPSILON, refuse_contradictions
from anon_pipeline.policy.marks import BeforeMaking, marked_values

Small = Callable[..., Policy]
HASH: dict[str, Any] = {"columns": {"person": {"action": "hash"}}, "deidentify": {"key_env": "K"}}


def test_a_gate_that_the_recoding_cannot_reach_is_refused(
    small_policy: Small, small_people: Callable[..., pd.DataFrame]
) -> None:
    with pytest.raises(
        PolicyError, match=r"gate.k: must be at most anonymize.k.* got 4 and 3. Set anonymize.k"
    ):
        anonymize(small_policy(gate={"k": 4}), small_people())
    refuse_contradictions(small_policy(gate={"k": 3}, anonymize={"k": 4}))


def test_more_originals_in_an_interval_than_suppression_leaves_are_refused(small_policy: Small) -> None:
    """Suppression keeps anonymize.k of them; the gate refused afterwards, and ε was spent."""
    with pytest.raises(PolicyError, match=r"gate.confidence_k: must be at most anonymize.k.* got 20 and 5"):
        refuse_contradictions(small_policy(gate={"k": 5, "confidence_k": 20}, anonymize={"k": 5}))
    refuse_contradictions(small_policy(gate={"k": 3, "confidence_k": 5}, anonymize={"k": 5}))


def test_a_large_epsilon_needs_a_limit_on_linking(small_policy: Small) -> None:
    large = {"perturb": {"epsilon": LARGE_EPSILON + 0.5}}
    with pytest.raises(
        PolicyError, match=r"perturb.epsilon: above 10 needs a limit on linking .* gate.linking_risk"
    ):
        refuse_contradictions(small_policy(**large))
    refuse_contradictions(small_policy(**large, gate={"linking_risk": 0.5}))
    refuse_contradictions(small_policy(**large, gate={"attacks": {"assignment_risk": 0.5}}))
    refuse_contradictions(small_policy(perturb={"epsilon": LARGE_EPSILON}))


def test_why_ten() -> None:
    """Of k values as far apart as can be, ε = 10 lets over two fifths be linked, four times a guess.

    The nearest value is the own one if the noise is less than half of the distance to the next: a Laplace
    scale of range/ε against a distance of range/(k − 1). The two ends are linked a little more often.
    """
    k, epsilon = 10, LARGE_EPSILON
    inner = 1 - math.exp(-epsilon / (2 * (k - 1)))
    ends = (inner + 1) / 2
    closed = ((k - 2) * inner + 2 * ends) / k
    values = np.arange(k, dtype=np.float64)
    noisy = values + np.random.default_rng(0).laplace(0, (k - 1) / epsilon, (200_000, k))
    nearest = np.clip(np.rint(noisy), 0, k - 1)
    assert float((nearest == values).mean()) == pytest.approx(closed, abs=0.003)
    assert 4 / k < closed < 5 / k


def test_a_bound_that_cannot_be_broken_is_no_limit_on_linking(small_policy: Callable[..., Policy]) -> None:
    for bound, refused in ((1.0, True), (0.5, False)):
        policy = small_policy(perturb={"epsilon": 20}, gate={"linking_risk": bound})
        if refused:
            with pytest.raises(PolicyError, match="a limit on linking below 1"):
                refuse_contradictions(policy)
        else:
            refuse_contradictions(policy)


def test_all_that_is_wrong_is_listed_by_the_key_that_says_so(small_policy: Small) -> None:
    policy = small_policy(perturb={"epsilon": 20}, gate={"k": 9, "safe_harbor": True}, **HASH)
    with pytest.raises(PolicyError) as caught:
        refuse_contradictions(policy)
    keys = [line.partition(":")[0] for line in caught.value.problems]
    assert keys == ["perturb.epsilon", "gate.k", *["gate.safe_harbor"] * (len(keys) - 2)]
    assert len(keys) > 2
    assert all(line.endswith(". Nothing was made, and no ε was spent.") for line in caught.value.problems)


def test_every_key_that_is_asked_names_code_that_is_there(small_policy: Small) -> None:
    policy = small_policy()
    sections = {name: value for name in Policy.model_fields if (value := getattr(policy, name))}
    marked = {
        key: mark.broken
        for name, section in sections.items()
        if isinstance(section, BaseModel)
        for key, _, mark in marked_values(name, section, BeforeMaking)
    }
    assert [*marked] == [
        *("perturb.epsilon", "gate.k", "gate.confidence_k"),
        *("gate.safe_harbor", "gate.attacks.known_columns"),
    ]
    assert all(callable(import_entry(place)) for place in marked.values())
