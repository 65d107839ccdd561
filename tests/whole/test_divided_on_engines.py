"""Divided releases of the same records in Parquet, DuckDB and Spark: together, the release of the whole.

Ten policies, eight of them with noise. A release draws a key of its own and numbers its records by their
order, so two releases never have the same noise. Here all have one key, and a record's number comes from what
it says: then only the partition in which a class is released could make a difference, to the noise or to who
is suppressed because of it.

A cluster loses an executor while its table is read.
"""

from __future__ import annotations

import hashlib
import os
import signal
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from anon_pipeline.base.canonical import Canonical
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.division import copied_records
from anon_pipeline.division import divide as division
from anon_pipeline.division.divide import Division, divide
from anon_pipeline.division.part_files import PartFile
from anon_pipeline.encode.codes import GIVEN
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy import Policy, load_policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.whole_chain import Release, anonymize
from anon_pipeline.sources import spark_portions
from anon_pipeline.stages import pipeline
from tests.conftest import SMALL, merged
from tests.spark_cluster import Cluster, executors, in_catalog

RECORDS = 1_500
SECRET = NoiseKey(bytes(range(32)))
NEAR = {"t_closeness": {"illness": 0.35}}
MANY = {"l_diversity": {"illness": {"kind": "distinct", "l": 3}}}
HEIGHT = {"role": "perturb", "unit": "cm", "resolution": 1}
NOTE = {"role": "perturb", "values": ["a", "b"]}
QUIET: dict[str, Any] = {
    "columns": {"height": {"role": "insensitive", "round": 10, "unit": None, "resolution": None}},
    "perturb": None,
    "suppress": None,
    "gate": {"linking_risk": None},
}


def noisy(**perturb: Any) -> dict[str, Any]:
    """Return a policy's noise, on the height."""
    return {"columns": {"height": HEIGHT}, "perturb": {"epsilon": 2, **perturb}}


POLICIES: dict[str, dict[str, Any]] = {
    "without noise": {**QUIET, "anonymize": {"recoder": "ola", "k": 5}},
    "without noise, cut": {**QUIET, "anonymize": {"recoder": "mondrian", "k": 5}},
    "laplace": {**noisy(), "anonymize": {"recoder": "samarati", "k": 4}},
    "staircase": {
        **noisy(mechanism="staircase"),
        "anonymize": {"recoder": "incognito", "k": 7, "loss": "entropy"},
    },
    "gaussian": {
        **noisy(mechanism="discrete_gaussian", delta=1e-6),
        "anonymize": {"k": 10, "recoder": "optimal", "loss": "discernibility"},
    },
    "declared": {
        "columns": {"height": {**HEIGHT, "sensitivity": "declared", "input_bounds": [150, 190]}},
        "anonymize": {"recoder": "datafly", "k": 5},
    },
    "near": {**noisy(), "anonymize": {"k": 5}, "gate": NEAR},
    "diverse": {
        "columns": {"height": HEIGHT, "note": {**NOTE, "mechanism": "randomized_response"}},
        "anonymize": {"k": 5, "suppression_limit": 0.2},
        "gate": MANY,
    },
    "swapped in classes": {
        "columns": {"height": HEIGHT, "note": {**NOTE, "mechanism": "class_swapping"}},
        "perturb": {"without_guarantee": True},
        "anonymize": {"recoder": "fixed", "k": 5, "levels": {"age": 1, "city": 0}},
    },
    "cut": {**noisy(), "anonymize": {"recoder": "mondrian", "k": 8}, "gate": MANY},
}


@pytest.fixture(autouse=True)
def _equal_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give equal records equal random words in every release, and every division the same name."""
    monkeypatch.setattr(pipeline, "fresh_key", lambda entropy: SECRET)
    monkeypatch.setattr(pipeline, "canonical_form", numbered_by_content)
    monkeypatch.setattr(division.secrets, "token_hex", lambda digits: "ab12cd34"[: 2 * digits])


def numbered_by_content(table: Any) -> Canonical:
    """Number records by a digest of what they say, and of how many equal ones stand before them."""
    frame = unpack_table(table).drop(columns=[GIVEN], errors="ignore")
    said = pd.Series(["|".join(map(str, row)) for row in frame.sort_index(axis=1).itertuples(index=False)])
    each = said + "|" + said.groupby(said).cumcount().astype(str)
    places = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1 for text in each]
    return Canonical(np.array(places, np.int64), hashlib.sha256("".join(sorted(each)).encode()).hexdigest())


def people(*, missing: bool) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "person": [f"person {number}" for number in range(RECORDS)],
            "age": rng.gamma(9, 5, RECORDS).astype(int).clip(18, 99),
            "city": rng.choice(["Cork", "Dublin", "Galway", "Sligo"], RECORDS, p=[0.3, 0.6, 0.09, 0.01]),
            "height": rng.normal(170, 9, RECORDS).round(),
            "income": rng.integers(20, 40, RECORDS) * 1000,
            "illness": rng.choice(["asthma", "flu", "gout", "none"], RECORDS),
            "note": rng.choice(["a", "b"], RECORDS),
        }
    )
    if missing:
        frame["city"] = frame["city"].where(frame.index % 70 > 0)
        frame["illness"] = frame["illness"].where(frame.index % 60 > 0)
    return frame


def policy_of(folder: Path, changes: dict[str, Any], source: dict[str, Any]) -> tuple[Path, Policy]:
    """Write a policy that reads this source."""
    common: dict[str, Any] = {
        "one_record_per_person": True,
        "columns": {"illness": {"missing": "suppress"}},
        "gate": {"t_closeness": {"illness": 0.95}, "linking_risk": 0.5},
    }
    attributes = merged(merged(merged(SMALL, common), changes), {"source": {"path": None, **source}})
    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump({"type": "anon_pipeline.AnonymizedRelease", "attributes": attributes}))
    return path, load_policy(path)


def in_parquet(frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    frame.to_parquet(folder / "people.parquet", index=False)
    return {"path": "people.parquet", "format": "parquet"}


def in_duckdb(frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.register("given", pa.Table.from_pandas(frame, preserve_index=False))
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return {"duckdb": {"path": "people.duckdb", "table": "people"}}


def rows(*frames: pd.DataFrame) -> list[tuple[object, ...]]:
    """Return the records of tables, sorted; whatever the types that engines have for whole numbers."""
    return sorted(
        tuple(map(str, row)) for frame in frames for row in frame.sort_index(axis=1).itertuples(index=False)
    )


class Made(NamedTuple):
    """Released records, sums of what is said of them, and what the gate measured of each partition."""

    records: list[tuple[object, ...]]
    sums: list[int]
    measured: list[list[tuple[str, str]]]


def together(found: Division) -> Made:
    """Make the release of each partition."""
    policy = load_policy(found.policy)
    made = [anonymize(policy, pd.read_parquet(found.files / f"{key}.parquet")) for key in found.keys]
    return made_of(*made)


def made_of(*made: Release) -> Made:
    assert all(one.report.passed for one in made)
    said = [one.facts["k_anonymized"] for one in made]
    return Made(
        rows(*(one.frame for one in made)),
        [sum(one[name] for one in said) for name in SUMS],
        [[(verdict.limit, digits(verdict.value)) for verdict in one.report.verdicts] for one in made],
    )


def digits(value: float | None) -> str:
    """Write a measured number to 12 digits: the order of records changes the last ones of a sum."""
    return "" if value is None else f"{value:.12g}"


SUMS = ("classes", "suppressed_by_recoding", "suppressed_incomplete")


def in_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def divided_file(name: str, frame: pd.DataFrame, folder: Path) -> Made:
    """Return what is released of a Parquet file in two partitions."""
    path, policy = policy_of(folder, POLICIES[name], in_parquet(frame, folder))
    return together(divide(path, policy, Locations.of(folder), parts=2))


@pytest.mark.parametrize("name", POLICIES)
def test_files_and_databases_of_this_machine(name: str, tmp_path: Path) -> None:
    frame = people(missing=len(name) % 2 == 0)
    path, policy = policy_of(tmp_path, POLICIES[name], in_duckdb(frame, tmp_path))
    whole = made_of(anonymize(policy, frame))
    found = together(divide(path, policy, Locations.of(tmp_path), parts=2))
    assert (found.records, found.sums) == (whole.records, whole.sums)
    assert found == divided_file(name, frame, in_folder(tmp_path / "file"))


@pytest.mark.parametrize("name", POLICIES)
def test_a_cluster(name: str, spark: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of Spark have their records in any order, and in portions."""
    monkeypatch.setenv("OWN_SPARK", spark.connect)
    monkeypatch.setattr(spark_portions, "_PORTION", 400)
    frame = people(missing=len(name) % 2 == 0)
    table = in_catalog(spark, tmp_path, pa.Table.from_pandas(frame, preserve_index=False))
    source = {"spark": {"url_env": "OWN_SPARK", "table": table}}
    path, policy = policy_of(tmp_path, POLICIES[name], source)
    found = together(divide(path, policy, Locations.of(tmp_path), parts=2))
    assert found == divided_file(name, frame, in_folder(tmp_path / "file"))


def test_a_cluster_that_loses_an_executor(
    spark: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed after the first portion was read."""
    monkeypatch.setenv("OWN_SPARK", spark.connect)
    monkeypatch.setattr(spark_portions, "_PORTION", 200)
    frame = people(missing=False)
    table = in_catalog(spark, tmp_path, pa.Table.from_pandas(frame, preserve_index=False))
    source = {"spark": {"url_env": "OWN_SPARK", "table": table}}
    path, policy = policy_of(tmp_path, POLICIES["cut"], source)
    killed = list[int]()

    class File(PartFile):
        """A file of the copy; an executor dies when the first one is begun."""

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            if not killed:
                killed.append(executors(spark)[0])
                os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(copied_records, "_RECORDS", 200)
    monkeypatch.setattr(copied_records, "PartFile", File)
    found = divide(path, policy, Locations.of(tmp_path), parts=2)
    assert killed
    made, whole = together(found), made_of(anonymize(policy, frame))
    assert (made.records, made.sums) == (whole.records, whole.sums)
