"""Every command's help has an example, and the examples run one after the other in one project.

Six need a state of their own, a crash, a key, a memory or a destination, or Dagster: their words are parsed
here, and the tests of these commands run them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator

import click
import pytest

from anon_pipeline.cli import cli
from anon_pipeline.cli.examples import EXAMPLES
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy.locations import Locations
from tests.cli.projects import Folder

ELSEWHERE = ["demo", "deliver", "ledger close", "ledger forget", "vault new-people", "vault rotate"]
OF_A_PROJECT = [name for name in EXAMPLES if name not in ("run", *ELSEWHERE)]


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
def test_the_words_of_an_example_are_those_of_its_command(
    name: str, folder: Callable[..., Folder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder().path)
    command = dict(commands(cli))[name]
    words = shlex.split(EXAMPLES[name])[1 + len(name.split()) :]
    assert command.make_context(name, words).command is command


def test_the_examples_run_one_after_the_other(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call(*shlex.split(EXAMPLES["run"])[1:]).code == 0
    [release_id] = {event.release_id for event in ledger_at(Locations.of(made.path).ledger).events()}
    for name in OF_A_PROJECT:
        words = shlex.split(EXAMPLES[name].replace("RELEASE_ID", str(release_id)))[1:]
        done = made.call(*words)
        assert done.code == 0, (name, done)
        assert done.out, name
