"""Documents of the groups: one for each command of `ledger` and `vault` that prints JSON."""

from __future__ import annotations

import click
import jsonschema
import pytest

from anon_pipeline.cli.group_documents import OF_GROUPS
from anon_pipeline.cli.ledgering import ledger
from anon_pipeline.cli.vaulting import vault


def test_each_command_that_prints_json_has_one() -> None:
    printing = {
        f"{group.name} {name}"
        for group in (ledger, vault)
        for name, command in group.commands.items()
        if any(
            isinstance(one, click.Option) and "--json" in one.opts and one.expose_value
            for one in command.params
        )
    }
    assert {*OF_GROUPS} == printing


@pytest.mark.parametrize("name", OF_GROUPS)
def test_it_is_a_schema_of_an_object(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(OF_GROUPS[name])
    assert OF_GROUPS[name]["type"] == "object" and OF_GROUPS[name]["properties"]
