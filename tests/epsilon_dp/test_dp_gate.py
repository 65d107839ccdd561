"""The gate of ε-DP releases judges by policy and released file alone."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from anon_pipeline.base.errors import GateRefused
from anon_pipeline.epsilon_dp.dp_gate import (
    MEANINGS,
    broken_values,
    judge_errors,
    judge_release,
    refuse_errors,
)
from anon_pipeline.epsilon_dp.expected_errors import expected_errors
from anon_pipeline.gate import Status
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy

Changed = Callable[..., EpsilonDpPolicy]


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame({"age": [18, 90, 40], "city": ["Cork", "unknown", "Dublin"]})


def test_every_limit_is_judged(changed: Changed, frame: pd.DataFrame) -> None:
    report = judge_release(changed(gate={"expected_error": 1}), frame, 3)
    assert report.passed and [one.limit for one in report.verdicts] == [*MEANINGS]
    seeded = judge_release(changed(gate={"expected_error": 1}), frame, 3, seeded=True)
    assert [one.limit for one in seeded.unkept] == ["noise"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame[["city", "age"]], "columns must be those of the policy"),
        (lambda frame: frame[:2], "there must be 3 records, got 2"),
        (lambda frame: frame.assign(age=[17, 91, 40]), "age must have declared values only, got 2"),
        (lambda frame: frame.assign(age=[18.5, 90.0, 40.0]), "age must have declared values only, got 3"),
        (lambda frame: frame.assign(age=["18", "90", "40"]), "age must have declared values only, got 3"),
        (lambda frame: frame.assign(city=["Cork", None, "x"]), "city must have declared values only, got 2"),
    ],
)
def test_a_table_with_anything_else_is_refused(
    changed: Changed,
    frame: pd.DataFrame,
    change: Callable[[pd.DataFrame], pd.DataFrame],
    said: str,
) -> None:
    assert said in str(broken_values(changed(), change(frame), 3))
    assert broken_values(changed(), frame, 3) is None


def test_decimals_must_be_on_the_grid(changed: Changed) -> None:
    policy = changed(columns={"age": {"bounds": [0, 1], "resolution": 0.1, "otherwise": 0}})
    assert broken_values(policy, pd.DataFrame({"age": [0.0, 0.3, 0.7, 1.0]}), 4) is None
    assert "got 3" in str(broken_values(policy, pd.DataFrame({"age": [0.05, None, 1.1, 1.0]}), 4))


def test_the_worst_error_is_judged(changed: Changed) -> None:
    policy = changed(histograms={"tables": [["age"], ["city"]]}, gate={"expected_error": 0.1})
    errors = expected_errors(policy, 100)
    verdict = judge_errors(policy, 100)
    assert verdict.status is Status.REFUSED and verdict.value == max(errors.values()) == errors["age"]
    with pytest.raises(GateRefused, match=r"at most 0.1, got .* of age\. More records") as refused:
        refuse_errors(policy, 100)
    assert refused.value.report.unkept == (verdict,)
    refuse_errors(policy, 100_000)
