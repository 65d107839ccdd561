"""Microaggregated releases from policy to gate: what the recoder returns passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.encode.codes import code_quasi_identifiers
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.measures import class_l_diversity, class_t_closeness, is_l_diverse, is_t_close
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.contracts.stages import broken_contract, k_anonymized_contract
from anon_pipeline.stages.private import Means

ENTROPY = {"kind": "entropy", "l": 2}
LIMITS = {"t_closeness": {"income": 0.2, "illness": 0.3}, "l_diversity": {"illness": ENTROPY}}


@pytest.mark.parametrize("recoder", ["merge", "kanon_first", "tclose_first"])
def test_what_the_recoder_returns_passes_the_gates_limits(
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    recoder: str,
    tmp_path: Any,
) -> None:
    columns = {"income": {"role": "sensitive", "distance": "ordered"}, "illness": {"role": "sensitive"}}
    columns["city"] = {"role": "generalize", "hierarchy": {"suppress": True}}
    policy = small_policy(
        columns=columns, anonymize={"k": 4, "recoder": recoder}, gate={"k": 4, **LIMITS}, suppress=None
    )
    frame = small_people(300)
    frame.loc[:9, "city"] = None
    run = pipeline.run(policy, frame, Means(tmp_path, b"0" * 32, system_entropy()))
    facts = run.suppressed.facts
    assert facts["k_anonymized"]["suppressed_by_recoding"] == 0
    assert 0 < facts["k_anonymized"]["sse"] < facts["k_anonymized"]["information_loss"]
    assert facts["suppressed"]["released"] == 300
    evidence = evidence_from(run.suppressed.frame, policy, originals=run.k_anonymized.frame)
    assert evidence.classes.k >= 4
    for name, t in LIMITS["t_closeness"].items():
        assert is_t_close(class_t_closeness(evidence, policy, name), t).all()
    limit = policy.gate.l_diversity["illness"]
    assert is_l_diverse(class_l_diversity(evidence, policy, "illness", limit), limit).all()


def test_dates_and_missing_numbers_are_released(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Any
) -> None:
    days = np.datetime64("1980-01-01") + np.random.default_rng(3).integers(0, 4000, 120)
    frame = small_people(120).drop(columns="city").assign(day=days.astype(str))
    frame.loc[:20, "age"] = None
    policy = small_policy(
        columns={"city": None, "day": {"role": "generalize", "hierarchy": {"dates": ["year"]}}},
        anonymize={"k": 3, "recoder": "vmdav", "gamma": 1.0},
        gate={"k": 3},
    )
    run = pipeline.run(policy, frame, Means(tmp_path, b"0" * 32, system_entropy()))
    released, hierarchies = run.k_anonymized.frame, code_quasi_identifiers(frame, policy).hierarchies
    schema = k_anonymized_contract(policy, hierarchies, None)
    assert broken_contract(released, schema) == []
    assert broken_contract(released.assign(day="1890-01-01"), schema)
    assert released["day"].str.fullmatch(r"19\d\d-\d\d-\d\d").all()
    assert 3 <= released["age"].isna().sum() < 120
    assert released.groupby(["age", "day"], dropna=False).size().min() >= 3


def test_a_limit_that_cannot_be_kept_is_infeasible(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Any
) -> None:
    policy = small_policy(
        anonymize={"k": 4, "recoder": "mdav"},
        gate={"k": 4, "l_diversity": {"illness": {"l": 4}}},
    )
    with pytest.raises(InfeasibleError, match="take the recoder merge"):
        pipeline.run(policy, small_people(200), Means(tmp_path, b"0" * 32, system_entropy()))
