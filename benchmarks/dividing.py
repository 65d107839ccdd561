"""Time and memory of `divide` by kind of source: ``python -m benchmarks.dividing [--records N …]``.

The demo's patients (`benchmarks.scale`) as Parquet, which is read in place, and as sources that are copied
first: CSV, a DuckDB file, and, with ``--spark URL``, a cluster of Spark Connect on this machine. There are
partitions of a million records; with ``--release N`` their releases are made, N at a time, and collected.
With ``--recoder mondrian`` classes are made by cuts instead of levels; k = 30 and ε = 2, which pass the gate.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.process_tree import Usage
from benchmarks.scale import GENERATED, POLICY, STATED, command, environment, new_project, warm, write_source
from benchmarks.scale_table import memory, middle

RECORDS: Final = (1_000_000, 5_000_000)
_LIMITS: Final = "limits: {rows: 1000000000, file_bytes: 1000000000000, uncompressed_bytes: 1000000000000}"
SOURCES: Final = {
    "parquet": "path: patients.parquet, format: parquet",
    "csv": "path: patients.csv",
    "duckdb": "duckdb: {path: patients.duckdb, table: patients}",
    "spark": "spark: {url_env: BENCHMARK_SPARK, query: SELECT * FROM parquet.`FILE`}",
}
ANONYMIZED: Final[dict[str, dict[str, str]]] = {
    "ola": {},
    "mondrian": {"k: 10, recoder: ola": "k: 30, recoder: mondrian", "epsilon: 8": "epsilon: 2"},
}
"""What changes of the demo's policy, by recoder."""
_CSV: Final = """
import pyarrow.csv as csv
import pyarrow.parquet as pq
with pq.ParquetFile("patients.parquet") as file, csv.CSVWriter("patients.csv", file.schema_arrow) as to:
    for batch in file.iter_batches(65_536):
        to.write_batch(batch)
"""
_DUCKDB: Final = """
import duckdb
with duckdb.connect("patients.duckdb") as to:
    to.execute("CREATE TABLE patients AS FROM 'patients.parquet'")
"""
_WRITES: Final = {"csv": _CSV, "duckdb": _DUCKDB}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each source and number of records."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dividing", description=__doc__)
    parser.add_argument("--records", nargs="+", type=int, default=RECORDS, metavar="N")
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=["parquet", "csv", "duckdb"])
    parser.add_argument("--spark", metavar="URL", help="of a Spark Connect server on this machine")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--recoder", choices=ANONYMIZED, default="ola")
    parser.add_argument("--release", type=int, metavar="N", help="make the releases, N at a time")
    chosen = parser.parse_args(arguments)
    if "spark" in chosen.sources and chosen.spark is None:
        parser.error("spark needs --spark URL")
    print("| source | records | time | processor time | peak memory |\n|---|--:|--:|--:|--:|", flush=True)
    for records in sorted({*chosen.records}):
        with tempfile.TemporaryDirectory(prefix="anon_pipeline_dividing_") as named:
            folder = Path(named)
            write_source(records, folder)
            for source in chosen.sources:
                once = partial(
                    divided, folder, source, chosen.spark, recoder=chosen.recoder, jobs=chosen.release
                )
                used = measured(folder, source, chosen.repeats, once)
                print(row(source, records, used), flush=True)
    return 0


def measured(folder: Path, source: str, repeats: int, once: Callable[[], tuple[Usage, bool]]) -> Usage:
    """Return what dividing the table as one kind of source takes, the median of some times.

    Args:
        once: divides it; see `divided`.
    """
    if source in _WRITES:
        subprocess.run(
            [sys.executable, "-c", _WRITES[source]], cwd=folder, check=True, env=environment(folder)
        )
    used = middle([warm(once) for _ in range(repeats)])
    for path in folder.glob("patients.[cd]*"):
        path.unlink()
    return used


def divided(
    folder: Path, source: str, url: str | None, *, recoder: str = "ola", jobs: int | None = None
) -> tuple[Usage, bool]:
    """Divide the table; return what it took, and whether kernels were compiled.

    Args:
        url: of Spark Connect, for that source.
        recoder: of `ANONYMIZED`.
        jobs: releases made at a time; None: none is made.
    """
    words = ("divide", "policy.yaml", *(() if jobs is None else ("--release", "--jobs", str(jobs))))
    place = SOURCES[source].replace("FILE", str(folder / "patients.parquet"))
    policy = POLICY.read_text(encoding="utf-8").replace(
        GENERATED, f"source: {{{place}, {_LIMITS}}}\n  {STATED}"
    )
    for before, after in ANONYMIZED[recoder].items():
        if before not in policy:
            raise SystemExit(f"{POLICY.name}: must have {before}")
        policy = policy.replace(before, after)
    more = {} if url is None else {"BENCHMARK_SPARK": url, "PYTHONPATH": _with_pyspark(folder)}
    with new_project(folder, policy) as project:
        try:
            used, said = command(project, folder, words, more)
            kept, collected = folder.glob("partitions/*/*.parquet"), project.rglob("collection.json")
            if not any(kept if jobs is None else collected):
                raise SystemExit(f"{source}: must be divided")
        finally:
            shutil.rmtree(folder / "partitions", ignore_errors=True)
    return used, "compiling kernels" in said


def _with_pyspark(folder: Path) -> str:
    """Return the path of imports with that of this process: pyspark may be in a folder of its own."""
    return os.pathsep.join([environment(folder)["PYTHONPATH"], os.environ.get("PYTHONPATH", "")])


def row(source: str, records: int, used: Usage) -> str:
    """Return a row of the table."""
    return (
        f"| {source} | {records:,} | {used.seconds:.1f} s | {used.user + used.system:.1f} s "
        f"({used.user:.1f} + {used.system:.1f}) | {memory(used.peak)} |"
    )


if __name__ == "__main__":
    sys.exit(main())
