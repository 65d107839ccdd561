"""A messy table of two million rows through `init --yes` and `run`: ``python -m benchmarks.messy [RECORDS]``.

Belongs here: whole processes on the register of `tests.messy`, unedited. Does not belong here: what was
guessed (`tests/docs/test_init.py`), small tables (`tests/draft/test_draft.py`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow.parquet as pq

from anon_pipeline.policy.open_questions import MARK
from tests.messy import SEED, register

_ROOT: Final = Path(__file__).resolve().parents[1]
_PROGRAM: Final = "from anon_pipeline.cli import main; main()"
_RECORDS: Final = 2_000_000
_COMMANDS: Final = (("init", "register.csv", "--yes"), ("run", "register.yaml"))


@dataclass(frozen=True, slots=True)
class _Done:
    """How a command ended: exit code, seconds of processor time and that pass, largest memory in GiB."""

    code: int
    processor: float
    passes: float
    memory: float


def main(arguments: Sequence[str]) -> int:
    """Write the table, run both commands, print a row for each; return the first exit code that is not 0.

    Between them the questions are accepted.
    """
    records = int(arguments[0]) if arguments else _RECORDS
    with tempfile.TemporaryDirectory(prefix="anon_pipeline_messy_") as above:
        folder = Path(above)
        size = register(np.random.default_rng(SEED), records).write(folder).stat().st_size
        print(
            f"{records:,} records, {size / 1e6:,.0f} MB; {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"
        )
        print(f"{'':30}{'processor':>12}{'passes':>10}{'memory':>11}")
        for words in _COMMANDS:
            done = _run(words, folder)
            numbers = f"{done.processor:>10.1f} s{done.passes:>8.1f} s{done.memory:>7.1f} GiB"
            print(f"{' '.join(words):30}{numbers}  exit code {done.code}", flush=True)
            if done.code:
                return done.code
            _accept(folder / "register.yaml")
        print(f"{_released(folder / 'releases' / 'register'):,} records released")
    return 0


def _accept(policy: Path) -> None:
    """Remove the questions of a policy, as whoever accepts what `init` proposed does."""
    policy.write_text(policy.read_text().replace(MARK, "# Accepted:"))


def _run(words: Sequence[str], folder: Path) -> _Done:
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    passes = time.perf_counter() - start
    return _Done(process.returncode, usage.ru_utime + usage.ru_stime, passes, usage.ru_maxrss / 2**20)


def _released(folder: Path) -> int:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return int(pq.read_metadata(folder / manifest["files"][0]["name"]).num_rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
