"""What docs/ci.md shows is true: its files are read, its commands run, its messages are those that come."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import Policy, anonymize
from anon_pipeline.limits.floor import read_floor, weaker_keys
from anon_pipeline.policy.defaults_files import NAME
from tests.cli.projects import Folder, folder, write_policy  # noqa: F401 - a fixture

pytest_plugins = ["pytester"]
People = Callable[..., pd.DataFrame]
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def blocks(language: str, *having: str) -> list[str]:
    """Return the page's blocks of a language that have some texts."""
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return [text for text in found if all(part in text for part in having)]


def test_its_floor_is_read_and_refuses_as_it_says(
    tmp_path: Path, small_policy: Callable[..., Policy]
) -> None:
    (text,) = blocks("yaml", "PolicyDefaults")
    (tmp_path / NAME).write_text(text)
    said = "\n".join(weaker_keys(small_policy(anonymize={"k": 5}), read_floor(tmp_path / NAME)))
    (shown,) = blocks("text", "error: anonymize.k")
    assert shown.splitlines()
    for line in shown.splitlines():
        assert line.removeprefix("error: ") in said


@pytest.fixture
def repository(folder: Callable[..., Folder]) -> Folder:  # noqa: F811
    return folder()


def test_its_diff_says_what_it_shows(repository: Folder, small_policy: Callable[..., Policy]) -> None:
    changed = small_policy(perturb={"epsilon": 3}, source={"path": "others.csv"}, gate={"linking_risk": 0.1})
    write_policy(repository.path / "changed.yaml", changed)
    done = repository.call("diff", "policy.yaml", "changed.yaml")
    (shown,) = blocks("text", "weakens protection")
    assert (done.code, done.out) == (1, shown)


def test_its_tests_pass(
    pytester: pytest.Pytester, small_policy: Callable[..., Policy], small_people: People
) -> None:
    write_policy(pytester.path / "policy.yaml", small_policy())
    anonymize(small_policy(), small_people()).frame.to_parquet(pytester.path / "released.parquet")
    (text,) = blocks("python", "def test_a_table_in_memory")
    pytester.makepyfile(text)
    pytester.runpytest_inprocess("-p", "anon_pipeline.pytest_plugin").assert_outcomes(passed=2)
