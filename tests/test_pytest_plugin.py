"""The plugin of pytest in projects of their own; found by its entry point, it loads nothing by itself."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import Policy, anonymize
from tests.cli.projects import write_policy
from tests.test_public import HEAVY, loaded_after

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[1]
PLUGIN = "anon_pipeline.pytest_plugin"


@pytest.fixture
def project(
    pytester: pytest.Pytester, small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> Callable[..., pytest.RunResult]:
    """Run a test file of a project that has a policy, a released file and the originals."""
    write_policy(pytester.path / "policy.yaml", small_policy())
    anonymize(small_policy(), small_people()).frame.to_parquet(pytester.path / "released.parquet")
    small_people().drop(columns="person").astype({"age": str}).to_parquet(pytester.path / "raw.parquet")

    def run(test: str, ini: str = "") -> pytest.RunResult:
        pytester.makeini(f"[pytest]\n{ini}\n")
        pytester.makepyfile(f"import pandas as pd\n\n\ndef test_it(assert_releasable):\n    {test}\n")
        return pytester.runpytest_inprocess("-p", PLUGIN, "-p", "no:randomly")

    return run


def test_a_release_passes_and_originals_fail(project: Callable[..., pytest.RunResult]) -> None:
    frame = "assert_releasable(pd.read_parquet({!r}), 'policy.yaml', allow_unmeasured=True)"
    project(frame.format("released.parquet")).assert_outcomes(passed=1)
    failed = project(frame.format("raw.parquet"))
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*AssertionError: not releasable by small:", "*k: 1 (at least 3) refused*"])
    assert "private_stage" not in failed.stdout.str()  # the place is the test's


def test_the_policy_of_the_configuration(project: Callable[..., pytest.RunResult]) -> None:
    ini = "anon_pipeline_policy = policy.yaml"
    project("assert_releasable('released.parquet', allow_unmeasured=True)", ini).assert_outcomes(passed=1)
    project("assert_releasable('raw.parquet', allow_unmeasured=True)", ini).assert_outcomes(failed=1)
    given = "assert_releasable('released.parquet', 'gone.yaml', allow_unmeasured=True)"
    project(given, ini).stdout.fnmatch_lines(["*the policy must be a readable UTF-8 file*"])


def test_pytest_finds_it() -> None:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert document["project"]["entry-points"]["pytest11"] == {"anon_pipeline": PLUGIN}


def test_loading_it_loads_nothing_heavy() -> None:
    assert not HEAVY & loaded_after(f"import {PLUGIN}")
