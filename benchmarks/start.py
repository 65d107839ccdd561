"""Whole processes, from start to end: ``python -m benchmarks.start [--only NAME …] [--repeats N]``.

Belongs here: commands on the demo's policy in a folder of their own. Does not belong here: library calls
(`speed`). Each row has the processor time (user and system), which other work on the machine changes least,
and the time that passes; medians.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.scale import STATED

_ROOT: Final = Path(__file__).resolve().parents[1]
_PROGRAM: Final = "from anon_pipeline.cli import main; main()"
_POLICY: Final = "anon_pipeline/policy/templates/patients.yaml"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    name: for ``--only``. words: of the command. title: for people. target: seconds at most.
    cold: whether numba's cache is empty each time. records: of the generated source.
    """

    name: str
    words: tuple[str, ...]
    title: str
    target: float
    cold: bool = False
    records: int = 20_000


ROWS: Final = (
    Row("first", ("run", "policy.yaml"), "run of the demo, empty numba cache", 8.0, cold=True),
    Row("run", ("run", "policy.yaml"), "run of the demo, warm", 2.0),
    Row("tune", ("tune", "policy.yaml"), "tune of 49 points, two noisy columns", 4.0),
    Row("utility", ("utility", "policy.yaml"), "utility of the demo", 4.0),
    Row("million", ("run", "policy.yaml"), "run of a million patients", 10.0, records=1_000_000),
    Row("doctor", ("doctor",), "doctor", 2.0),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a target is missed by the time that passes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[row.name for row in ROWS], metavar="NAME")
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args(arguments)
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; medians of {chosen.repeats}")
    print(f"{'':45}{'processor':>11}{'passes':>11}{'target':>10}")
    missed = 0
    for row in ROWS:
        if chosen.only is None or row.name in chosen.only:
            missed += not _printed(row, chosen.repeats)
    return 1 if missed else 0


def _printed(row: Row, repeats: int) -> bool:
    """Time a row, print it, and return whether it meets its target."""
    times = []
    with tempfile.TemporaryDirectory(prefix="anon_pipeline_start_") as folder:
        policy = (_ROOT / _POLICY).read_text(encoding="utf-8").replace("20000", str(row.records))
        policy = policy.replace("\n  source:", f"\n  {STATED}\n  source:", 1)
        (Path(folder) / "policy.yaml").write_text(policy, encoding="utf-8")
        if not row.cold:
            _timed(row, Path(folder), None)
        for number in range(repeats):
            times.append(_timed(row, Path(folder), Path(folder) / f"kernels-{number}" if row.cold else None))
    processor, passes = (median(column) for column in zip(*times, strict=True))
    kept = bool(passes <= row.target)
    numbers = f"{processor:>9.2f} s{passes:>9.2f} s{row.target:>8.1f}"
    print(f"{row.title:45}{numbers} {'✓' if kept else '✗'}", flush=True)
    return kept


def _timed(row: Row, folder: Path, kernels: Path | None) -> tuple[float, float]:
    """Run the command once: seconds of processor time, and seconds that pass."""
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each run compiles all modules of the package
    if kernels is not None:
        environment["NUMBA_CACHE_DIR"] = str(kernels)
    start, quiet = time.perf_counter(), subprocess.DEVNULL
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *row.words], cwd=folder, env=environment, stdout=quiet, stderr=quiet
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(row.words)} must end with 0, got {process.returncode}.")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
