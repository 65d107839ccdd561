"""What docs/ci.md shows is true: its files are read, its commands run, its messages are those that come."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from anon_pipeline import Policy, anonymize
from anon_pipeline.limits.floor import read_floor, weaker_keys
from anon_pipeline.policy.defaults_files import NAME
from tests.cli.projects import Folder, folder, write_policy  # noqa: F401 - a fixture

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


@pytest.fixture
def released(tmp_path: Path, small_policy: Callable[..., Policy], small_people: People) -> Path:
    """A folder with a policy and the released file that the page's examples read."""
    write_policy(tmp_path / "policy.yaml", small_policy())
    anonymize(small_policy(), small_people()).frame.to_parquet(tmp_path / "released.parquet")
    return tmp_path


def run_in(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:  # noqa: F811
    """Run Python in a folder, with this package."""
    found = (
        os.environ
        | {"PYTHONPATH": str(ROOT), "GX_ANALYTICS_ENABLED": "false", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        | environment
    )
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=found, capture_output=True, text=True, check=False)


def test_its_tests_pass(released: Path) -> None:
    (text,) = blocks("python", "def test_a_table_in_memory")
    (released / "test_it.py").write_text(text)
    done = run_in(
        released, "-m", "pytest", "-p", "anon_pipeline.testing.pytest_plugin", "-p", "no:cacheprovider"
    )
    assert "2 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(("having", "printed"), [("pandera_schema", "[]"), ("get_context", "True")])
def test_its_examples_run(released: Path, having: str, printed: str) -> None:
    (text,) = blocks("python", having)
    (released / "example.py").write_text(text)
    done = run_in(released, "example.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == printed


def test_its_contract_refuses_originals(released: Path, small_people: People) -> None:
    small_people().to_parquet(released / "released.parquet")
    (text,) = blocks("python", "pandera_schema")
    (released / "example.py").write_text(text)
    done = run_in(released, "example.py")
    assert done.returncode == 1
    assert "SchemaErrors" in done.stderr


def scripts(document: dict[str, Any]) -> list[str]:
    """Return the shell scripts of a workflow of either service, but for the installation."""
    if "jobs" in document:
        steps = [step["run"] for job in document["jobs"].values() for step in job["steps"] if "run" in step]
    else:
        steps = [line for job in document.values() for line in job["script"]]
    assert steps.pop(0) == "pip install anon-pipeline"
    return steps


@pytest.fixture
def checkout(
    repository: Folder, small_policy: Callable[..., Policy], capsys: pytest.CaptureFixture[str]
) -> Callable[[Policy], dict[str, str]]:
    """Make a repository with a release; a change of the policy is its last commit. Return the environment."""
    root = repository.path
    assert repository.call("run", "policy.yaml").code == 0
    program = root / "bin" / "anon-pipeline"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom anon_pipeline.cli import main\nmain()\n")
    program.chmod(0o755)

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        command = ["git", *who, *arguments]
        return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.strip()

    def change(policy: Policy) -> dict[str, str]:
        git("init", "--quiet")
        git("add", "policy.yaml", "out")
        git("commit", "--quiet", "-m", "Release")
        base = git("rev-parse", "HEAD")
        write_policy(root / "policy.yaml", policy)
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        names = dict.fromkeys(("BASE", "CI_MERGE_REQUEST_DIFF_BASE_SHA"), base)
        return os.environ | names | {"PATH": path, "PYTHONPATH": str(ROOT)}

    return change


@pytest.mark.parametrize(
    ("service", "changes", "failing"),
    [
        ("pull_request", {}, []),
        ("pull_request", {"anonymize": {"suppression_limit": 0.2}}, ["diff"]),
        ("merge_request_event", {"anonymize": {"k": 2}}, ["check-policy", "diff"]),
    ],
)
def test_its_workflows_do_what_they_say(
    repository: Folder,
    checkout: Callable[[Policy], dict[str, str]],
    small_policy: Callable[..., Policy],
    service: str,
    changes: dict[str, Any],
    failing: list[str],
) -> None:
    environment = checkout(small_policy(**changes))
    (text,) = blocks("yaml", service)
    failed = []
    for script in scripts(yaml.safe_load(text)):
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=repository.path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            failed.append(next(name for name in ("check-policy", "diff", "check") if f"{name} " in script))
    assert failed == failing
