"""Policies of all kinds about the same generated people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from anon_pipeline.kinds.plain_releases import AnyPolicy
from anon_pipeline.policy import policy_from
from anon_pipeline.policy.bucketized_release import BucketizedPolicy
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.synthetic import SyntheticPolicy

SOURCE = {"path": "people.csv"}
WARDS = ["a", "b", "c", "d"]
DECLARED: dict[str, Any] = {
    "age": {"bounds": [20, 79], "otherwise": 50},
    "sex": {"values": ["f", "m"], "otherwise": "f"},
    "ward": {"values": WARDS, "otherwise": "a"},
}


def people(many: int = 400, *, seed: int = 0) -> pd.DataFrame:
    """Return people whose ward goes with their age."""
    random = np.random.default_rng(seed)
    age = random.integers(20, 80, many)
    ward = np.array(WARDS)[(age - 20) // 15]
    mixed = np.where(random.random(many) < 0.2, random.choice(WARDS, many), ward)
    return pd.DataFrame(
        {"id": np.arange(many), "age": age, "sex": random.choice(["f", "m"], many), "ward": mixed}
    )


def class_policy(k: int = 5, **changes: Any) -> AnyPolicy:
    """Return a policy of classes."""
    return policy_from(
        {
            "name": "classes",
            "source": SOURCE,
            "columns": {
                "id": {"role": "identifier", "action": "drop"},
                "age": {"role": "generalize", "hierarchy": {"intervals": [5, 10, 20]}},
                "sex": {"role": "generalize", "hierarchy": {"suppress": True}},
                "ward": {"role": "sensitive"},
            },
            "anonymize": {"k": k, "suppression_limit": 0.2},
            **changes,
        }
    )


def policies() -> dict[str, AnyPolicy]:
    """Return a policy of each kind, and of each method of synthetic records."""
    named = {"name": "people", "source": SOURCE, "columns": DECLARED}
    binned = {**DECLARED, "age": {**DECLARED["age"], "bins": 6}}
    return {
        "classes": class_policy(),
        "copula": SyntheticPolicy.model_validate({**named, "method": "copula", "sensitive": ["ward"]}),
        "dp": EpsilonDpPolicy.model_validate(
            {
                **named,
                "columns": binned,
                "one_record_per_person": True,
                "epsilon": 2,
                "histograms": {},
                "gate": {"expected_error": 1},
            }
        ),
        "buckets": BucketizedPolicy.model_validate(
            {**named, "slices": [["age", "sex"], ["ward"]], "sensitive": "ward", "l": 2}
        ),
    }
