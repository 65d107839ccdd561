"""Policies of bucketized releases, and people whose illness depends on their age and city."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anon_pipeline.policy.bucketized_release import BucketizedPolicy

COLUMNS = {
    "age": {"bounds": [0, 99], "otherwise": 0},
    "city": {"values": ["Cork", "Dublin", "Galway"], "otherwise": "Cork"},
    "illness": {"values": ["asthma", "flu", "gout", "none", "stroke"], "otherwise": "none"},
}


THREE_SLICES = [["age"], ["city"], ["illness"]]


@pytest.fixture
def bucketized() -> Callable[..., BucketizedPolicy]:
    """Make a policy of a bucketized release."""

    def make(**changes: Any) -> BucketizedPolicy:
        said: dict[str, Any] = {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": COLUMNS,
            "slices": [["age", "city"], ["illness"]],
            "sensitive": "illness",
            "l": 3,
            "k": 4,
            "gate": {"guessed": 1},
        }
        return BucketizedPolicy.model_validate(said | changes)

    return make


@pytest.fixture
def people() -> Callable[..., NDArray[np.int64]]:
    """Make codes of people; the illness says much of the age where ``tied`` is large."""

    def make(n: int = 1_000, tied: float = 0.0, seed: int = 0) -> NDArray[np.int64]:
        random = np.random.default_rng(seed)
        illness = random.choice(5, n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
        age = np.clip(random.normal(50, 15, n) * (1 - tied) + tied * 20 * illness, 0, 99).round()
        return np.stack([age, random.integers(0, 3, n), illness], axis=1).astype(np.int64)

    return make
