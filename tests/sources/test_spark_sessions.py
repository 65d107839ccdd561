"""Sessions of Spark: which URLs are accepted, what is said where there is none, and what is left open."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline import InputError
from anon_pipeline.sources import spark_sessions
from anon_pipeline.sources.spark_sessions import connect_problem, spark_session
from tests.spark_cluster import Cluster
from tests.watched import free_port

CANARY = "Quillfeather-4711"
KEY = "source.spark"
ROOT = Path(__file__).resolve().parents[2]


def refused(variable: str | None) -> str:
    with pytest.raises(InputError) as caught, spark_session(variable, KEY):
        raise AssertionError("there must be no session")
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "sc://localhost",
        "sc://127.0.0.1:15002",
        "sc://[::1]:15002/;user_id=ann",
        "sc://spark.example.org:443/;use_ssl=true",
        "sc://spark.example.org:443/;user_id=ann;USE_SSL=no;use_ssl=True",
        "sc://spark.example.org/;token=dapi-0a%3D;x-databricks-cluster-id=0301-1",
        f"sc://spark.example.org/;token={CANARY}",
    ],
)
def test_urls_that_are_accepted(url: str) -> None:
    assert connect_problem(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "spark://spark.example.org:7077",
        "local[2]",
        "https://spark.example.org",
        "sc://spark.example.org/?;use_ssl=true",
        "sc://spark.example.org/#;use_ssl=true",
        "sc://spark.example.org/;a=#;use_ssl=true",
        "sc://spark.example.org/;a=?;use_ssl=true",
        "sc://spark.example.org;use_ssl=true",
        "sc://user;token=abc@spark.example.org:15002",
        "sc://x;use_ssl=true;a=b@spark.example.org",
        "sc://localhost@spark.example.org",
        "sc://spark.example.org/;use_ssl=true;use_ssl\n=false",
        "sc://spark.example.org/;use_ssl=true;use\t_ssl=false",
        "sc://spark.example.org/;use_ssl=true;use_ssl",
        "sc://localhost/path",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    assert "must hold the URL of a Spark Connect server" in str(connect_problem(url))


@pytest.mark.parametrize(
    "url",
    [
        "sc://spark.example.org",
        "sc://spark.example.org:15002/;user_id=ann",
        "sc://spark.example.org/;use_ssl=true;use_ssl=false",
        "sc://spark.example.org/;token=",
        "sc://localhost.example.org",
        "sc://127.0.0.1.example.org:15002",
        "sc://spark.example.org/;session_id=use_ssl=true",
    ],
)
def test_personal_data_does_not_travel_in_the_clear(url: str) -> None:
    assert "must not travel in the clear" in str(connect_problem(url))


@pytest.mark.usefixtures("pyspark")
def test_a_refused_url_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_URL", f"sc://{CANARY}.example.org")
    assert refused("OWN_URL").startswith(
        "source.spark.url_env: the variable must hold a URL with use_ssl=true"
    )
    monkeypatch.setenv("OWN_URL", f"sc://localhost/{CANARY}")
    assert "must hold the URL of a Spark Connect server" in refused("OWN_URL")


@pytest.mark.usefixtures("pyspark")
@pytest.mark.parametrize(
    "parameters",
    [
        "",
        ";use_ssl=true",
        ";use_ssl=false",
        ";token=abc",
        ";use_ssl=true;use_ssl=false",
        ";user_id=a=b",
        ";A=b",
    ],
)
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:15002", "spark.example.org:443", "a_b"])
def test_what_is_accepted_pyspark_reads_in_the_same_way(host: str, parameters: str) -> None:
    from pyspark.sql.connect.client import DefaultChannelBuilder

    url = f"sc://{host}/{parameters}"
    if connect_problem(url) is None and "a=b" not in parameters:  # which pyspark refuses
        builder = DefaultChannelBuilder(url)
        assert builder.secure or builder.host in ("localhost", "127.0.0.1", "[::1]")


@pytest.mark.usefixtures("pyspark")
def test_a_variable_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OWN_URL", raising=False)
    assert refused("OWN_URL") == (
        "source.spark.url_env: the environment variable OWN_URL is not set: it must hold a URL"
    )


@pytest.mark.usefixtures("pyspark")
def test_a_process_without_a_session() -> None:
    assert refused(None) == (
        "source.spark: no Spark session is active. Set url_env to the name of an environment variable with "
        "the URL of a Spark Connect server; in Dagster, the resource anon_spark can have a session instead"
    )


@pytest.mark.usefixtures("pyspark")
def test_a_server_that_is_not_there_is_waited_for_a_short_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_sessions, "ANSWER_SECONDS", 1)
    monkeypatch.setenv("OWN_URL", f"sc://127.0.0.1:{free_port()}")
    before = time.monotonic()
    assert refused("OWN_URL") == ("source.spark.url_env: the Spark Connect server did not answer within 1 s")
    assert time.monotonic() - before < 60


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match=r'pip install "anon-pipeline\[spark\]"$'), spark_session(None, KEY):
        raise AssertionError("there must be no session")


def test_what_is_opened_here_is_closed_and_nobody_elses(
    spark: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql.connect.session import SparkSession

    monkeypatch.setenv("OWN_URL", spark.connect)
    with spark_session("OWN_URL", KEY) as opened:
        assert opened.sql("SELECT 1").toArrow().num_rows == 1
        assert "no Spark session is active" in refused(None)  # it is not the process's own
        theirs = SparkSession.builder.remote(spark.connect).getOrCreate()
        assert theirs is not opened
        with spark_session(None, KEY, given=opened) as given, spark_session(None, KEY) as active:
            assert given is opened
            assert active is theirs
    assert opened.is_stopped
    assert not theirs.is_stopped
    theirs.stop()


def test_no_proxy_of_the_environment_sees_records_of_this_machine(
    spark: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_URL", spark.connect)
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("no_proxy", raising=False)
    with spark_session("OWN_URL", KEY) as opened:
        assert opened.sql("SELECT 1").toArrow().num_rows == 1


def test_the_librarys_log_of_an_error_is_not_shown(
    spark: Cluster, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nor while another thread's session ends; and afterwards the library logs as before."""
    monkeypatch.setenv("OWN_URL", spark.connect)
    with spark_session("OWN_URL", KEY) as opened:
        with spark_session("OWN_URL", KEY):
            pass
        frame: Any = opened.sql(f"SELECT cast(concat('{CANARY}', id) AS int) FROM range(3)")
        with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
            frame.toArrow()
    assert CANARY not in "".join(capfd.readouterr())
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        log = logging.getLogger(name)
        assert type(log).__name__ == "PySparkLogger"  # else its own calls fail
        assert log.isEnabledFor(logging.ERROR)


_FRESH = """
import os, sys
from anon_pipeline.sources.spark_sessions import spark_session
with spark_session("OWN_URL", "source.spark") as opened:
    frame = opened.sql("SELECT cast(concat('Quillfeather-4711', id) AS int) FROM range(3)")
    try:
        frame.toArrow()
    except Exception as error:
        print(error.getCondition())
"""


def test_an_environment_that_asks_for_logs_gets_none_of_cells(spark: Cluster) -> None:
    paths = os.pathsep.join((str(ROOT), os.environ["ANON_PIPELINE_SPARK"]))
    environ = {"PYTHONPATH": paths, "OWN_URL": spark.connect, "SPARK_CONNECT_LOG_LEVEL": "debug"}
    words, environ = [sys.executable, "-c", _FRESH], {**os.environ, **environ}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "CAST_INVALID_INPUT\n"
    assert CANARY not in done.stderr
