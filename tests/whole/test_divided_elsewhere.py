"""Partitions of a divided table on two machines: two projects, each with a vault of its own.

They share the partitions' files, the folder of releases and a ledger in PostgreSQL, and nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from anon_pipeline.division.divide import divide
from anon_pipeline.policy import load_policy
from anon_pipeline.policy.locations import Locations
from tests.conftest import SMALL, merged

PROGRAM = "from anon_pipeline.cli import main; main()"
People = Callable[..., pd.DataFrame]


def begin(machine: Path, shared: Path, ledger: str, *words: str) -> subprocess.Popen[str]:
    """Run the command line on one of the machines."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANON_PIPELINE_")}
    environment |= {
        "ANON_PIPELINE_SOURCES": str(shared),
        "ANON_PIPELINE_RELEASES": str(shared),
        "ANON_PIPELINE_LEDGER": ledger,
    }
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=machine,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_machines_release_partitions_at_once(
    tmp_path: Path, small_people: People, postgres_url: str
) -> None:
    shared, machines = tmp_path / "shared", [tmp_path / "one", tmp_path / "two"]
    for folder in (shared, *machines):
        folder.mkdir()
    small_people(1_200).to_parquet(shared / "people.parquet", index=False)
    changes: dict[str, Any] = {
        "source": {"path": "people.parquet", "format": "parquet"},
        "budget": {"epsilon": 2},  # of one release
        "one_record_per_person": True,
    }
    path = machines[0] / "policy.yaml"
    written = {"type": "anon_pipeline.AnonymizedRelease", "attributes": merged(SMALL, changes)}
    path.write_text(yaml.safe_dump(written))
    places = Locations.of(machines[0], {"ANON_PIPELINE_SOURCES": str(shared)})
    found = divide(path, load_policy(path), places, parts=4)
    shutil.copy(found.policy, machines[1] / found.policy.name)
    for keys in (found.keys[:2], found.keys[2:]):
        runs = [
            begin(machine, shared, postgres_url, "run", found.policy.name, "--partition", key)
            for machine, key in zip(machines, keys, strict=True)
        ]
        for run in runs:
            out, err = run.communicate()
            assert run.returncode == 0, err
            assert "ε = 2" in out
    manifests = [json.loads(one.read_text()) for one in sorted(shared.glob("out_divided/*/*/manifest.json"))]
    assert [one["partition"] for one in manifests] == [*found.keys]
    listed = begin(machines[1], shared, postgres_url, "ledger", "list", "--json").communicate()[0]
    states = [one["state"] for one in json.loads(listed)["releases"]]
    assert states == ["published"] * 4
    # The same people again, as another division: beyond the budget on either machine.
    again = divide(path, load_policy(path), places, parts=2)  # its own ledger knows nothing of the others
    refused = begin(machines[0], shared, postgres_url, "run", again.policy.name, "--partition", again.keys[0])
    assert "may spend ε = 2 per record: spent 2, requested 2" in refused.communicate()[1]
    assert refused.returncode == 1
