"""Every command, its exit codes, and every bad input of the table in the issue."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.projects import Folder

CANARY = "CANARY-7f3a"


def test_usage_mistakes_exit_2(folder: Callable[..., Folder]) -> None:
    assert folder().call("run").code == 2
    assert folder().call("nonsense").code == 2


def test_a_bug_exits_with_its_own_code_and_without_its_data(
    folder: Callable[..., Folder], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise KeyError(CANARY)

    monkeypatch.setattr("anon_pipeline.release.read_source", crash)
    done = folder().call("run", "policy.yaml")
    assert done.code == 70
    assert "crashed with KeyError at" in done.err
    assert CANARY not in done.err


def test_the_installed_command(tmp_path: Path) -> None:
    program = Path(sys.executable).parent / "anon-pipeline"
    done = subprocess.run([str(program), "--help"], capture_output=True, text=True, check=True, cwd=tmp_path)
    for command in ("run", "check", "schema", "demo"):
        assert f"  {command} " in done.stdout
    assert "3 infeasible" in done.stdout
