"""Tables of Spark in portions, from a real cluster: read once and kept, or read once for each portion."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from anon_pipeline import InputError
from anon_pipeline.policy import Policy
from anon_pipeline.sources import read_source, spark_portions
from anon_pipeline.sources.portions import read_portions
from tests.sources.in_portions import read_in_portions
from tests.spark_cluster import Cluster, executors, in_catalog
from tests.watched import wait_until

ROOT = Path(__file__).resolve().parents[2]
CANARY = "Quillfeather-0815"
Small = Callable[..., Policy]
TEXT = "SELECT id, id % 7 = 0 AS t, cast(NULL AS int) AS i, 'x' || id AS `a.b`, 1 AS PART FROM range(1000)"


@pytest.fixture(autouse=True)
def _small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    spark: Cluster = request.getfixturevalue("spark")
    monkeypatch.setenv("OWN_SPARK", spark.connect)
    monkeypatch.setattr(spark_portions, "_PORTION", 250)


def policy(small_policy: Small, **wanted: Any) -> Policy:
    return small_policy(source={"path": None, "spark": {"url_env": "OWN_SPARK", **wanted}}, schedule=None)


def read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat the cluster as one whose executors write plain text."""
    monkeypatch.setattr(spark_portions, "_encrypts", lambda session: False)


@pytest.mark.parametrize("kept", [True, False])
def test_it_is_the_same_table(
    kept: bool, small_policy: Small, spark: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not kept:
        read_each_time(monkeypatch)
    found, many = read_in_portions(policy(small_policy, query=TEXT))
    assert many == 4
    whole = read_source(policy(small_policy, query=TEXT))
    whole = pd.DataFrame({name: whole[name] for name in found.columns})
    order = {"by": "id", "ignore_index": True}
    pd.testing.assert_frame_equal(found.sort_values(**order), whole.sort_values(**order))
    monkeypatch.setattr(spark_portions, "_PORTION", 2)
    people = in_catalog(spark, tmp_path, pa.table({"id": ["007", "8", CANARY], "n": [7, None, 2**60 + 1]}))
    found, many = read_in_portions(policy(small_policy, table=people))
    assert many <= 2
    assert sorted(found["id"]) == ["007", "8", CANARY]


def test_the_cluster_reads_once(
    small_policy: Small, spark: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept needs no table any more."""
    for kept in (True, False):
        if not kept:
            read_each_time(monkeypatch)
        folder = tmp_path / str(kept)
        folder.mkdir()
        people = in_catalog(spark, folder, pa.table({"id": range(1000)}), f"once_{kept}")
        read = read_portions(policy(small_policy, table=people), folder=Path())
        found = next(read)["id"].to_pylist()
        (folder / "people.parquet").unlink()
        if kept:
            assert sorted([*found, *(one for table in read for one in table["id"].to_pylist())]) == [
                *range(1000)
            ]
        else:
            with pytest.raises(InputError, match="could not be read"):
                list(read)


def test_an_executor_that_is_killed_between_portions_changes_nothing(
    small_policy: Small, spark: Cluster, tmp_path: Path
) -> None:
    """What it has kept is read from the table again."""
    people = in_catalog(spark, tmp_path, pa.table({"id": range(1000)}))
    read = read_portions(policy(small_policy, table=people), folder=Path())
    found = next(read)["id"].to_pylist()
    assert list(blocks(spark))
    killed = executors(spark)[0]
    os.kill(killed, signal.SIGKILL)
    assert sorted([*found, *(one for table in read for one in table["id"].to_pylist())]) == [*range(1000)]
    wait_until(lambda: len({*executors(spark)} - {killed}) > 1, ROOT / "README.md", "another executor")


def test_records_that_change_are_refused(small_policy: Small) -> None:
    text = "SELECT id, repeat('x', cast(rand() * 1000 AS int)) AS a FROM range(1000) WHERE rand() < 0.5"
    drawn = policy(small_policy, query=text)
    with pytest.raises(InputError, match="the records changed while they were read"):
        read_in_portions(drawn)


def test_what_is_kept_is_encrypted_and_then_removed(
    small_policy: Small, spark: Cluster, tmp_path: Path
) -> None:
    records = pa.table({"name": [f"{CANARY}-{number}" for number in range(1000)]})
    people = in_catalog(spark, tmp_path, records)
    before = {*blocks(spark)}  # of executors that were killed
    read = read_portions(policy(small_policy, table=people), folder=Path())
    left = 1000 - len(next(read))
    assert {*blocks(spark)} - before
    assert not [path for path in files(spark) if CANARY.encode() in path.read_bytes()]
    assert sum(len(table) for table in read) == left
    assert not {*blocks(spark)} - before


def test_a_cluster_that_keeps_nothing_is_read_each_time(
    small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.errors import PySparkNotImplementedError
    from pyspark.sql.connect.dataframe import DataFrame

    def persist(*_: object) -> None:
        raise PySparkNotImplementedError(errorClass="NOT_IMPLEMENTED", messageParameters={"feature": "cache"})

    monkeypatch.setattr(DataFrame, "persist", persist)
    found, many = read_in_portions(policy(small_policy, query=TEXT))
    assert many == 4
    assert sorted(found["id"]) == list(range(1000))


def test_a_query_that_fails_is_refused(small_policy: Small) -> None:
    failing = f"SELECT id, cast('{CANARY}' || id AS int) AS n, 'x' || id AS a FROM range(1000)"
    with pytest.raises(InputError, match="could not be read") as caught:
        read_in_portions(policy(small_policy, query=failing))
    assert CANARY not in str(caught.value)


def test_a_cluster_that_does_not_say_so_does_not_encrypt() -> None:
    class Conf:
        def __init__(self, answer: object) -> None:
            self.answer = answer

        def get(self, name: str, default: str) -> object:
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer if self.answer is not None else default

    class Session:
        def __init__(self, answer: object) -> None:
            self.conf = Conf(answer)

    encrypts = getattr(spark_portions, "_encrypts")  # noqa: B009
    answers = [None, "false", "true", "TRUE", ValueError(CANARY)]
    assert [encrypts(Session(one)) for one in answers] == [False, False, True, True, False]


def files(spark: Cluster) -> Iterator[Path]:
    return (path for path in Path(spark.folder).rglob("*") if path.is_file())


def blocks(spark: Cluster) -> Iterator[Path]:
    """Yield the files in which executors keep records."""
    return (path for path in files(spark) if path.name.startswith("rdd_"))
