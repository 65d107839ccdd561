"""Every command with --json has a JSON Schema, and what it prints is as the schema says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import click
import pytest
from jsonschema import Draft202012Validator, validate

from anon_pipeline.cli import cli
from anon_pipeline.cli.documents import DOCUMENTS, schema_of
from tests.cli.projects import Folder

UNDOCUMENTED = {"utility"}
"""For the curator alone: docs/utility.md has its keys."""


def commands(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


def test_every_command_with_json_has_a_schema() -> None:
    with_json = {name for name, command in commands(cli) if any("--json" in p.opts for p in command.params)}
    assert with_json - UNDOCUMENTED == set(DOCUMENTS)


@pytest.mark.parametrize("command", DOCUMENTS)
def test_schemas_are_json_schemas(command: str, folder: Callable[..., Folder]) -> None:
    Draft202012Validator.check_schema(schema_of(command))
    done = folder().call("schema", command)
    assert (done.code, json.loads(done.out)) == (0, schema_of(command))


def test_json_of_verify(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call("run", "policy.yaml").code == 0
    done = made.call("verify", "out", "--policy", "policy.yaml", "--json")
    validate(json.loads(done.out), schema_of("verify"))
