"""Time and memory of a release over its records: ``python -m benchmarks.scale [--records N …]``.

Belongs here: the sources, the runs and their order. Does not belong here: measuring a process
(`process_tree`), the table and the growth (`scale_table`).

The demo's patients are written to a Parquet file once, and a release is made of it by ``anon-pipeline run``,
each time in a process and a project of its own. A run in which kernels are compiled is not counted. More than
ten million patients are several generated tables, one behind the other.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from anon_pipeline.base.scratch import SCRATCH
from benchmarks.process_tree import Usage, usage_of
from benchmarks.scale_table import HEADER, growth, memory, middle, picture, row

RECORDS: Final = (250_000, 500_000, 1_000_000, 2_000_000, 4_000_000)
FEW: Final = 2_000
"""Records of the release whose memory counts as that of the libraries."""

_ROOT: Final = Path(__file__).resolve().parents[1]
POLICY: Final = _ROOT / "anon_pipeline" / "policy" / "templates" / "patients.yaml"
GENERATED: Final = "source: {generate: patients, records: 20000, seed: 0}"
STATED: Final = "one_record_per_person: true"  # generated e-mail addresses repeat in large tables
_FILE: Final = "patients.parquet"
_COMPILING: Final = "compiling kernels"
_RUNS: Final = 3  # at most, until one compiles nothing
_PROGRAM: Final = "from anon_pipeline.cli import main; main()"
WRITE: Final = """
import sys
import pyarrow as pa
import pyarrow.parquet as pq
from anon_pipeline.sources.patients import patients
left, seed, writer = int(sys.argv[1]), 0, None
while left:
    table = pa.Table.from_pandas(patients(min(left, 10_000_000), seed=seed), preserve_index=False)
    writer = writer or pq.ParquetWriter(sys.argv[2], table.schema)
    writer.write_table(table)
    left, seed = left - len(table), seed + 1
writer.close()
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and the growth; draw the picture if asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--records", nargs="+", type=int, default=RECORDS, metavar="N")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="an SVG of time and memory")
    parser.add_argument("--scratch", type=Path, metavar="FOLDER", help="for ANON_PIPELINE_SCRATCH")
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="divide each table first, and release N partitions at a time"
    )
    chosen = parser.parse_args(arguments)
    if chosen.repeats < 1 or min(chosen.records) < 1:
        parser.error("--repeats and --records must be 1 or more")
    with tempfile.TemporaryDirectory(prefix="anon_pipeline_scale_") as folder:
        more = {} if chosen.scratch is None else {SCRATCH: str(chosen.scratch.absolute())}
        once = partial(release, Path(folder), more)
        if chosen.jobs is not None:
            once = partial(release_divided, Path(folder), more, jobs=chosen.jobs)
        points = measured(sorted({*chosen.records}), chosen.repeats, Path(folder), once)
    print(f"\n{growth(points)}".rstrip())
    if chosen.plot is not None:
        chosen.plot.write_text(picture(points), encoding="utf-8")
    return 0


def measured(
    sizes: Sequence[int], repeats: int, folder: Path, once: Callable[[], tuple[Usage, bool]]
) -> dict[int, Usage]:
    """Measure releases, and print each row of the table when it is known.

    Args:
        sizes: numbers of records, ascending.
        repeats: of each size; medians count.
        folder: for the sources and the projects; both are deleted when they were used.
        once: releases the table that is there; returns what it took, and whether kernels were compiled.
    """
    write_source(FEW, folder)
    release(folder)  # a warm-up: byte code, kernels, files of libraries
    libraries = warm(partial(release, folder))
    print(
        f"{platform.machine()}, {os.cpu_count()} CPUs, {_memory_of_machine()}, "
        f"load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}; medians of {repeats}. "
        f"The libraries, with {FEW:,} records: {memory(libraries.peak)}.\n\n{HEADER}",
        flush=True,
    )
    points = {}
    for records in sizes:
        write_source(records, folder)
        points[records] = middle([warm(once) for _ in range(repeats)])
        print(row(records, points[records], libraries.peak), flush=True)
    return points


def _memory_of_machine() -> str:
    return memory(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20)


def write_source(records: int, folder: Path) -> None:
    """Write generated patients to the file of a folder, in a process of its own."""
    command = [sys.executable, "-c", WRITE, str(records), str(folder / _FILE)]
    subprocess.run(command, cwd=folder, env=environment(folder), check=True)


def warm(once: Callable[[], tuple[Usage, bool]]) -> Usage:
    """Run a command until nothing is compiled.

    Args:
        once: returns what a run took, and whether kernels were compiled.
    Raises:
        SystemExit: each of three runs has compiled something; the cache of numba is not kept.
    """
    for _ in range(_RUNS):
        usage, compiled = once()
        if not compiled:
            return usage
    raise SystemExit(f"A run must find all kernels compiled after {_RUNS} runs. Set NUMBA_CACHE_DIR.")


def release(folder: Path, more: Mapping[str, str] | None = None) -> tuple[Usage, bool]:
    """Make a release of the file of a folder, as a user does."""
    return made(folder, policy_text(), ("run", "policy.yaml"), more)


def release_divided(folder: Path, more: Mapping[str, str] | None = None, *, jobs: int) -> tuple[Usage, bool]:
    """Divide the file of a folder, release its partitions so many at a time, and collect them."""
    try:
        return made(folder, policy_text(), ("divide", "policy.yaml", "--release", "--jobs", str(jobs)), more)
    finally:
        shutil.rmtree(folder / "partitions", ignore_errors=True)


def made(
    folder: Path, policy: str, words: Sequence[str], more: Mapping[str, str] | None = None
) -> tuple[Usage, bool]:
    """Run a command in a new project.

    Args:
        folder: of the sources; the project is in it, and is deleted.
        policy: YAML, written to `policy.yaml` in the project.
        words: the command and its arguments.
        more: variables of the environment.
    Returns:
        What it took, and whether kernels were compiled.
    """
    with new_project(folder, policy) as project:
        usage, said = command(project, folder, words, more)
    return usage, _COMPILING in said


@contextmanager
def new_project(folder: Path, policy: str) -> Iterator[Path]:
    """Make a project in a folder, with a policy, and delete it in the end."""
    project = folder / "project"
    project.mkdir()
    try:
        (project / "policy.yaml").write_text(policy, encoding="utf-8")
        yield project
    finally:
        shutil.rmtree(project)


def command(
    project: Path, folder: Path, words: Sequence[str], more: Mapping[str, str] | None
) -> tuple[Usage, str]:
    """Run a command in a project; what it took, and what it wrote to standard error."""
    return usage_of(
        [sys.executable, "-c", _PROGRAM, *words],
        folder=project,
        environment={**environment(folder), **(more or {})},
    )


def policy_text() -> str:
    """Return the demo's policy with the file as its source, of any size."""
    text = POLICY.read_text(encoding="utf-8")
    if GENERATED not in text:
        raise SystemExit(f"{POLICY.name} must have the line `{GENERATED}`.")
    limits = "{rows: 1_000_000_000, file_bytes: 1_000_000_000_000, uncompressed_bytes: 1_000_000_000_000}"
    return text.replace(
        GENERATED, f"source: {{path: {_FILE}, format: parquet, limits: {limits}}}\n  {STATED}"
    )


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a run: no setting of the user's own projects."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANON_PIPELINE_")}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)  # else each run compiles all modules of the package
    return {**kept, "PYTHONPATH": str(_ROOT), "ANON_PIPELINE_SOURCES": str(folder)}


if __name__ == "__main__":
    sys.exit(main())
