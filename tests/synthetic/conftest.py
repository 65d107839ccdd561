"""Policies of synthetic releases, and tables whose columns depend on each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anon_pipeline.policy.synthetic import SyntheticPolicy

COLUMNS = {
    "age": {"bounds": [0, 99], "otherwise": 0},
    "city": {"values": ["Cork", "Dublin", "Galway", "rare"], "otherwise": "rare"},
    "pay": {"bounds": [0, 1000], "otherwise": 0},
}


@pytest.fixture
def synthetic() -> Callable[..., SyntheticPolicy]:
    """Make a policy of a synthetic release."""

    def make(**changes: Any) -> SyntheticPolicy:
        said: dict[str, Any] = {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": COLUMNS,
            "method": "copula",
        }
        return SyntheticPolicy.model_validate(said | changes)

    return make


@pytest.fixture
def people() -> Callable[..., NDArray[np.int64]]:
    """Make codes of records: pay rises with age, and is higher in Dublin; three live in a rare place."""

    def make(n: int = 3_000, seed: int = 0) -> NDArray[np.int64]:
        random = np.random.default_rng(seed)
        age = np.clip(random.normal(45, 12, n).round(), 0, 99)
        city = random.choice(3, n, p=[0.5, 0.3, 0.2])
        city[:3] = 3
        pay = np.clip(5 * age + 200 * (city == 1) + random.normal(100, 40, n), 0, 1000).round()
        return np.stack([age, city, pay], axis=1).astype(np.int64)

    return make
