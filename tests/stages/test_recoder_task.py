"""From the policy to the recoder's question."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.encode.codes import PERSON, accept, code_quasi_identifiers
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.recoder_task import recoding_task, refuse_too_incomplete


def test_weights_target_and_limits_reach_the_recoder(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> None:
    policy = small_policy(anonymize={"loss": "classification", "target": "illness", "most_nodes": 99})
    frame = accept(small_people(30), policy)
    coded = code_quasi_identifiers(frame, policy)
    gone = np.zeros(30, np.bool_)
    gone[:2] = True
    task = recoding_task(policy, frame, coded, gone=gone)
    assert (task.loss, task.most_nodes, task.gone, task.weights) == ("classification", 99, 2, ())
    labels = frame["illness"].tolist()
    assert task.by_record is not None
    assert task.by_record.target is not None
    assert [sorted(set(labels))[code] for code in task.by_record.target] == labels[2:]
    first = next(iter(policy.generalized))
    weighed = small_policy(anonymize={"weights": {first: 2.5}})
    task = recoding_task(weighed, frame, coded, gone=gone)
    assert task.weights == (2.5, *[1.0] * (len(policy.generalized) - 1))
    assert task.by_record is not None
    assert task.by_record.target is None


def test_a_limit_that_is_a_share_of_people_says_so(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> None:
    """30 people with two records each: 5 % of them are one record, and nine records need 30 %."""
    frame = pd.concat([small_people(30)] * 2, ignore_index=True).assign(**{PERSON: [*range(30), *range(30)]})
    counted = {"person": "person", "rows_per_person": 2, "deidentify": {"key_env": "KEY"}}
    policy = small_policy(anonymize={"suppression_limit": 0.05}, **counted)
    with pytest.raises(InfeasibleError, match="allows, as a share of 30 people") as raised:
        refuse_too_incomplete(policy, frame, np.arange(60) < 9)
    assert raised.value.exact.startswith("9 of 60 records lack a value: the limit must be at least 0.3.")
    least = small_policy(anonymize={"suppression_limit": 0.3}, **counted)
    refuse_too_incomplete(least, frame, np.arange(60) < 9)
