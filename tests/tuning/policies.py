"""A policy to be tuned, and its people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from anon_pipeline.policy import Policy, policy_from


def people(n: int = 600, *, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "height": np.round(rng.normal(170, 9, n), 0),
            "weight": np.round(rng.normal(75, 12, n), 0),
            "illness": rng.choice(["flu", "cold", "none", "cough"], n),
        }
    )


def policy(*, columns: dict[str, Any] | None = None, **sections: Any) -> Policy:
    attributes: dict[str, Any] = {
        "name": "people",
        "source": {"path": "people.csv"},
        "columns": {
            "age": {"role": "generalize", "hierarchy": {"intervals": [5, 10, 20, 40]}},
            "height": {"role": "perturb", "resolution": 1},
            "weight": {"role": "insensitive"},
            "illness": {"role": "sensitive", "distance": "equal"},
            **(columns or {}),
        },
        "anonymize": {"k": 20, "suppression_limit": 0.1},
        "perturb": {"epsilon": 2},
        "suppress": {"confidence": 0.8},
    }
    return policy_from(attributes | sections)
