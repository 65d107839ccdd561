"""The command that makes the example release, or a table to practice on."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

from anon_pipeline.cli.examples import EXAMPLES
from anon_pipeline.sources.messy import customers
from tests.cli.projects import Folder


def test_demo_through_dagster(folder: Callable[..., Folder]) -> None:
    made = folder()
    done = made.call(*shlex.split(EXAMPLES["demo"])[1:])
    assert done.code == 0, done.err
    assert "… patients/k_anonymized" in done.err
    manifest = made.path / "demo/releases/patients/manifest.json"
    assert f"manifest  {manifest}" in done.out
    document = json.loads(manifest.read_text())
    assert document["gate"]["passed"] is True
    assert document["facts"]["raw"]["records"] == 20_000
    for verdict in document["gate"]["verdicts"]:
        assert verdict["limit"] in done.out


def test_demo_writes_a_messy_table_once(folder: Callable[..., Folder]) -> None:
    made = folder()
    done = made.call("demo", "--messy", "messy.csv")
    assert (done.code, done.out) == (
        0,
        "wrote messy.csv: 10,000 generated customers of a bank; nobody is meant\n",
    )
    file = made.path / "messy.csv"
    assert file.read_bytes() == customers()
    assert file.stat().st_mode & 0o777 == 0o600
    assert made.call("demo", "--messy", "messy.csv").code == 2
    assert "must be writable" in made.call("demo", "--messy", "gone/messy.csv").err
    assert made.released == []
