"""What ε-DP releases do, as releases with declared columns."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.declared.parts import Parts
from anon_pipeline.epsilon_dp.dp_gate import MEANINGS, judge_dp, refuse_dp
from anon_pipeline.epsilon_dp.dp_guarantee import dp_guarantee
from anon_pipeline.epsilon_dp.expected_errors import expected_errors
from anon_pipeline.epsilon_dp.methods import noisy_table
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy

_METHODS = {
    "histograms": "noisy histograms, and records that are made up to have them",
    "group_means": "noisy means of groups of records (insensitive microaggregation)",
    "column_means": "noisy means of each column by itself (individual ranking)",
}


def _makes(policy: EpsilonDpPolicy, codes: NDArray[np.int64], key: NoiseKey) -> list[pd.DataFrame]:
    return [noisy_table(policy, codes, key)]


def _epsilon(policy: EpsilonDpPolicy) -> Fraction:
    return exact_fraction(policy.epsilon)


def _losses(policy: EpsilonDpPolicy, records: int) -> list[str]:
    errors = expected_errors(policy, records).items()
    return [f"expected error of {name}: {error:.2%}" for name, error in errors]


def _report_words(policy: EpsilonDpPolicy, records: int) -> dict[str, Any]:
    return {
        "headline": f"Differentially private from end to end, ε = {policy.epsilon:g}.",
        "subline": "Nothing that is published of this release comes from the data without noise.",
        "method": _METHODS[policy.method],
        "losses_title": "Expected errors",
        "judged_by": "The gate judged this release by its policy and by the file alone, and saw nothing of "
        "the data.",
        "not_checked": "What no file can show is how the noise was drawn.",
        "errors": expected_errors(policy, records),
    }


EPSILON_DP_PARTS = Parts(
    makes=_makes,
    refuses=refuse_dp,
    judges=judge_dp,
    guarantee=dp_guarantee,
    epsilon=_epsilon,
    losses=_losses,
    meanings=MEANINGS,
    section=Path(__file__).parent / "expected_errors.html.j2",
    shown=_report_words,
)
