"""The gate of ε-DP releases judges by policy and released file alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import GateRefused
from anon_pipeline.declared.parts import Release
from anon_pipeline.epsilon_dp.dp_gate import (
    MEANINGS,
    judge_dp,
    judge_errors,
    refuse_dp,
)
from anon_pipeline.epsilon_dp.dp_warnings import CELLS, REPEATED
from anon_pipeline.epsilon_dp.expected_errors import expected_errors
from anon_pipeline.gate import Status
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy

Changed = Callable[..., EpsilonDpPolicy]


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame({"age": [18, 90, 40], "city": ["Cork", "unknown", "Dublin"]})


def test_every_limit_is_judged(changed: Changed, frame: pd.DataFrame) -> None:
    policy, codes = changed(gate={"expected_error": 1}), np.zeros((3, 2), np.int64)
    verdicts = judge_dp(policy, Release([frame], 3, codes))
    assert [(one.limit, one.status) for one in verdicts] == [
        (name, Status.WARNED if name == CELLS else Status.PASSED) for name in MEANINGS
    ]
    seeded = judge_dp(policy, Release([frame], 3, codes, seeded=True))
    assert [one.limit for one in seeded if one.status is Status.REFUSED] == ["draw"]
    alone = judge_dp(policy, Release([frame], 3))
    assert [one.limit for one in alone if one.status is Status.UNMEASURED] == ["draw", REPEATED]


def test_the_worst_error_is_judged(changed: Changed) -> None:
    policy = changed(histograms={"tables": [["age"], ["city"]]}, gate={"expected_error": 0.1})
    errors = expected_errors(policy, 100)
    verdict = judge_errors(policy, 100)
    assert verdict.status is Status.REFUSED and verdict.value == max(errors.values()) == errors["age"]
    with pytest.raises(GateRefused, match=r"got .* of age\. These make it smaller: more records") as refused:
        refuse_dp(policy, 100)
    assert refused.value.report.unkept == (verdict,)
    refuse_dp(policy, 100_000)
