"""Sessions of Spark: which URLs are accepted, what is said where there is none, and what is left open."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from anon_pipeline import InputError
from anon_pipeline.sources import spark_sessions
from anon_pipeline.sources.spark_sessions import connect_problem, spark_session
from tests.spark_cluster import Cluster
from tests.watched import free_port

CANARY = "Quillfeather-4711"
KEY = "source.spark"


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
        "sc://localhost@example.org",
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
    assert "must be reachable, and accept the URL's token" in refused("OWN_URL")


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


def test_what_is_opened_here_is_closed_and_what_is_given_stays(
    spark: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_URL", spark.connect)
    with spark_session("OWN_URL", KEY) as opened:
        assert opened.sql("SELECT 1").toArrow().num_rows == 1
        with spark_session(None, KEY, given=opened) as given:
            assert given is opened
        assert not opened.is_stopped
        with spark_session(None, KEY) as active:
            assert active is opened
    assert opened.is_stopped
    assert "no Spark session is active" in refused(None)


def test_the_librarys_log_of_an_error_is_not_shown(
    spark: Cluster, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OWN_URL", spark.connect)
    with spark_session("OWN_URL", KEY) as opened:
        frame: Any = opened.sql(f"SELECT cast(concat('{CANARY}', id) AS int) FROM range(3)")
        with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
            frame.toArrow()
    assert CANARY not in "".join(capfd.readouterr())
