"""A cluster of Apache Spark for the tests: a master, two workers, a Spark Connect server, each a process.

It needs Java, and the package pyspark in a folder of its own, which ANON_PIPELINE_SPARK names: in the
environment of the tests great-expectations would load it in each of hundreds of processes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.watched import Program, free_port, start_watched, started_once, wait_until

_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
_START_SECONDS = 120
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Java for programs that run for minutes: what is compiled thoroughly is not used long enough."""


@dataclass(frozen=True)
class Cluster:
    """Where a cluster is.

    connect: URL of its Spark Connect server.
    master: URL of its master, for sessions of pyspark itself.
    folder: with its logs, its event log and its warehouse.
    """

    connect: str
    master: str
    folder: str


def spark_package() -> Path | None:
    """Return the folder of pyspark, which this process can then import; None where it is not there."""
    named = os.environ.get("ANON_PIPELINE_SPARK")
    if named is None or not (Path(named) / "pyspark" / "bin" / "spark-class").exists():
        return None
    if named not in sys.path:
        sys.path.append(named)
    return Path(named) / "pyspark"


def spark_cluster(shared: Path) -> Cluster | None:
    """Return the cluster of this run of the tests; the first worker to ask starts it.

    Args:
        shared: folder that all workers of this run share.
    """
    place = started_once(shared, "spark", _start)
    return None if place is None or spark_package() is None else Cluster(**json.loads(place))


def _start() -> str | None:
    home = spark_package()
    if home is None or shutil.which("java") is None:
        return None
    folder, master = Path(tempfile.mkdtemp(prefix="tests-spark-")), free_port()
    url = f"spark://127.0.0.1:{master}"
    program = str(home / "bin" / "spark-class")
    here = ("--host", "127.0.0.1", "--webui-port", "0")
    workers = [
        Program([program, _WORKER, *here, "-c", "2", "-m", "2g", "-d", str(folder / name), url])
        for name in ("worker-1", "worker-2")
    ]
    (folder / "events").mkdir()
    connect, port = connect_server(home, folder, url, "spark.cores.max=2", "spark.executor.cores=1")
    first = Program([program, _MASTER, *here, "--port", str(master)], master)
    programs = [first, *workers, connect]
    own = {"SPARK_LOCAL_DIRS": str(folder / "local")}  # where executors write what they keep
    start_watched(programs, folder, ends_by=signal.SIGTERM, environ=environment_of(home) | own)
    log = folder / "log"

    def has_executors() -> bool:
        """Tell whether both workers have started an executor."""
        return log.read_text(errors="replace").count("Registered executor") > 1

    wait_until(has_executors, log, "Spark", seconds=_START_SECONDS)
    return json.dumps(asdict(Cluster(f"sc://127.0.0.1:{port}", url, str(folder))))


def connect_server(home: Path, folder: Path, master: str, *settings: str) -> tuple[Program, int]:
    """Return the program of a Spark Connect server, and its port.

    Args:
        master: URL of the master.
        settings: further ones, as ``name=value``.
    """
    port = free_port()
    said = [
        f"spark.connect.grpc.binding.port={port}",
        "spark.connect.grpc.binding.address=127.0.0.1",
        "spark.executor.memory=600m",
        "spark.ui.enabled=false",
        "spark.eventLog.enabled=true",
        f"spark.eventLog.dir=file://{folder}/events",
        "spark.eventLog.compress=false",  # tests search it
        f"spark.sql.warehouse.dir={folder}/warehouse",
        "spark.io.encryption.enabled=true",
        *settings,
    ]
    words = [str(home / "bin" / "spark-submit"), "--master", master, "--class", _CONNECT]
    for one in said:
        words += ["--conf", one]
    return Program([*words, "spark-internal"], port), port


def tasks_started(log: Path) -> int:
    """Return how many tasks the driver that writes this log has started."""
    return log.read_text(errors="replace").count("Starting task ")


def executors(cluster: Cluster) -> list[int]:
    """Return the processes of a cluster's executors, by /proc: they run in the folders of its workers."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                words, folder = (place / "cmdline").read_bytes(), (place / "cwd").readlink()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend\0" in words and folder.is_relative_to(cluster.folder):
                found.append(int(place.name))
    return sorted(found)


def environment_of(home: Path) -> dict[str, str]:
    """Return the environment of Spark's programs."""
    own = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    return {**os.environ, **own, "JAVA_TOOL_OPTIONS": _SHORT_LIVED}


def in_catalog(spark: Cluster, folder: Path, records: pa.Table, name: str | None = None) -> str:
    """Put records into the cluster's catalog, by no statement that quotes them; return the table's name.

    Args:
        name: of the table; None: one after the folder, which has one table.
    """
    from pyspark.sql.connect.session import SparkSession

    pq.write_table(records, folder / "people.parquet")
    name = name or f"people_{folder.name.replace('-', '_')}"
    session = SparkSession.builder.remote(spark.connect).create()
    session.sql(f"CREATE TABLE {name} USING parquet LOCATION '{folder / 'people.parquet'}'")
    session.stop()
    return name
