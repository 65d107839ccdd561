"""Schemas that are read from the results' own types."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module

import pytest
from jsonschema import Draft202012Validator, ValidationError, validate

from anon_pipeline.cli.result_schemas import RESULTS, result_schema


@pytest.mark.parametrize("command", RESULTS)
def test_a_schema_has_the_fields_of_its_result(command: str) -> None:
    module, name = RESULTS[command]
    made = result_schema(command)
    Draft202012Validator.check_schema(made)
    assert list(made["properties"]) == [one.name for one in fields(getattr(import_module(module), name))]
    assert "description" not in str(made)


def test_what_is_not_as_the_schema_says_is_refused() -> None:
    with pytest.raises(ValidationError):
        validate({"records": 1}, result_schema("utility"))


def test_commands_without_such_a_result_have_none() -> None:
    with pytest.raises(KeyError):
        result_schema("run")
