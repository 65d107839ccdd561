"""Releases of all kinds side by side: ``python -m benchmarks.kinds``.

Belongs here: Adult and generated patients, released by a policy of each kind, with the same measures and
attackers. Does not belong here: variants of one policy (`benchmarks.methods`).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import pandas as pd

from anon_pipeline.kinds.compare_kinds import compare_kinds
from anon_pipeline.kinds.kind_rows import kind_rows, kinds_map
from anon_pipeline.kinds.plain_releases import AnyPolicy
from anon_pipeline.policy import policy_from
from anon_pipeline.policy.bucketized_release import BucketizedPolicy
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.sources.patients import patients
from benchmarks.adult import adult_census, adult_folder
from benchmarks.speed import machine

_SOURCE: Final = {"path": "table.csv"}
_SHOWN: Final = (
    *("policy", "records", "risk", "copied", "membership", "gain", "loss", "columns", "correlations"),
    *("propensity", "regressions", "seconds", "gate"),
)
_RACES: Final = ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"]
ADULT: Final[dict[str, Any]] = {
    "age": {"bounds": [17, 90], "otherwise": 17},
    "education-num": {"bounds": [1, 16], "otherwise": 1},
    "sex": {"values": ["Female", "Male"], "otherwise": "Female"},
    "race": {"values": _RACES, "otherwise": "Other"},
    "hours-per-week": {"bounds": [1, 99], "otherwise": 1},
}
_ADULT_LEVELS: Final[dict[str, Any]] = {
    "age": {"intervals": [5, 10, 20, 40]},
    "hours-per-week": {"intervals": [5, 10, 20, 40]},
    "sex": {"suppress": True},
    "race": {"suppress": True},
}
PATIENTS: Final[dict[str, Any]] = {
    "sex": {"values": ["Female", "Male"], "otherwise": "Female"},
    "height_cm": {"bounds": [130, 210], "otherwise": 165},
    "weight_kg": {"bounds": [20, 220], "otherwise": 80},
    "systolic": {"bounds": [80, 200], "otherwise": 120},
    "charges": {"bounds": [0, 200_000], "resolution": 100, "otherwise": 0},
}
_PATIENT_LEVELS: Final[dict[str, Any]] = {
    "sex": {"suppress": True},
    "height_cm": {"intervals": [5, 10, 20, 40]},
    "weight_kg": {"intervals": [5, 10, 20, 40, 80]},
    "charges": {"intervals": [1000, 5000, 20000, 100000]},
}


def policies_of(columns: dict[str, Any], levels: dict[str, Any], secret: str) -> dict[str, AnyPolicy]:
    """Return a policy of each kind about the same columns.

    Args:
        columns: as declared releases declare them; ``secret`` is one of them.
        levels: hierarchies of the others.
    """
    named = {"name": "x", "source": _SOURCE, "columns": columns}
    numbers = [name for name, column in columns.items() if "bounds" in column]
    binned = {name: {**one, **({"bins": 12} if name in numbers else {})} for name, one in columns.items()}
    pairs = [[secret, name] for name in columns if name != secret]
    found: dict[str, AnyPolicy] = {
        f"classes, {recoder}, k = {k}": _classes(levels, secret, recoder, k)
        for recoder in ("optimal", "mondrian", "local")
        for k in (5, 50)
    }
    for mechanism, amount in (("class_swapping", None), ("data_shuffling", None), ("rank_swapping", 0.1)):
        found[f"masking, {mechanism}"] = _masked(levels, secret, mechanism, amount)
    for method in ("copula", "trees"):
        made = {**named, "method": method, "copies": 1, "sensitive": [secret]}
        found[f"synthetic, {method}"] = SyntheticPolicy.model_validate(made)
    dp = {**named, "one_record_per_person": True, "gate": {"expected_error": 1}}
    for epsilon in (0.1, 1, 10):
        made = {**dp, "columns": binned, "epsilon": epsilon, "histograms": {"tables": pairs}}
        found[f"ε-DP, ε = {epsilon:g}, histograms"] = EpsilonDpPolicy.model_validate(made)
    for method in ("column_means", "group_means"):
        found[f"ε-DP, ε = 1, {method}"] = EpsilonDpPolicy.model_validate(
            {**dp, "epsilon": 1, method: {"k": 500}}
        )
    others = [name for name in columns if name != secret]
    low, high = columns[secret]["bounds"]
    few = columns if high - low < 20 else {**columns, secret: binned[secret]}
    buckets = {**named, "columns": few, "sensitive": secret}
    for l in (2, 3):  # noqa: E741 - the name of the measure
        made = {**buckets, "slices": [others, [secret]], "l": l}
        found[f"buckets, l = {l}"] = BucketizedPolicy.model_validate(made)
    sliced = {**buckets, "slices": [others[:2], others[2:], [secret]], "l": 3}
    found["three slices, l = 3"] = BucketizedPolicy.model_validate(sliced)
    return found


def _classes(levels: dict[str, Any], secret: str, recoder: str, k: int) -> AnyPolicy:
    columns = {name: {"role": "generalize", "hierarchy": one} for name, one in levels.items()}
    return policy_from(
        {
            "name": "x",
            "source": _SOURCE,
            "columns": {**columns, secret: {"role": "sensitive"}},
            "anonymize": {"k": k, "recoder": recoder, "suppression_limit": 0.05},
        }
    )


def _masked(levels: dict[str, Any], secret: str, mechanism: str, amount: float | None) -> AnyPolicy:
    """Return a policy that changes all numbers as a whole, within classes of the other columns."""
    columns = {
        name: {"role": "perturb", "resolution": 1, "mechanism": mechanism, "amount": amount}
        if "intervals" in one
        else {"role": "generalize", "hierarchy": one}
        for name, one in levels.items()
    }
    return policy_from(
        {
            "name": "x",
            "source": _SOURCE,
            "columns": {**columns, secret: {"role": "sensitive"}},
            "anonymize": {"k": 5, "recoder": "optimal", "suppression_limit": 0.05},
            "perturb": {"epsilon": 1, "without_guarantee": True},
        }
    )


def _print(title: str, table: pd.DataFrame, policies: dict[str, AnyPolicy], drawn: Path | None) -> None:
    """Print a table's comparison as Markdown, and draw its map."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table.to_csv(folder / "table.csv", index=False)
        where = Locations(folder, folder, folder / "releases", folder / "vault")
        found = list(compare_kinds(policies, dict.fromkeys(policies, where)))
    print(f"\n{title}, {len(table):,} records, {table.shape[1]} columns\n")
    print(f"| {' | '.join(_SHOWN)} |")
    print(f"|---{'|--:' * (len(_SHOWN) - 2)}|---|")
    for row in kind_rows(found):
        print(f"| {' | '.join(row[name] for name in _SHOWN)} |")
    if drawn is not None:
        drawn.write_text(kinds_map(found), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Print both tables; with a folder as argument, write both maps into it."""
    given = sys.argv[1:] if arguments is None else arguments
    maps = Path(given[0]) if given else None
    print(machine())
    adult = adult_census(adult_folder())[[*ADULT]]
    _print(
        "Adult",
        adult,
        policies_of(ADULT, _ADULT_LEVELS, "education-num"),
        None if maps is None else maps / "kinds-adult.svg",
    )
    people = patients(20_000, seed=0)[[*PATIENTS]].dropna().reset_index(drop=True)
    _print(
        "Generated patients",
        people,
        policies_of(PATIENTS, _PATIENT_LEVELS, "systolic"),
        None if maps is None else maps / "kinds-patients.svg",
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
