"""The plugin of pytest in projects of their own; found by its entry point, it loads nothing by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import Policy, anonymize
from tests.cli.projects import write_policy
from tests.test_public import HEAVY, loaded_after

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "anon_pipeline.testing.pytest_plugin"
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Installed or not, the plugin is loaded once: by its name."""


@pytest.fixture
def project(
    tmp_path: Path, small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> Callable[..., str]:
    """Run a test file of a project that has a policy, a released file and the originals; return the output.

    In a process of its own: pytest's `pytester` forgets the modules that were imported meanwhile, and pandas
    cannot be imported twice.
    """
    write_policy(tmp_path / "policy.yaml", small_policy())
    anonymize(small_policy(), small_people()).frame.to_parquet(tmp_path / "released.parquet")
    small_people().drop(columns="person").astype({"age": str}).to_parquet(tmp_path / "raw.parquet")

    def run(*calls: str, ini: str = "") -> str:
        (tmp_path / "pytest.ini").write_text(f"[pytest]\n{ini}\n")
        tests = (f"def test_{i}(assert_releasable):\n    {call}\n" for i, call in enumerate(calls))
        (tmp_path / "test_it.py").write_text("import pandas as pd\n\n\n" + "\n\n".join(tests))
        command = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", "test_it.py"]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""} | ALONE
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        ).stdout

    return run


def test_a_release_passes_and_originals_fail(project: Callable[..., str]) -> None:
    call = "assert_releasable(pd.read_parquet({!r}), 'policy.yaml', allow_unmeasured=True)"
    said = project(call.format("released.parquet"), call.format("raw.parquet"))
    assert "1 failed, 1 passed" in said
    assert "AssertionError: not releasable by small:" in said
    assert "k: 1 (at least 3) refused" in said
    assert "private_stage" not in said  # the place is the test's


def test_the_policy_of_the_configuration(project: Callable[..., str]) -> None:
    said = project(
        "assert_releasable('released.parquet', allow_unmeasured=True)",
        "assert_releasable('raw.parquet', allow_unmeasured=True)",
        "assert_releasable('released.parquet', 'gone.yaml', allow_unmeasured=True)",
        ini="anon_pipeline_policy = policy.yaml",
    )
    assert "2 failed, 1 passed" in said
    assert "the policy must be a readable UTF-8 file" in said


def test_pytest_finds_it() -> None:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert document["project"]["entry-points"]["pytest11"] == {"anon_pipeline": PLUGIN}


def test_loading_it_loads_nothing_heavy() -> None:
    assert not HEAVY & loaded_after(f"import {PLUGIN}")
