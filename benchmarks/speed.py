"""The speed table: ``python -m benchmarks.speed [--only NAME …]``.

Belongs here: rows, targets, printing. Does not belong here: what a row times (`rows`).

Every row runs in a fresh process, so that its peak memory is its own. This module imports nothing heavy: a
child process starts its count of peak memory at its parent's size.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

_ROOT: Final = Path(__file__).resolve().parents[1]
_STARTS: Final = 10
_IMPORT = "import time; start = time.perf_counter(); import anon_pipeline; print(time.perf_counter() - start)"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    name: of the work in `rows`, or of a command below.
    title: for people.
    target: seconds at most, or millions a second at least; None where nothing is promised.
    rate: whether it is millions a second.
    adult: whether it needs the real data.
    """

    name: str
    title: str
    target: float | None = None
    rate: bool = False
    adult: bool = False


ROWS: Final = (
    Row("import", "import anon_pipeline", 0.020),
    Row("help", "anon-pipeline --help", 0.400),
    Row("chain", "chain on Adult, set (a) by table and height, OLA k = 10", 0.5, adult=True),
    Row("chain_gate", "the same with the gate", adult=True),
    Row("report", "reports of that release, public and internal", 3.0, adult=True),
    Row("encode", "encoding set (b), 8 columns", adult=True),
    Row("precision", "optimal on set (b), k = 5, 5 %, precision", 0.25, adult=True),
    Row("precision_encoding", "the same with encoding", 0.25, adult=True),
    Row("granularity", "optimal on set (b), k = 5, 5 %, granularity", 0.25, adult=True),
    Row("granularity_encoding", "the same with encoding", 0.25, adult=True),
    Row("mondrian", "Mondrian k = 10, Adult, 3 numbers and 5 categories", 0.15, adult=True),
    Row("million_5", "1,000,000 records, 5,000 classes: perturb, shuffle, suppress", 3.0),
    Row("million_100", "1,000,000 records, 100,000 classes: the same", 3.0),
    Row("noise", "noise, one diameter (300), ε = 2", 5.0, rate=True),
    Row("noise_mixed", "noise, diameters 1 to 599, ε = 2", 5.0, rate=True),
    Row("staircase", "staircase noise, the same", 5.0, rate=True),
    Row("gaussian", "discrete Gaussian noise, the same, δ = 1e-6", rate=True),
    Row("uniform", "uniform noise, the same", 5.0, rate=True),
    Row("categories", "randomized response, 10 values, ε = 2", rate=True),
    Row("categories_tree", "exponential mechanism, 900 values in a tree, ε = 2", rate=True),
    Row("tune", "tune: seven k × seven ε on Adult, confidence 0.99", 3.0, adult=True),
    Row("patients", "chain on 1,000,000 generated patients, default policy"),
)
_COMMANDS: Final = {
    "import": [sys.executable, "-c", _IMPORT],
    "help": [str(Path(sys.executable).with_name("anon-pipeline")), "--help"],
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[row.name for row in ROWS], metavar="NAME")
    chosen = parser.parse_args(arguments).only
    print(machine())
    print(f"{'':63}{'median':>11}{'least':>11}{'most':>11}{'target':>12}   {'peak MiB (data, libraries)'}")
    missed = 0
    for row in ROWS:
        if chosen is not None and row.name not in chosen:
            continue
        if row.adult and not has_adult():
            print(f"{row.title:63}   skipped: needs the real data (../shared/data or ANON_PIPELINE_DATA)")
            continue
        missed += not _print_row(row, measured(row))
    return 1 if missed else 0


def machine() -> str:
    """Say what the numbers were measured on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "pandas", "numba"))
    load = os.getloadavg()[0]
    return (
        f"Library calls, data in memory, numba warm; each row in a process of its own.\n"
        f"{platform.machine()}, {os.cpu_count()} CPUs, load {load:.1f}; Python {platform.python_version()}, "
        f"{packages}\n"
    )


def has_adult() -> bool:
    """Tell whether Adult is where `adult.find_adult` looks, without importing it."""
    folder = Path(os.environ.get("ANON_PIPELINE_DATA", _ROOT.parent / "shared" / "data"))
    return (folder / "adult" / "adult.csv").is_file()


def measured(row: Row) -> dict[str, Any]:
    """Run a row in processes of its own.

    Args:
        row: one of `ROWS`.
    Returns:
        seconds (one per repeat), parts, amount, and memory in MiB: before, peak.
    Raises:
        SystemExit: the process failed; its own message is on standard error.
    """
    if row.name in _COMMANDS:
        process(_COMMANDS[row.name])  # untimed: byte code and disk cache
        starts = [process(_COMMANDS[row.name]) for _ in range(_STARTS)]
        seconds = [float(text) if row.name == "import" else wall for text, wall, _ in starts]
        return {
            "seconds": seconds,
            "parts": {},
            "amount": 0,
            "before": None,
            "peak": max(peak for *_, peak in starts),
        }
    found: dict[str, Any] = json.loads(process([sys.executable, "-m", "benchmarks.rows", row.name])[0])
    return found


def process(command: Sequence[str]) -> tuple[str, float, float]:
    """Run a command in the project's folder: its output, seconds from start to end, peak memory in MiB."""
    start = perf_counter()
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as process:
        text = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[1:])} must end with 0, got {process.returncode}.")
    return text, perf_counter() - start, usage.ru_maxrss / 1024


def _print_row(row: Row, found: dict[str, Any]) -> bool:
    """Print one row and return whether it meets its target."""
    values = [found["amount"] / s / 1e6 if row.rate else s for s in found["seconds"]]
    middle = median(values)
    kept = row.target is None or (middle >= row.target if row.rate else middle <= row.target)
    target = "" if row.target is None else f"{_text(row.target, row)} {'✓' if kept else '✗'}"
    before = "" if found["before"] is None else f" ({found['before']:.0f})"
    numbers = "".join(f"{_text(value, row):>11}" for value in (middle, min(values), max(values)))
    print(f"{row.title:63}{numbers}{target:>12}   {found['peak']:.0f}{before}", flush=True)
    if found["parts"]:
        print("    " + ", ".join(f"{part} {_text(s, row)}" for part, s in found["parts"].items()))
    return kept


def _text(value: float, row: Row) -> str:
    if row.rate:
        return f"{value:.1f} M/s"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"


if __name__ == "__main__":
    sys.exit(main())
