"""One million recoded records, for the stages after the recoding.

Belongs here: generated data and its policy. Does not belong here: timing.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.stages.private import Staged

MILLION: Final = 1_000_000


def million(classes: int) -> Staged:
    """Make the records, in classes of equal size.

    Args:
        classes: 50 to 200,000; every quasi-identifier is a function of the class.
    """
    rng = np.random.default_rng(0)
    labels = rng.permutation(MILLION) % classes
    names = pd.array([f"{zip_code:05d}" for zip_code in range(classes // 50 + 1)], dtype="str")
    births = pd.array([f"[{1950 + year}, {1951 + year})" for year in range(50)], dtype="str")
    frame = pd.DataFrame(
        {
            RECORD: rng.permutation(MILLION) + 2**40,
            CLASS: labels,
            "birth": births.take(labels % 50),
            "zip": names.take(labels // 50),
            "sex": pd.array(["Female", "Male"], dtype="str").take(labels // 50 % 2),
            "marital_status": pd.array(["*"], dtype="str").take(np.zeros(MILLION, np.int64)),
            "height": np.round(rng.normal(170, 9, MILLION), 1),
            "diagnosis": pd.array([f"diagnosis {i}" for i in range(20)], dtype="str").take(
                rng.integers(0, 20, MILLION)
            ),
        }
    )
    return Staged(frame, {})


def million_policy() -> Policy:
    """Build the policy of `million`: k = 5, ε = 2, c = 0.99; height perturbed, diagnosis sensitive."""
    generalized = {
        name: {"role": "generalize", "hierarchy": {"suppress": True}}
        for name in ("birth", "zip", "sex", "marital_status")
    }
    height = {"role": "perturb", "unit": "cm", "resolution": 0.1}
    return policy_from(
        {
            "name": "million",
            "source": {"path": "-"},
            "columns": {**generalized, "height": height, "diagnosis": {"role": "sensitive"}},
            "anonymize": {"k": 5},
            "perturb": {"epsilon": 2},
            "suppress": {"confidence": 0.99},
        }
    )
