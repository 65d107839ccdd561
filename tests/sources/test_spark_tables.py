"""Tables of Spark, read by a real cluster: types, limits, partitions, errors; one result whatever dies."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from anon_pipeline import InputError
from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.packed_tables import PackedTable
from anon_pipeline.policy import Policy
from anon_pipeline.sources import read_source, spark_sessions
from anon_pipeline.sources.spark_tables import read_spark
from tests.spark_cluster import (
    Cluster,
    connect_server,
    environment_of,
    executors,
    in_catalog,
    spark_package,
    tasks_started,
)
from tests.watched import answers, wait_until

CANARY = "Quillfeather-4711"
ROOT = Path(__file__).resolve().parents[2]
Small = Callable[..., Policy]
PEOPLE = pa.table({"id": ["007", "8", CANARY], "n": pa.array([7, None, 2**60 + 1], pa.int64())})
_SLEEP = "reflect('java.lang.Thread', 'sleep', 20L)"
_SLOW = f"SELECT id, 'p' || id || if(id % 100 = 0, {_SLEEP}, 'null') AS h FROM range(0, 20000, 1, 8)"
"""Its tasks take half a second each, and no processor."""


@pytest.fixture(autouse=True)
def _url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    spark: Cluster = request.getfixturevalue("spark")
    monkeypatch.setenv("OWN_SPARK", spark.connect)


@pytest.fixture
def people(spark: Cluster, tmp_path: Path) -> str:
    """Name of a table of the cluster's catalog."""
    return in_catalog(spark, tmp_path, PEOPLE)


def policy(small_policy: Small, *, limits: dict[str, int] | None = None, **wanted: Any) -> Policy:
    source = {"path": None, "spark": {"url_env": "OWN_SPARK", **wanted}, "limits": limits or {}}
    daily = {"cron": "0 3 * * 1", "partitions": "daily"}
    return small_policy(source=source, schedule=daily if "artition" in str(wanted) else None)


def refused(found: Policy, **how: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_source(found, **how)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


def query(small_policy: Small, text: str, **how: Any) -> Any:
    return read_source(policy(small_policy, query=text, **how))


def test_a_table_of_the_catalog(small_policy: Small, people: str) -> None:
    for name in (people, f"spark_catalog.default.{people}", ["default", people]):
        frame = read_source(policy(small_policy, table=name)).sort_values("n")
        assert frame["id"].tolist() == ["007", CANARY, "8"]
        assert frame["n"].tolist() == [7, 2**60 + 1, None]


def test_types(small_policy: Small) -> None:
    frame = query(
        small_policy,
        """SELECT cast(7 AS tinyint) b, 2L * 1152921504606846976 l, cast('0.10' AS decimal(10, 2)) d, 0.5D f,
             true t, 'é' s, DATE'2024-02-29' day, TIMESTAMP_NTZ'2024-02-29 01:02:03' n,
             TIMESTAMP'2024-02-29 01:02:03+02:00' z, cast(NULL AS int) i, NULL v -- the end of a line""",
    )
    (record,) = frame.astype(object).to_dict("records")
    assert record["b"] == 7
    assert record["l"] == 2**61
    assert record["d"] == Decimal("0.10")
    assert (record["f"], record["t"], record["s"]) == (0.5, True, "é")
    assert record["day"] == datetime.date(2024, 2, 29)
    assert record["n"] == pd.Timestamp("2024-02-29 01:02:03")
    assert record["z"] == pd.Timestamp("2024-02-28 23:02:03", tz="UTC")
    assert str(frame["z"].dtype) == "datetime64[us, UTC]"
    assert record["i"] is record["v"] is None


def test_names_with_signs_are_names(small_policy: Small) -> None:
    frame = query(small_policy, "SELECT 1 AS `a.b`, 'x' AS `c``d`, 'y' AS `e f`")
    assert frame.columns.tolist() == ["a.b", "c`d", "e f"]
    missing = refused(policy(small_policy, table=["x` UNION SELECT 1 --"]))
    assert missing.endswith("read: TABLE_OR_VIEW_NOT_FOUND")


def test_the_partition_is_a_parameter_or_in_the_name(small_policy: Small, people: str) -> None:
    asked = policy(small_policy, query="SELECT * FROM range(40) WHERE id = day(cast(:partition AS date))")
    assert read_source(asked, partition="2024-02-29")["id"].tolist() == [29]
    named = policy(small_policy, table="people_{partition}")
    assert "TABLE_OR_VIEW_NOT_FOUND" in refused(named, partition="2024-02-29")
    assert len(read_source(named, partition=people.removeprefix("people_"))) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("DROP TABLE nothing", "PARSE_SYNTAX_ERROR"),
        ("SELECT 1) ; DROP TABLE nothing --", "PARSE_SYNTAX_ERROR"),
        ("CREATE TABLE made AS SELECT 1", "PARSE_SYNTAX_ERROR"),
        (f"SELECT * FROM nothing_{CANARY.replace('-', '_')}", "TABLE_OR_VIEW_NOT_FOUND"),
        (f"SELECT cast('{CANARY}' AS int)", "CAST_INVALID_INPUT"),
        (f"SELECT raise_error('{CANARY}')", "USER_RAISED_EXCEPTION"),
    ],
)
def test_errors_have_sparks_name_and_no_text(small_policy: Small, text: str, said: str) -> None:
    message = refused(policy(small_policy, query=text))
    assert message == f"source.spark: the table or query could not be read: {said}"


def test_a_cell_that_fails_on_a_worker_is_not_quoted(
    small_policy: Small, people: str, capfd: pytest.CaptureFixture[str]
) -> None:
    found = policy(small_policy, query=f"SELECT cast(id AS int) AS id FROM {people}")
    assert refused(found).endswith("CAST_INVALID_INPUT")
    assert CANARY not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("text", "limits", "said"),
    [
        ("SELECT id FROM range(30)", {"rows": 29}, "source.spark: must keep the limit rows (29), got 30"),
        ("SELECT 1 a, 2 b", {"columns": 1}, "source.spark: must keep the limit columns (1), got 2"),
        (
            "SELECT 1 a, repeat('é', 30) b",
            {"cell_bytes": 59},
            "source.spark, column 2: must keep the limit cell_bytes (59), got more",
        ),
        (
            "SELECT repeat('x', 100) a FROM range(10)",
            {"uncompressed_bytes": 1000},
            "source.spark: must keep the limit uncompressed_bytes (1,000), got 1,080",
        ),
        ("SELECT 1 a, 2 a", {}, "source.spark: columns must be named once, got equal names in 1, 2"),
        (
            "SELECT 'x' a, 'y' A",
            {},
            "source.spark: names of columns must differ in more than case, as they do in Spark",
        ),
        (
            "SELECT 1 a, array(1) b, map(1, 2) c, struct(1) d, INTERVAL 1 DAY e, INTERVAL 1 MONTH f",
            {},
            "source.spark, column 2, 3, 4, 5, 6: must have a type with one plain value in each cell, got "
            "one such as list, map, structure, interval or variant",
        ),
        (
            "SELECT repeat('x', cast(rand() * 1000 AS int)) a FROM range(50)",
            {},
            "source.spark: the records changed while they were read. Run again; if it happens again, read "
            "one version of the table (VERSION AS OF), or make the query give the same records each time",
        ),
    ],
)
def test_what_is_refused(small_policy: Small, text: str, limits: dict[str, int], said: str) -> None:
    assert refused(policy(small_policy, query=text, limits=limits)) == said


def test_texts_that_are_no_unicode_are_refused(small_policy: Small) -> None:
    text = "SELECT cast(x'ff41' AS string) a"
    assert refused(policy(small_policy, query=text)).endswith("read: ArrowInvalid")


def test_no_records(small_policy: Small) -> None:
    frame = query(small_policy, "SELECT id, 'x' s FROM range(0)")
    assert (len(frame), frame.columns.tolist()) == (0, ["id", "s"])


def test_a_large_table_is_packed(small_policy: Small) -> None:
    found = query(small_policy, "SELECT id, id % 7 AS day, concat('p', id % 90) AS s FROM range(300000)")
    assert isinstance(found, PackedTable)
    ids = found["id"].sort_values().reset_index(drop=True)
    assert ids.tolist() == list(range(300_000))
    assert found["s"].nunique() == 90


def test_texts_keep_no_other_column_in_memory(small_policy: Small) -> None:
    """Each part of a column comes in one buffer with the same records of all other columns."""
    text = "SELECT concat('p', id) AS s, repeat('x', 200) AS filler FROM range(20000)"
    texts = pa.chunked_array(query(small_policy, text)["s"].array.__arrow_array__())
    assert texts.get_total_buffer_size() < 2 * texts.nbytes


def test_an_executor_that_is_killed_changes_nothing(small_policy: Small, spark: Cluster) -> None:
    expected = query(small_policy, _SLOW.replace(_SLEEP, "'null'")).sort_values("id", ignore_index=True)
    before, killed, log = executors(spark), list[int](), Path(spark.folder) / "log"
    started = tasks_started(log)

    def kill() -> None:
        """Kill one executor when each has a task of the query."""
        wait_until(lambda: tasks_started(log) > started + 1, log, "the query")
        killed.append(executors(spark)[0])
        os.kill(killed[0], signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    found = query(small_policy, _SLOW)
    killing.join()
    pd.testing.assert_frame_equal(found.sort_values("id", ignore_index=True), expected)
    assert killed[0] in before
    wait_until(lambda: len({*executors(spark)} - {*killed}) > 1, ROOT / "README.md", "another executor")


def test_a_server_that_is_killed_is_a_named_error(
    small_policy: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_sessions, "RETRIES", 1)
    home = spark_package()
    assert home is not None
    (tmp_path / "events").mkdir()
    program, port = connect_server(home, tmp_path, "local[1]")
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            program.words, stdout=log, stderr=log, cwd=tmp_path, env=environment_of(home)
        )
    monkeypatch.setenv("OWN_SPARK", f"sc://127.0.0.1:{port}")
    wait_until(lambda: answers(port), tmp_path / "log", "the server", seconds=110)

    def kill() -> None:
        """Kill the server when it works at the query."""
        wait_until(lambda: tasks_started(tmp_path / "log") > 0, tmp_path / "log", "the query")
        server.kill()

    killing = threading.Thread(target=kill)
    killing.start()
    slow = "SELECT id, sha2(repeat(cast(id AS string), 30000), 512) AS h FROM range(0, 900000)"
    said = refused(policy(small_policy, query=slow))
    killing.join()
    server.wait()
    assert said.startswith("source.spark: the table or query could not be read: ")


_CLASSIC = """
import sys
import pyspark
from pyspark.sql import SparkSession
from anon_pipeline.base.digest import digest_frame
from anon_pipeline.policy.source import Source
from anon_pipeline.sources.spark_tables import read_spark
class Own:
    source = Source.model_validate({"spark": {"query": sys.argv[2]}})
session = (
    SparkSession.builder.master(sys.argv[1]).config("spark.cores.max", "1")
    .config("spark.executor.memory", "512m").config("spark.ui.enabled", "false").getOrCreate()
)
assert type(session).__module__ == "pyspark.sql.session", type(session)
for given in (None, session):
    frame = read_spark(Own, None, session=given)
    print(digest_frame(frame.sort_values("id", ignore_index=True)))
session.sql("SELECT 1").collect()  # it was left open
session.stop()
"""


def test_a_session_of_pyspark_itself_gives_the_same(small_policy: Small, spark: Cluster, people: str) -> None:
    text = "SELECT id, concat('é', id % 5) AS s, DATE'2024-02-29' AS day, 0.5D AS f FROM range(0, 1000, 1, 2)"
    expected = digest_frame(query(small_policy, text).sort_values("id", ignore_index=True))
    home = spark_package()
    assert home is not None
    paths = os.pathsep.join((str(home.parent), str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", _CLASSIC, spark.master, text],
        env=environment_of(home) | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == [expected] * 2


def test_the_session_that_is_given_is_used(small_policy: Small) -> None:
    class Session:
        """Notes what it is asked for."""

        def __init__(self) -> None:
            self.asked: list[str] = []

        def table(self, name: str) -> Any:
            self.asked.append(name)
            raise ValueError(CANARY)

    session, own = Session(), policy(small_policy, table="a.b.c", url_env=None)
    with pytest.raises(InputError, match=r"read: ValueError$"):
        read_spark(own, None, session=session)
    assert session.asked == ["`a`.`b`.`c`"]


def test_the_clusters_logs_hold_no_cells(small_policy: Small, spark: Cluster, tmp_path: Path) -> None:
    """Neither the log of the driver, nor those of executors and workers, nor the event log."""
    own = "Larkspur-0815"
    name = in_catalog(spark, tmp_path, pa.table({"id": [own, "8"], "n": [1, 2]}))
    assert len(read_source(policy(small_policy, table=name))) == 2
    found = [path for path in Path(spark.folder).rglob("*") if path.is_file()]
    assert {"log", "stderr"} <= {path.name for path in found}
    asked = name.split(".")[-1].encode()  # can be found there, so a cell could, too
    assert any(asked in path.read_bytes() for path in found if "events" in path.parts)
    assert not [path for path in found if own.encode() in path.read_bytes()]
