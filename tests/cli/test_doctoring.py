"""The command `doctor`: a table or JSON, and its exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import validate

from anon_pipeline.cli import cli
from anon_pipeline.cli.documents import schema_of
from anon_pipeline.cli.installation import CHECKS


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("ANON_PIPELINE_", "DAGSTER_", "NUMBA_"))]:
        monkeypatch.delenv(name)


def test_it_ends_with_2_if_a_check_fails(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["doctor", "--project", str(tmp_path), "--json"])
    assert done.exit_code == 0
    found = json.loads(done.output)
    validate(found, schema_of("doctor"))
    assert [one["name"] for one in found["checks"]] == [check.name for check in CHECKS]
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault").chmod(0o755)
    done = CliRunner().invoke(cli, ["doctor", "--project", str(tmp_path)])
    assert done.exit_code == 2
    assert "vault_permissions" in done.output


def test_the_example_of_its_help_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(cli, ["doctor", "--help"]).output
    example = shown.split("Example:\n")[1].splitlines()[0].split()
    assert example[0] == "anon-pipeline"
    assert CliRunner().invoke(cli, example[1:]).exit_code == 0
