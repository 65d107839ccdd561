"""Released tables have declared columns and values; draws are from the operating system."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.declared.declared_values import broken_values, judge_draw, judge_values
from anon_pipeline.declared.domain_codes import values_of
from anon_pipeline.gate import Status
from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from tests.epsilon_dp.neighbours import dp_policy

Changed = Callable[..., EpsilonDpPolicy]


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame({"age": [18, 90, 40], "city": ["Cork", "unknown", "Dublin"]})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame[["city", "age"]], "the columns must be age, city, in this order"),
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


def test_verdicts(changed: Changed, frame: pd.DataFrame) -> None:
    assert judge_values(changed(), frame, 3).status is Status.PASSED
    assert judge_values(changed(), frame, 4).status is Status.REFUSED
    assert judge_draw(seeded=False, from_files=False).status is Status.PASSED
    assert judge_draw(seeded=True, from_files=False).status is Status.REFUSED
    assert judge_draw(seeded=False, from_files=True).status is Status.UNMEASURED


@pytest.mark.parametrize(
    ("low", "high", "resolution"),
    [
        (1_700_000_000, 1_700_001_000, 0.001),
        (1_700_000_000, 1_700_000_010, 0.01),
        (0, 10**9, 0.1),
        (-5, 5, 1e-6),
        (450_359_962_737_000, 450_359_962_737_049.6, 0.1),
    ],
)
def test_each_number_of_a_fine_grid_is_declared(low: float, high: float, resolution: float) -> None:
    column = DeclaredColumn(bounds=(low, high), resolution=resolution, otherwise=str(low))
    policy = dp_policy(columns={"x": column}, histograms=None, column_means={"k": 2})
    codes = np.unique(np.linspace(0, column.steps, 3_001).astype(np.int64))
    frame = pd.DataFrame({"x": values_of(column, codes)})
    assert broken_values(policy, frame, len(codes)) is None
    assert "got 1 others" in str(broken_values(policy, frame[:1] + resolution / 3, 1))
