"""Sessions of Apache Spark: opened at a URL of Spark Connect, or one that this process has already.

Decision: docs/adr/0085-tables-of-spark.md.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.extras import import_extra, install_words
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
_URL = re.compile(
    r"sc://(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?"
    r"(?:/(?:;(?P<parameters>[A-Za-z0-9_.-]+=[!$-:<->@-~]*(?:;[A-Za-z0-9_.-]+=[!$-:<->@-~]*)*))?)?"
)
_HERE = ("localhost", "127.0.0.1", "[::1]")
_CLEAR = (
    "must hold a URL with use_ssl=true or a token, unless the server is on this machine: personal data must "
    "not travel in the clear"
)


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
    _import_library(connect=variable is not None)
    with hold_back_logs(*_LOGS):
        if variable is None:
            yield _active_session(key) if given is None else given
            return
        opened = _connect(url_in(variable, f"{key}.url_env"), f"{key}.url_env")
        try:
            yield opened
        finally:
            with suppress(Exception):  # the records are here, or refused
                _retry(opened, 0)
                opened.stop()


def _import_library(*, connect: bool) -> None:
    """Import what makes the loggers, before they are held back.

    Raises:
        InputError: the package is not installed, or lacks what Spark Connect needs.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_extra(_LIBRARY)
        if connect:
            with withhold_errors(
                f"the packages of Spark Connect must be installed ({install_words(_LIBRARY)})"
            ):
                import_module("pyspark.sql.connect.session")
    with suppress(ModuleNotFoundError):  # versions before 4.0, which have no loggers of their own
        loggers = import_module("pyspark.logger").PySparkLogger
        for name in _LOGS:
            loggers.getLogger(name)


def _active_session(key: str) -> Any:
    for kind in _SESSIONS:
        with suppress(Exception):  # it raises where there is none
            return sys.modules[kind].SparkSession.active()
    raise InputError(
        f"{key}: no Spark session is active. Set url_env to the name of an environment variable with the "
        f"URL of a Spark Connect server; in Dagster, the resource anon_spark can have a session instead"
    )


def _connect(url: str, key: str) -> Any:
    """Open a session at a URL, which may hold a token and is in no message.

    It becomes neither the default nor the active session of the process.
    """
    problem = connect_problem(url)
    if problem:
        raise InputError(f"{key}: the variable {problem}")
    with withhold_errors(f"{key}: the Spark Connect server could not be reached, or refused the URL's token"):
        builder = import_module("pyspark.sql.connect.client").DefaultChannelBuilder(url)
        if builder.host in _HERE:
            builder.setChannelOption("grpc.enable_http_proxy", 0)  # it would read what is not encrypted
        elif not builder.secure:
            raise InputError(f"{key}: the variable {_CLEAR}")
        _wait_for_answer(builder, key)
        opened = import_module("pyspark.sql.connect.session").SparkSession(connection=builder)
        _retry(opened, RETRIES)
        return opened


def _retry(opened: Any, times: int) -> None:
    """Set how often a request is repeated that nobody answers."""
    policy = import_module("pyspark.sql.connect.client.retries").DefaultPolicy
    opened.client.set_retry_policies([policy(max_retries=times)])


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

    What is accepted, pyspark must read in the same way: there is nothing that parsers take differently.

    >>> [connect_problem(f"sc://{rest}") is None for rest in ("localhost", "h:443/;token=t", "h:15002")]
    [True, True, False]
    """
    found = _URL.fullmatch(url)
    if found is None:
        return "must hold the URL of a Spark Connect server: sc://host:port/;use_ssl=true;token=…"
    said = dict(part.partition("=")[::2] for part in (found["parameters"] or "").split(";"))
    encrypted = said.get("use_ssl", "").lower() == "true" or said.get("token")
    return None if encrypted or found["host"] in _HERE else _CLEAR
