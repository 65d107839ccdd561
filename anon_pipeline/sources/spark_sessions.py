"""Sessions of Apache Spark: opened at a URL of Spark Connect, or one that this process has already.

Decision: docs/adr/0085-tables-of-spark.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.extras import import_extra
from anon_pipeline.sources.library_errors import hold_back_logs, withhold_errors
from anon_pipeline.sources.urls import url_in

_LIBRARY = "pyspark"
_LOGS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark.sql.connect.logging")
"""Loggers of the library. The first two write to the terminal what an error says, cells included."""
_SESSIONS = ("pyspark.sql", "pyspark.sql.connect.session")
"""Modules whose sessions may be active: those of a cluster's driver, and those of Spark Connect."""
ANSWER_SECONDS = 30
"""Seconds to wait for the server."""
RETRIES = 8
"""Retries of a request when the server stops answering: about three minutes."""
_HERE = re.compile(r"sc://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:/.*)?")


@contextmanager
def spark_session(variable: str | None, key: str, *, given: Any = None) -> Iterator[Any]:
    """Give a session of Spark; log records and warnings of its library are held back while it is in use.

    One that is opened here is closed at the end; one that is there already is left as it is.

    Args:
        variable: name of the environment variable with a URL of Spark Connect; None: no session is opened.
        key: of the policy, for messages.
        given: the session to use if no variable is named; None: the one that is active in this process.
    Raises:
        InputError: the package is not installed; there is no session; the variable is not set, or holds
            another URL; nobody answers there.
    """
    with hold_back_logs(*_LOGS):
        import_extra(_LIBRARY)
        if variable is None:
            yield given or _active_session(key)
            return
        opened = _connect(url_in(variable, f"{key}.url_env"), f"{key}.url_env")
        try:
            yield opened
        finally:
            with suppress(Exception):  # the library tries for minutes, and the records are here or refused
                opened.stop()


def _active_session(key: str) -> Any:
    for kind in _SESSIONS:
        with suppress(Exception):  # it raises where there is none
            return sys.modules[kind].SparkSession.active()
    raise InputError(
        f"{key}: no Spark session is active. Set url_env to the name of an environment variable with the "
        f"URL of a Spark Connect server; in Dagster, the resource anon_spark can have a session instead"
    )


def _connect(url: str, key: str) -> Any:
    """Open a session at a URL, which may hold a token and is in no message."""
    problem = connect_problem(url)
    if problem:
        raise InputError(f"{key}: the variable {problem}")
    with withhold_errors(f"{key}: the Spark Connect server must be reachable, and accept the URL's token"):
        client = import_module("pyspark.sql.connect.client")
        builder = client.DefaultChannelBuilder(url)
        _wait_for_answer(builder, key)
        library = import_module("pyspark.sql.connect.session")
        opened = library.SparkSession.builder.channelBuilder(builder).create()
        policy = import_module("pyspark.sql.connect.client.retries").DefaultPolicy
        opened.client.set_retry_policies([policy(max_retries=RETRIES)])
        return opened


def _wait_for_answer(builder: Any, key: str) -> None:
    """Wait for the server; the library itself tries for ten minutes.

    Raises:
        InputError: nobody answers.
    """
    grpc = import_module("grpc")
    channel, answered = builder.toChannel(), False
    try:
        with suppress(grpc.FutureTimeoutError):
            grpc.channel_ready_future(channel).result(timeout=ANSWER_SECONDS)
            answered = True
    finally:
        channel.close()
    if not answered:
        raise InputError(f"{key}: the Spark Connect server did not answer within {ANSWER_SECONDS} s")


def connect_problem(url: str) -> str | None:
    """Return what is wrong with the URL of a Spark Connect server; None: nothing. It does not repeat the URL.

    >>> [connect_problem(f"sc://{rest}") is None for rest in ("localhost", "h:443/;token=t", "h:15002")]
    [True, True, False]
    """
    place, _, after = url.partition(";")
    if not place.startswith("sc://") or {*url} & {*"?#"}:
        return "must hold the URL of a Spark Connect server: sc://host:port/;use_ssl=true;token=…"
    said = dict(part.partition("=")[::2] for part in after.split(";"))
    encrypted = said.get("use_ssl", "").lower() == "true" or said.get("token")
    if not encrypted and _HERE.fullmatch(url) is None:
        return (
            "must hold a URL with use_ssl=true or a token, unless the server is on this machine: personal "
            "data must not travel in the clear"
        )
    return None
