"""Synthetic releases: ``python -m benchmarks.synthetic``. Exit code 1 if a time is missed.

Belongs here: time, what the copies keep of Adult, and what attackers learn. Does not belong here: whether the
measures are right (`tests/synthetic`).
"""

from __future__ import annotations

import sys
from statistics import median
from time import perf_counter
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.declared.domain_codes import domain_codes
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.perturb.keys import fresh_key
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.sources.patients import patients
from anon_pipeline.synthetic.attackers import learned_by_attackers
from anon_pipeline.synthetic.copies import synthetic_tables
from benchmarks.adult import adult_census, adult_folder
from benchmarks.epsilon_dp import COLUMNS, lost_shares, moved_correlations
from benchmarks.speed import machine

_METHODS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("copula", {"method": "copula"}),
    ("trees", {"method": "trees"}),
)
_PATIENTS: Final[dict[str, Any]] = {
    "sex": {"values": ["Female", "Male"], "otherwise": "Female"},
    "height_cm": {"bounds": [130, 210], "otherwise": 165},
    "weight_kg": {"bounds": [20, 220], "otherwise": 80},
    "systolic": {"bounds": [80, 200], "otherwise": 120},
    "diastolic": {"bounds": [40, 110], "otherwise": 80},
    "charges": {"bounds": [0, 200000], "resolution": 100, "otherwise": 0},
}
_RECORDS: Final = 100_000
_TARGET: Final = 10.0
_REPEATS: Final = 3


def policy_of(columns: dict[str, Any], keys: dict[str, Any], **others: Any) -> SyntheticPolicy:
    """Return the policy of one case."""
    said = {"name": "x", "source": {"path": "x.csv"}, "columns": columns, **keys, **others}
    return SyntheticPolicy.model_validate(said)


def main() -> int:
    """Print both tables; return 1 if a time is missed."""
    print(machine())
    table = adult_census(adult_folder())
    print(f"Adult, {len(table):,} records, {len(COLUMNS)} columns, 5 copies\n")
    print("| method | lost shares | moved correlations | copied_records | membership | attribute_gain |")
    print("|---|--:|--:|--:|--:|--:|")
    for title, keys in _METHODS:
        print(_adult_row(title, policy_of(COLUMNS, keys, sensitive=["hours-per-week"]), table))
    print(f"\nGenerated patients, {_RECORDS:,} records, {len(_PATIENTS)} columns, 5 copies\n")
    print("| method | copies | attackers |\n|---|--:|--:|")
    people = patients(_RECORDS, seed=0)
    missed = False
    for title, keys in _METHODS:
        policy = policy_of(_PATIENTS, keys, sensitive=["charges"])
        codes = domain_codes(policy, people)
        drawn, attacked = _seconds(policy, codes)
        missed |= drawn > _TARGET
        print(f"| {title} | {drawn:.1f} s | {attacked:.1f} s |")
    return int(missed)


def _adult_row(title: str, policy: SyntheticPolicy, table: pd.DataFrame) -> str:
    codes = domain_codes(policy, table)
    copies = synthetic_tables(policy, codes, fresh_key(system_entropy()))
    shares, moved = (
        float(np.median([measure(table, copy) for copy in copies]))
        for measure in (lost_shares, moved_correlations)
    )
    learned = learned_by_attackers(policy, codes)
    (gain,) = learned.gains.values()
    return (
        f"| `{title}` | {shares:.1%} | {moved:.3f} | {learned.copied:+.1%} | {learned.membership:.3f} "
        f"| {gain:+.1%} |"
    )


def _seconds(policy: SyntheticPolicy, codes: NDArray[np.int64]) -> tuple[float, float]:
    """Return the median times of drawing all copies, and of the simulated attackers."""
    times: list[tuple[float, float]] = []
    for _ in range(_REPEATS):
        begun = perf_counter()
        synthetic_tables(policy, codes, fresh_key(system_entropy()))
        drawn = perf_counter()
        learned_by_attackers(policy, codes)
        times.append((drawn - begun, perf_counter() - drawn))
    return median(one for one, _ in times), median(other for _, other in times)


if __name__ == "__main__":
    sys.exit(main())
