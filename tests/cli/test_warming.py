"""The command `warmup`: compiling is announced, with a count, and done once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from anon_pipeline.cli import cli, warmup_releases
from anon_pipeline.policy.templates import template

ROOT = Path(warmup_releases.__file__).parents[2]


def test_a_run_after_warmup_compiles_nothing(tmp_path: Path) -> None:
    """Warm an empty cache for a policy, then run that: compiling is announced with a count, once."""
    (tmp_path / "policy.yaml").write_text(template("patients").replace("20000", "3000"), encoding="utf-8")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": str(ROOT)}

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from anon_pipeline.cli import main; main()", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    first = call("warmup", "policy.yaml")
    assert first.returncode == 0, first.stderr
    assert "compiling kernels, once on a machine: 1\n" in first.stderr
    assert "compiling kernels, once on a machine: 10\n" in first.stderr
    assert first.stdout.startswith("compiled  ")
    assert first.stdout.endswith(" kernels\n")
    made = call("run", "policy.yaml")
    assert "compiling" not in made.stderr
    assert made.returncode in {0, 1}, made.stderr  # so few patients may be refused
    assert call("warmup", "policy.yaml").stdout == "compiled  nothing: all kernels were on disk\n"


def test_the_example_of_its_help_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup_releases, "anonymize", lambda *_: None)
    monkeypatch.setattr(warmup_releases, "tune", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    Path("policy.yaml").write_text(template("patients"), encoding="utf-8")
    shown = CliRunner().invoke(cli, ["warmup", "--help"]).output
    example = shown.split("Example:\n")[1].splitlines()[0].split()
    assert example[0] == "anon-pipeline"
    done = CliRunner().invoke(cli, example[1:])
    assert (done.exit_code, done.stdout) == (0, "compiled  nothing: all kernels were on disk\n")
