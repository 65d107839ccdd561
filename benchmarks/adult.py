"""UCI Adult as the paper uses it: where it is, the table with a made-up height, the policy.

Belongs here: data and policies that the benchmarks share. Does not belong here: any measurement.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from anon_pipeline import Policy
from anon_pipeline.policy import policy_from
from anon_pipeline.sources.patients import heights
from anon_pipeline.sources.people import emails, first_and_last

RECORDS: Final = 30_162
SET_A: Final = ("sex", "age", "race", "marital-status")
SET_B: Final = (*SET_A, "education", "native-country", "workclass", "occupation")

_ROOT = Path(__file__).resolve().parents[1]
_CENSUS_YEAR = 1994

# Grouped as in adult_hierarchy_marital-status.csv (spouse present or not), named as in [KE Table I].
_MARITAL_STATUS: Final = {
    "In marriage": ["Married-civ-spouse", "Married-AF-spouse"],
    "Alone": ["Never-married", "Divorced", "Separated", "Widowed", "Married-spouse-absent"],
}


def find_adult() -> Path | None:
    """Return the folder of Adult: below ``ANON_PIPELINE_DATA``, else ``../shared/data``; None without it."""
    folder = Path(os.environ.get("ANON_PIPELINE_DATA", _ROOT.parent / "shared" / "data")) / "adult"
    return folder if (folder / "adult.csv").is_file() else None


def adult_folder() -> Path:
    """Return the folder of Adult.

    Raises:
        SystemExit: it is not on this machine; says where it is looked for.
    """
    folder = find_adult()
    if folder is None:
        raise SystemExit(
            "Adult is not here: adult/adult.csv must be below ../shared/data, or below the folder that the "
            "environment variable ANON_PIPELINE_DATA names. Set it and start again."
        )
    return folder


def adult_table(folder: Path) -> pd.DataFrame:
    """Read the 30,162 complete records, 9 columns.

    Args:
        folder: of `adult_folder`.
    Raises:
        SystemExit: another number of records.
    """
    table = pd.read_csv(folder / "adult.csv", sep=";")
    if len(table) != RECORDS:
        raise SystemExit(f"adult.csv must have {RECORDS:,} records, got {len(table):,}. Get the file again.")
    return table


def adult_census(folder: Path) -> pd.DataFrame:
    """Read the complete records of the original file, with those numbers that `adult_table` lacks.

    Args:
        folder: of `adult_folder`.
    Returns:
        (30162, 8): age, education-num, hours-per-week, sex, race, marital-status, workclass, occupation.
    """
    numbers, texts = ["age", "education-num", "hours-per-week"], ["sex", "race", "marital-status"]
    return _original(folder)[[*numbers, *texts, "workclass", "occupation"]]


def adult_numbers(folder: Path) -> pd.DataFrame:
    """Read numbers of the complete records of the original file.

    Args:
        folder: of `adult_folder`.
    Returns:
        (30162, 4): age, fnlwgt (the survey's weight, mostly distinct), education-num, hours-per-week.
    """
    return _original(folder)[["age", "fnlwgt", "education-num", "hours-per-week"]]


def _original(folder: Path) -> pd.DataFrame:
    names = [
        *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
        *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
        "salary-class",
    ]
    table = pd.read_csv(folder / "adult.data", names=names, na_values="?", skipinitialspace=True)
    return table.dropna().reset_index(drop=True)


def with_height(table: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Add a height in cm by age and sex, from the generator's model.

    Args:
        table: (n, columns) with age and sex.
        seed: of the heights.
    Source:
        [KE VI]: normal by age and sex, fitted to US reference data.
    """
    rng = np.random.default_rng(seed)
    return table.assign(height=heights(table["age"].to_numpy(), table["sex"].to_numpy(), rng=rng))


def paper_table(folder: Path, *, seed: int = 0) -> pd.DataFrame:
    """Make the Adult of [KE Table III]: made-up identifiers and height, year of birth instead of age.

    Args:
        folder: of `adult_folder`.
        seed: of whatever is made up.
    Returns:
        (30162, 9): patient_id, name, email, year_of_birth (1994 − age), sex, race, marital-status, height
        (cm, 0.1), salary-class.
    """
    table = with_height(adult_table(folder), seed=seed)
    rng = np.random.default_rng([seed, 1])
    first, last = first_and_last((table["sex"] == "Female").to_numpy(), rng)
    made_up = {
        "patient_id": [f"A{number:05d}" for number in rng.permutation(len(table))],
        "name": first + " " + last,
        "email": emails(first, last, rng),
        "year_of_birth": _CENSUS_YEAR - table["age"],
    }
    kept = table[["sex", "race", "marital-status", "height", "salary-class"]]
    return pd.concat([pd.DataFrame(made_up), kept], axis=1)


def paper_columns() -> dict[str, dict[str, Any]]:
    """Return the columns of `paper_table` as in a policy, without the height; hierarchies of [KE Table I]."""
    return {
        **{name: {"role": "identifier", "action": "drop"} for name in ("patient_id", "name", "email")},
        "year_of_birth": {"role": "generalize", "hierarchy": {"intervals": [2, 4, 8]}},
        "sex": {"role": "generalize", "hierarchy": {"suppress": True}},
        "race": {"role": "generalize", "hierarchy": {"suppress": True}},
        "marital-status": {"role": "generalize", "hierarchy": {"tree": _MARITAL_STATUS}},
        "salary-class": {"role": "sensitive", "distance": "equal"},
    }


def adult_policy(
    k: int, epsilon: float, recoder: str, *, loss: str = "precision", confidence: float | None = 0.99
) -> Policy:
    """Build the policy of [KE VI] for `paper_table`.

    Args:
        k: smallest class, in records.
        epsilon: ε of a record; the height has it all.
        recoder: ``ola``, ``optimal``, ``mondrian`` or ``mondrian_relaxed``.
        loss: what a lattice search minimizes.
        confidence: of the suppression of V-C; None for none.
    """
    height = {"role": "perturb", "unit": "cm", "resolution": 0.1}
    columns = {**paper_columns(), "height": height}
    anonymize = {"k": k, "recoder": recoder, "loss": loss, "suppression_limit": 0.05}
    return _policy(columns, anonymize, epsilon=epsilon, suppress={"confidence": confidence})


def table_columns(names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return quasi-identifiers with the hierarchy tables of Adult, which are next to the data."""
    return {
        name: {"role": "generalize", "hierarchy": {"table": f"adult_hierarchy_{name}.csv"}} for name in names
    }


def set_a_policy() -> Policy:
    """Build the policy of the speed table: set (a) by hierarchy tables, a height, limits on the gate."""
    unused = {name: {"role": "insensitive"} for name in SET_B if name not in SET_A}
    columns = {
        **table_columns(SET_A),
        **unused,
        "height": {"role": "perturb", "unit": "cm", "resolution": 0.1},
        "salary-class": {"role": "sensitive", "distance": "equal"},
    }
    return _policy(
        columns,
        {"k": 10, "recoder": "ola", "suppression_limit": 0.05},
        epsilon=2,
        suppress={"confidence": 0.99},
        gate={"t_closeness": {"salary-class": 0.8}, "linking_risk": 0.05, "suppression": 0.1},
    )


def _policy(columns: dict[str, Any], anonymize: dict[str, Any], *, epsilon: float, **sections: Any) -> Policy:
    attributes = {
        "name": "adult",
        "source": {"path": "adult.csv"},
        "columns": columns,
        "anonymize": anonymize,
        "perturb": {"epsilon": epsilon},
        **sections,
    }
    return policy_from(attributes)
