"""Coverage-guided fuzzing of everything that reads: `python -m tests.adversarial.fuzz --seconds 30`.

Each target runs in a process of its own under libFuzzer (atheris), which watches the Python code of the
package and of the YAML parser. What counts as a crash: any exception but a named one, a signal, more than 20
seconds for one input, more than 2 GiB of memory.
Belongs here: targets, seeds, counting. Does not belong here: the limits (`anon_pipeline.base.size_bounds`).
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["TARGETS", "FuzzResult", "run", "seeds"]

ROOT = Path(__file__).resolve().parents[2]
_WATCHED = [
    f"anon_pipeline.{room}"
    for room in ("policy", "hierarchy", "sources", "publish", "encode", "values", "limits", "gate", "digest")
]
_SECONDS, _MEGABYTES, _LENGTH = 20, 2048, 8192
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s*(\d+)")

POLICY = """\
type: anon_pipeline.AnonymizedRelease
attributes:
  name: small
  source: {path: people.csv, options: {sep: ";"}, limits: {rows: 100}}
  columns:
    person: {role: identifier, action: hash}
    age: {role: generalize, hierarchy: {intervals: [10, 20], bottom: 10, top: 90}}
    city: {role: generalize, hierarchy: {tree: {a: [b, c], d: [e]}}}
    zip: {role: generalize, hierarchy: {mask: [1, 3]}}
    day: {role: generalize, hierarchy: {dates: [month, year]}}
    height: {role: perturb, unit: cm, resolution: 0.5, output_bounds: [0, 250]}
    income: {role: sensitive, distance: ordered}
    illness: {role: sensitive, order: [low, high], distance: ordered}
    note: {role: insensitive}
  deidentify: {key_env: KEY}
  anonymize: {k: 3, recoder: ola, loss: granularity, suppression_limit: 0.1}
  perturb: {epsilon: 2}
  suppress: {confidence: 0.99}
  gate: {k: 3, suppression: 0.5, t_closeness: {income: 0.3}, l_diversity: {income: {kind: entropy, l: 2}}}
  publish: {to: out, format: csv, formulas: keep}
  schedule: {cron: 0 3 * * 1, timezone: Europe/Berlin, partitions: weekly, start: 2026-01-05}
"""
RELEASED = {
    "name": "small",
    "source": {"path": "people.csv", "limits": {"line_bytes": 4096, "rows": 1000}},
    "columns": {
        "age": {"role": "generalize", "hierarchy": {"intervals": [10]}},
        "day": {"role": "generalize", "hierarchy": {"dates": ["year"]}},
        "height": {"role": "perturb", "resolution": 1},
        "income": {"role": "sensitive", "distance": "ordered"},
        "illness": {"role": "sensitive"},
        "place": {
            "role": "sensitive",
            "distance": "hierarchical",
            "hierarchy": {"tree": {"a": ["b", "c"], "d": ["e"]}},
        },
        "note": {"role": "insensitive"},
    },
    "anonymize": {"k": 2},
    "perturb": {"epsilon": 1},
    "gate": {
        "t_closeness": {"illness": 0.9, "place": 0.9},
        "l_diversity": {"illness": {"l": 1}, "income": {"kind": "entropy", "l": 1}, "place": {"l": 1}},
    },
}
CSV = (
    b"age,day,height,income,illness,place,note\n"
    b'"[20, 30)","2020",170,10,"flu","b","\'=a"\n"[20, 30)","2020",171.0,-5,"gout","e",\n'
)


@dataclass(frozen=True, slots=True)
class FuzzResult:
    """What was tried and what broke.

    executions: inputs in all.
    crashes: targets that ended otherwise than by a named error.
    by_target: executions and crashes of each.
    """

    executions: int
    crashes: int
    by_target: Mapping[str, tuple[int, int]]


def _policy(folder: Path) -> Callable[[bytes], object]:
    from anon_pipeline.policy import parse_policy

    return lambda data: parse_policy(data.decode("utf-8", "surrogateescape"))


def _hierarchy(folder: Path) -> Callable[[bytes], object]:
    import pandas as pd

    from anon_pipeline.hierarchy import code_column
    from anon_pipeline.policy.hierarchies import Table

    column, spec = pd.Series(["a", "b", None], name="q"), Table(table="table.csv")

    def target(data: bytes) -> object:
        (folder / "table.csv").write_bytes(data)
        return code_column(column, spec, folder=folder)

    return target


def _csv(folder: Path) -> Callable[[bytes], object]:
    from anon_pipeline.base.digest import digest_frame
    from anon_pipeline.policy.files import Limits, SourceOptions
    from anon_pipeline.sources.files import read_csv

    ways = [
        SourceOptions(),
        SourceOptions(sep=";", decimal=","),
        SourceOptions(encoding="latin-1", missing=("?",)),
        SourceOptions(encoding="utf-16"),
        SourceOptions(encoding="utf-7", sep="\t"),
    ]
    limits = Limits(file_bytes=6000, line_bytes=2000, columns=50, rows=200, cell_bytes=500)

    def target(data: bytes) -> object:
        (folder / "data.csv").write_bytes(data[1:])
        way = ways[(data[0] if data else 0) % len(ways)]
        return digest_frame(read_csv(folder / "data.csv", options=way, limits=limits, numbers=["height"]))

    return target


def _parquet(folder: Path) -> Callable[[bytes], object]:
    from anon_pipeline.base.digest import digest_frame
    from anon_pipeline.policy.files import Limits
    from anon_pipeline.sources.parquet import read_parquet

    limits = Limits(columns=50, rows=100_000, cell_bytes=10_000, uncompressed_bytes=2**24)

    def target(data: bytes) -> object:
        (folder / "data.parquet").write_bytes(data)
        return digest_frame(read_parquet(folder / "data.parquet", limits=limits))

    return target


def _check(folder: Path) -> Callable[[bytes], object]:
    from anon_pipeline.gate import evaluate
    from anon_pipeline.policy import policy_from
    from anon_pipeline.publish.file_formats import read_release

    policy = policy_from(RELEASED)

    def target(data: bytes) -> object:
        path = folder / ("data.parquet" if data[:4] == b"PAR1" else "data.csv")
        path.write_bytes(data)
        return evaluate(read_release(path, policy), policy, hierarchies=folder)

    return target


TARGETS: dict[str, Callable[[Path], Callable[[bytes], object]]] = {
    "policy": _policy,
    "hierarchy": _hierarchy,
    "csv": _csv,
    "parquet": _parquet,
    "check": _check,
}


def _parquet_seeds() -> list[bytes]:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "age": ["[20, 30)"] * 4,
            "day": ["2020"] * 4,
            "height": [170.0, 171.0, 172.0, None],
            "income": [1, 2, 3, 4],
            "illness": ["flu", "gout", "flu", None],
            "place": ["b", "c", "e", "b"],
            "note": ["a", None, "c", "d"],
        }
    )
    days = pd.Series(["2020-01-01", None], dtype="datetime64[us]")
    other = pa.table({"d": days, "b": [True, None], "l": [[1], None]})
    found = []
    for content, options in ((table, {}), (table, {"compression": "zstd"}), (other, {"store_schema": False})):
        buffer = io.BytesIO()
        pq.write_table(content, buffer, **options)
        found.append(buffer.getvalue())
    return found


def seeds(target: str) -> list[bytes]:
    """Return inputs to begin with."""
    return {
        "policy": [POLICY.encode(), b"a: &a [1, 2]\nb: {<<: {c: *a}}\n"],
        "hierarchy": [b"a;x;*\nb;x;*\n", b'"a";"x;y";*\r\n\r\nb;"x;y";*\r\n', b"\xef\xbb\xbfa;*\nb;*"],
        "csv": [bytes([way]) + CSV for way in range(3)] + [b"\x03" + CSV.decode().encode("utf-16")],
        "parquet": _parquet_seeds(),
        "check": [CSV, _parquet_seeds()[0]],
    }[target]


def _work(target: str, arguments: Sequence[str]) -> None:
    """Fuzz one target in this process; never returns."""
    import atheris

    with atheris.instrument_imports(include=[*_WATCHED, "yaml"], enable_loader_override=False):
        from anon_pipeline.base.errors import AnonPipelineError, StageCrashed

        folder = Path(tempfile.mkdtemp(dir=os.environ["FUZZ_FOLDER"]))
        judge = TARGETS[target](folder)

    broken = "FUZZ_BROKEN" in os.environ  # so that a test can see a crash counted

    def one(data: bytes) -> None:
        if broken and len(data) > 3:
            raise ArithmeticError
        try:
            judge(data)
        except StageCrashed:
            raise
        except AnonPipelineError as error:
            str(error).encode()  # a message that cannot be printed is a crash, too

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def _fuzz(target: str, seconds: int, folder: Path, keep: Path | None) -> tuple[int, int]:
    """Fuzz one target in a process; return executions and crashes (0 or 1: the first one ends it)."""
    corpus = folder / target
    corpus.mkdir()
    for number, seed in enumerate(seeds(target)):
        (corpus / str(number)).write_bytes(seed)
    arguments = [
        str(corpus),
        f"-max_total_time={seconds}",
        f"-timeout={_SECONDS}",
        f"-rss_limit_mb={_MEGABYTES}",
        f"-max_len={_LENGTH}",
        f"-artifact_prefix={(keep or folder) / target}-",
        "-print_final_stats=1",
        "-verbosity=1",
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "tests.adversarial.fuzz", "--work", target, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "FUZZ_FOLDER": str(folder)},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    found = _EXECUTED.search(ended.stderr)
    if found is None and ended.returncode == 0:
        raise RuntimeError(f"{target}: libFuzzer has not said how many inputs it tried")
    if ended.returncode and keep is not None:
        (keep / f"{target}.log").write_text(ended.stdout + ended.stderr)
    return int(found[1]) if found else 0, int(ended.returncode != 0)


def run(seconds: float, *, targets: Sequence[str] = tuple(TARGETS), keep: Path | None = None) -> FuzzResult:
    """Fuzz the targets one after the other.

    Args:
        seconds: in all; each target gets an equal part, but one second at least (and some to start).
        targets: names.
        keep: folder for inputs that crash and what was printed then; None keeps nothing.
    Raises:
        RuntimeError: atheris cannot be imported, or did not run.
    """
    import importlib.util

    if importlib.util.find_spec("atheris") is None:
        raise RuntimeError("fuzzing needs atheris: pip install 'anon-pipeline[dev]'")
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    each = max(int(seconds / len(targets)), 1)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        found = {target: _fuzz(target, each, Path(folder), keep) for target in targets}
    return FuzzResult(
        sum(executions for executions, _ in found.values()),
        sum(crashes for _, crashes in found.values()),
        found,
    )


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--target", action="append", choices=list(TARGETS), default=None)
    parser.add_argument("--keep", type=Path, default=None, help="folder for inputs that crash")
    return parser.parse_args()


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        _work(sys.argv[2], sys.argv[3:])
        return
    given = _arguments()
    result = run(given.seconds, targets=given.target or tuple(TARGETS), keep=given.keep)
    for target, (executions, crashes) in result.by_target.items():
        print(f"{target:<10} {executions:>10,} executions  {crashes} crashes")
    print(f"{'all':<10} {result.executions:>10,} executions  {result.crashes} crashes")
    sys.exit(1 if result.crashes else 0)


if __name__ == "__main__":
    main()
