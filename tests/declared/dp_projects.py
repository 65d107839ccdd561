"""A project with a table of people and the policy of an ε-DP release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations
from tests.epsilon_dp.neighbours import dp_policy


@pytest.fixture
def dp_project(tmp_path: Path) -> tuple[EpsilonDpPolicy, Locations]:
    """A policy, and the folders of its project, with 600 people."""
    random = np.random.default_rng(0)
    people = {
        "person": [f"person {at}" for at in range(600)],
        "age": random.integers(20, 80, 600),
        "city": random.choice(["Cork", "Dublin", ""], 600),
    }
    pd.DataFrame(people).to_csv(tmp_path / "people.csv", index=False)
    return people_policy(), Locations.of(tmp_path, {})


def people_policy(**changes: Any) -> EpsilonDpPolicy:
    """Return the policy of the fixture, changed."""
    columns = {
        "age": {"bounds": [18, 90], "bins": 8, "otherwise": 18},
        "city": {"values": ["Cork", "Dublin", "unknown"], "otherwise": "unknown"},
    }
    said: dict[str, Any] = {"columns": columns, "histograms": {}, "gate": {"expected_error": 0.5}}
    if {"group_means", "column_means"} & {*changes}:
        said = {**said, "columns": {**columns, "age": {"bounds": [18, 90], "otherwise": 18}}}
        del said["histograms"]
    return dp_policy(**(said | changes))


@pytest.fixture
def changed() -> Callable[..., EpsilonDpPolicy]:
    """Make the policy of the project, changed."""
    return people_policy
