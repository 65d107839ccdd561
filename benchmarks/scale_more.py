"""What needs more memory than the demo's release: ``python -m benchmarks.scale_more [--records N]``.

Belongs here: variations of the demo's release, and other commands, on a table of one size. Does not belong
here: growth with records (`scale`), measuring a process (`process_tree`).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from benchmarks.process_tree import Usage
from benchmarks.scale import environment, made, policy_text, warm
from benchmarks.scale_table import memory

RECORDS: Final = 1_000_000
_NUMBERS: Final = tuple(f"number_{i}" for i in range(10))
_WRITE: Final = """
import sys
import numpy as np, pandas as pd
from anon_pipeline.sources.patients import patients
records, kind, file = int(sys.argv[1]), sys.argv[2], sys.argv[3]
frame, rng = patients(records), np.random.default_rng(0)
if kind == "numbers":
    frame = frame.assign(**{f"number_{i}": rng.integers(0, 10, records) for i in range(10)})
if kind == "texts":
    letters = rng.integers(97, 123, (records, 100), dtype=np.uint8)
    frame = frame.assign(note=pd.array([bytes(row).decode() for row in letters], dtype="str"))
frame.to_csv(file, index=False) if file.endswith("csv") else frame.to_parquet(file, index=False)
"""


@dataclass(frozen=True, slots=True)
class Variation:
    """A command, and how its policy differs from the demo's.

    title: for people. change: of the policy's attributes. words: the command. kind: of the table.
    form: of its file.
    """

    title: str
    change: Mapping[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ("run", "policy.yaml")
    kind: str = "patients"
    form: str = "parquet"


_KEY: Final = {"deidentify": {"key_env": "SCALE_KEY"}}
VARIATIONS: Final = (
    Variation("the demo's release"),
    Variation("source in CSV", form="csv"),
    Variation("published as CSV, formulas neutralized", {"publish": {"format": "csv"}}),
    Variation(
        "ten more columns that are released, digits",
        {"columns": {name: {"role": "insensitive"} for name in _NUMBERS}},
        kind="numbers",
    ),
    Variation(
        "one more text column that is dropped, 100 letters, all different",
        {"columns": {"note": {"role": "identifier", "action": "drop"}}},
        kind="texts",
    ),
    Variation("`person` (`rows_per_person: 1`)", {"person": "ssn", "rows_per_person": 1, **_KEY}),
    Variation("`record_key`, first release", {"record_key": "ssn", **_KEY}),
    Variation("`rehearse`", words=("rehearse", "policy.yaml")),
    Variation("`utility`", words=("utility", "policy.yaml")),
    Variation("`tune`", words=("tune", "policy.yaml")),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table of Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_more", description=__doc__)
    parser.add_argument("--records", type=int, default=RECORDS)
    records = parser.parse_args(arguments).records
    print(f"{records:,} records.\n\n| what | peak memory | processor time |\n|---|--:|--:|", flush=True)
    first: Usage | None = None
    with tempfile.TemporaryDirectory(prefix="anon_pipeline_scale_") as folder:
        for variation in VARIATIONS:
            usage = measured(variation, records, Path(folder))
            first = first or usage
            print(line(variation.title, usage, first), flush=True)
    return 0


def line(title: str, usage: Usage, first: Usage) -> str:
    """Write a row of the table: the numbers, and by which factor they differ from the first row's."""
    if usage is first:
        return f"| {title} | {memory(usage.peak)} | {usage.processor:.1f} s |"
    return (
        f"| {title} | {memory(usage.peak)} (× {usage.peak / first.peak:.2f}) "
        f"| {usage.processor:.1f} s (× {usage.processor / first.processor:.2f}) |"
    )


def measured(variation: Variation, records: int, folder: Path) -> Usage:
    """Run a variation once, without compiling, on a table of so many records."""
    file = folder / f"{variation.kind}.{variation.form}"
    if not file.exists():
        command = [sys.executable, "-c", _WRITE, str(records), variation.kind, str(file)]
        subprocess.run(command, cwd=folder, env=environment(folder), check=True)
    text = changed_policy(variation)
    return warm(lambda: made(folder, text, variation.words, {"SCALE_KEY": "not a secret, of a benchmark"}))


def changed_policy(variation: Variation) -> str:
    """Return the policy of a variation, as YAML."""
    policy = yaml.safe_load(policy_text())
    if variation.change.keys() & {"person", "record_key"}:  # which say who the people are
        del policy["attributes"]["one_record_per_person"]
    source = {"source": {"path": f"{variation.kind}.{variation.form}", "format": variation.form}}
    return yaml.safe_dump(
        {**policy, "attributes": _merged(policy["attributes"], {**variation.change, **source})}
    )


def _merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping with another one's values, inner mappings merged."""
    both = {
        name: _merged(base[name], value)
        if isinstance(value, Mapping) and isinstance(base.get(name), Mapping)
        else value
        for name, value in change.items()
    }
    return {**base, **both}


if __name__ == "__main__":
    sys.exit(main())
