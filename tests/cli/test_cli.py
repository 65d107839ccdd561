"""Every command, its exit codes, and every bad input of the table in the issue."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline import Policy
from anon_pipeline.cli import cli
from anon_pipeline.cli.examples import EXAMPLES
from tests.cli.projects import Folder, write_policy

CANARY = "CANARY-7f3a"


def test_usage_mistakes_exit_2(folder: Callable[..., Folder]) -> None:
    assert folder().call("run").code == 2
    assert folder().call("nonsense").code == 2


def test_a_bug_exits_with_its_own_code_and_without_its_data(
    folder: Callable[..., Folder], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise KeyError(CANARY)

    monkeypatch.setattr("anon_pipeline.publish.whole_chain.read_source", crash)
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


def _examples() -> list[str]:
    """Return the lines of commands' help that call this program."""
    shown = [command.epilog or "" for command in cli.commands.values()]
    lines = (line.strip() for text in shown for line in text.splitlines())
    return [line for line in lines if line.startswith("anon-pipeline ")]


@pytest.mark.parametrize("line", [line for line in _examples() if line not in EXAMPLES.values()])
def test_the_examples_of_the_help_run(
    folder: Callable[..., Folder], small_policy: Callable[..., Policy], line: str
) -> None:
    made = folder(publish={"to": "releases/small"})
    write_policy(made.path / "before.yaml", small_policy(publish={"to": "releases/small"}))
    if " check " in line:
        assert made.call("run", "policy.yaml").code == 0
    _, *arguments = shlex.split(line.partition(" > ")[0])
    done = made.call(*arguments)
    assert done.code == 0, done.err


def test_the_commands_of_ci_have_examples() -> None:
    assert {line.split()[1] for line in _examples()} >= {"check", "check-policy", "diff", "schema"}
