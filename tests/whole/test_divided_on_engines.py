"""Divided releases of the same records in Parquet, DuckDB and Spark: together, the release of the whole.

Ten policies without noise, so that releases can be compared record by record. A cluster loses an executor
while its table is read.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from anon_pipeline.division import copied_records
from anon_pipeline.division.divide import Division, divide
from anon_pipeline.division.part_files import PartFile
from anon_pipeline.policy import Policy, load_policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.whole_chain import anonymize
from anon_pipeline.sources import spark_portions
from tests.conftest import SMALL, merged
from tests.spark_cluster import Cluster, executors, in_catalog

RECORDS = 1_500
NEAR = {"t_closeness": {"illness": 0.35}}
MANY = {"l_diversity": {"illness": {"kind": "distinct", "l": 3}}}
POLICIES: dict[str, dict[str, Any]] = {
    "ola": {"anonymize": {"recoder": "ola", "k": 5}},
    "samarati": {"anonymize": {"recoder": "samarati", "k": 4}},
    "incognito": {"anonymize": {"recoder": "incognito", "k": 7, "loss": "entropy"}},
    "datafly": {"anonymize": {"recoder": "datafly", "k": 5}},
    "optimal, discernibility": {"anonymize": {"k": 10, "loss": "discernibility"}},
    "optimal, near": {"anonymize": {"k": 5}, "gate": NEAR},
    "optimal, diverse": {"anonymize": {"k": 5, "suppression_limit": 0.2}, "gate": MANY},
    "fixed": {"anonymize": {"recoder": "fixed", "k": 5, "levels": {"age": 1, "city": 0}}},
    "mondrian": {"anonymize": {"recoder": "mondrian", "k": 5}},
    "mondrian, diverse": {"anonymize": {"recoder": "mondrian", "k": 8}, "gate": MANY},
}


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
    """Write a policy without noise that reads this source."""
    quiet: dict[str, Any] = {
        "columns": {
            "height": {"role": "insensitive", "round": 10, "unit": None, "resolution": None},
            "illness": {"missing": "suppress"},
        },
        "perturb": None,
        "suppress": None,
        "gate": {"t_closeness": {"illness": 0.95}},
    }
    attributes = merged(merged(merged(SMALL, quiet), changes), {"source": {"path": None, **source}})
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


def together(found: Division) -> tuple[list[tuple[object, ...]], list[int]]:
    """Make the release of each partition; return their records, and sums of what they say of these."""
    policy = load_policy(found.policy)
    made = [anonymize(policy, pd.read_parquet(found.files / f"{key}.parquet")) for key in found.keys]
    assert all(one.report.passed for one in made)
    said = [one.facts["k_anonymized"] for one in made]
    return rows(*(one.frame for one in made)), [sum(one[name] for one in said) for name in SUMS]


SUMS = ("classes", "suppressed_by_recoding", "suppressed_incomplete")


def of_whole(policy: Policy, frame: pd.DataFrame) -> tuple[list[tuple[object, ...]], list[int]]:
    whole = anonymize(policy, frame)
    assert whole.report.passed
    return rows(whole.frame), [whole.facts["k_anonymized"][name] for name in SUMS]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("write", [in_parquet, in_duckdb])
def test_files_and_databases_of_this_machine(
    name: str, write: Callable[[pd.DataFrame, Path], dict[str, Any]], tmp_path: Path
) -> None:
    frame = people(missing=len(name) % 2 == 0)
    path, policy = policy_of(tmp_path, POLICIES[name], write(frame, tmp_path))
    found = divide(path, policy, Locations.of(tmp_path), parts=2)
    assert together(found) == of_whole(policy, frame)


@pytest.mark.parametrize("name", POLICIES)
def test_a_cluster(name: str, spark: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of Spark have their records in any order, and in portions."""
    monkeypatch.setenv("OWN_SPARK", spark.connect)
    monkeypatch.setattr(spark_portions, "_PORTION", 400)
    frame = people(missing=len(name) % 2 == 0)
    table = in_catalog(spark, tmp_path, pa.Table.from_pandas(frame, preserve_index=False))
    source = {"spark": {"url_env": "OWN_SPARK", "table": table}}
    path, policy = policy_of(tmp_path, POLICIES[name], source)
    found = divide(path, policy, Locations.of(tmp_path), parts=2)
    assert together(found) == of_whole(policy, frame)


def test_a_cluster_that_loses_an_executor(
    spark: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed after the first portion was read."""
    monkeypatch.setenv("OWN_SPARK", spark.connect)
    monkeypatch.setattr(spark_portions, "_PORTION", 200)
    frame = people(missing=False)
    table = in_catalog(spark, tmp_path, pa.Table.from_pandas(frame, preserve_index=False))
    source = {"spark": {"url_env": "OWN_SPARK", "table": table}}
    path, policy = policy_of(tmp_path, POLICIES["mondrian"], source)
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
    assert together(found) == of_whole(policy, frame)
