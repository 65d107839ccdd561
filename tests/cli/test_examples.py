"""Every command's help has an example, and the examples run one after the other in one project.

Those that need a state of their own run elsewhere: after a refusal or with a key, a memory or a destination
in the tests of their commands, through Dagster in that of the example release.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from anon_pipeline.cli import cli
from anon_pipeline.cli.examples import EXAMPLES
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy.locations import Locations
from tests.cli.projects import Folder

ELSEWHERE = ["collect", "compare-kinds", "demo", "deliver", "divide", "ledger close", "vault rotate"]
WITH_A_MEMORY = ["vault new-people", "ledger forget"]
OF_A_PROJECT = [name for name in EXAMPLES if name not in ("run", *ELSEWHERE, *WITH_A_MEMORY)]


def commands(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, f"{path} {name}".strip())
    if not isinstance(command, click.Group):
        yield path, command


@pytest.mark.parametrize(("name", "command"), list(commands(cli)), ids=lambda value: str(value)[:20])
def test_every_help_has_an_example_of_its_command(name: str, command: click.Command) -> None:
    shown = command.get_help(click.Context(command, info_name=name))
    assert f"anon-pipeline {name}" in shown.split("Example:\n")[1]


def test_the_table_has_no_other_command() -> None:
    assert set(EXAMPLES) <= {name for name, _ in commands(cli)}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_tests_of_a_command_run_its_example(name: str) -> None:
    tests = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    assert any(f'shlex.split(EXAMPLES["{name}"]' in text for text in tests)


def test_the_examples_about_a_memory(folder: Callable[..., Folder], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    made = folder(
        deidentify={"key_env": "ANON_TEST_KEY"},
        record_key="person",
        suppress=None,
        gate={"suppression": None, "cross_release_k": 3},
    )
    assert made.call("run", "policy.yaml").code == 0
    others, forgotten = (shlex.split(EXAMPLES[name])[1:] for name in WITH_A_MEMORY)
    assert made.call(*others).out == "small: releases before 0.2 whose people need not be recognized: 0\n"
    (made.path / "vault/small/memory.parquet").unlink()
    refused = made.call("run", "policy.yaml")
    assert (refused.code, "run anon-pipeline ledger forget POLICY" in refused.err) == (2, True)
    (made.path / "out").rename(made.path / "away")
    done = made.call(*forgotten)
    assert (done.code, done.out) == (0, "small: releases that the memory no longer has to contain: 1\n")
    assert made.call("run", "policy.yaml").code == 0


def test_the_examples_run_one_after_the_other(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call(*shlex.split(EXAMPLES["run"])[1:]).code == 0
    [release_id] = {event.release_id for event in ledger_at(Locations.of(made.path).ledger).events()}
    for name in OF_A_PROJECT:
        words = shlex.split(EXAMPLES[name].replace("RELEASE_ID", str(release_id)))[1:]
        done = made.call(*words)
        assert done.code == 0, (name, done)
        assert done.out, name
