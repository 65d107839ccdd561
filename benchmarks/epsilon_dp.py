"""ε-DP releases of Adult: ``python -m benchmarks.epsilon_dp``. Exit code 1 if a time is missed.

Belongs here: time, and how far released columns and their correlations are from those of the data. Does not
belong here: whether the guarantee holds (`tests/epsilon_dp`).
"""

from __future__ import annotations

import sys
from statistics import median
from time import perf_counter
from typing import Any, Final

import numpy as np
import pandas as pd

from anon_pipeline.declared.domain_codes import domain_codes
from anon_pipeline.epsilon_dp.expected_errors import expected_errors
from anon_pipeline.epsilon_dp.methods import noisy_table
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.perturb.keys import fresh_key
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from benchmarks.adult import adult_census, adult_folder
from benchmarks.speed import machine

COLUMNS: Final[dict[str, Any]] = {
    "age": {"bounds": [17, 90], "otherwise": 17},
    "education-num": {"bounds": [1, 16], "otherwise": 1},
    "hours-per-week": {"bounds": [1, 99], "otherwise": 1},
    "sex": {"values": ["Female", "Male"], "otherwise": "Female"},
}
BINNED: Final = COLUMNS | {
    "age": {**COLUMNS["age"], "bins": 15},
    "hours-per-week": {**COLUMNS["hours-per-week"], "bins": 11},
}
PAIRS: Final = [["education-num", "age"], ["education-num", "hours-per-week"], ["education-num", "sex"]]
CASES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("histograms, one table", {"histograms": {}, "columns": BINNED}),
    ("histograms, pairs", {"histograms": {"tables": PAIRS}, "columns": BINNED}),
    ("group_means, k = 1,000", {"group_means": {"k": 1_000, "orders": "corners"}}),
    ("group_means, k = 5,000", {"group_means": {"k": 5_000, "orders": "corners"}}),
    ("column_means, k = 50", {"column_means": {"k": 50}}),
    ("column_means, k = 500", {"column_means": {"k": 500}}),
)
EPSILONS: Final = (0.1, 1.0, 10.0)
_TARGET: Final = 1.0
_REPEATS: Final = 5


def policy_of(keys: dict[str, Any], epsilon: float) -> EpsilonDpPolicy:
    """Return the policy of one case."""
    return EpsilonDpPolicy.model_validate(
        {
            "name": "adult",
            "source": {"path": "adult.csv"},
            "one_record_per_person": True,
            "epsilon": epsilon,
            "columns": COLUMNS,
            "gate": {"expected_error": 1},
            **keys,
        }
    )


def lost_shares(table: pd.DataFrame, released: pd.DataFrame) -> float:
    """Return the mean total variation of the columns: the share of the records with another value."""
    found = []
    for name in COLUMNS:
        counts = [frame[name].value_counts() for frame in (table, released)]
        found.append(counts[0].sub(counts[1], fill_value=0).abs().sum() / 2 / len(table))
    return float(np.mean(found))


def moved_correlations(table: pd.DataFrame, released: pd.DataFrame) -> float:
    """Return the mean absolute change of Pearson's r, over all pairs of columns; a constant one has r = 0."""
    found = []
    for frame in (table, released):
        numbers = frame.assign(sex=frame["sex"].eq("Male").astype(int))[list(COLUMNS)].astype(float)
        found.append(numbers.corr().fillna(0).to_numpy()[np.triu_indices(len(COLUMNS), 1)])
    return float(np.abs(found[0] - found[1]).mean())


def main() -> int:
    """Print the table; return 1 if a time is missed."""
    table = adult_census(adult_folder())
    print(f"{machine()}; {len(table):,} records, {len(COLUMNS)} columns; medians of {_REPEATS}\n")
    print("| method | ε | expected error | lost shares | moved correlations | time |")
    print("|---|--:|--:|--:|--:|--:|")
    missed = False
    for title, keys in CASES:
        for epsilon in EPSILONS:
            policy, times, shares, moved = policy_of(keys, epsilon), [], [], []
            codes, entropy = domain_codes(policy, table), system_entropy()
            noisy_table(policy, codes, fresh_key(entropy))
            for _ in range(_REPEATS):
                begun = perf_counter()
                codes = domain_codes(policy, table)
                released = noisy_table(policy, codes, fresh_key(entropy))
                times.append(perf_counter() - begun)
                shares.append(lost_shares(table, released))
                moved.append(moved_correlations(table, released))
            worst = max(expected_errors(policy, len(table)).values())
            missed |= median(times) > _TARGET
            print(
                f"| {title} | {epsilon:g} | {worst:.1%} | {median(shares):.1%} | {median(moved):.2f} "
                f"| {median(times):.2f} s |"
            )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
