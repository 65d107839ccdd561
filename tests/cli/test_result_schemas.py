"""Schemas that are read from what declares the results."""

from __future__ import annotations

from dataclasses import fields

import pytest
from jsonschema import Draft202012Validator, ValidationError, validate

from anon_pipeline.cli.result_schemas import RESULTS, event_schema, utility_schema
from anon_pipeline.ledger.chain import Event
from anon_pipeline.utility.measures import MEASURES
from anon_pipeline.utility.sql_workload import QueryLoss


@pytest.mark.parametrize("command", RESULTS)
def test_they_are_json_schemas(command: str) -> None:
    Draft202012Validator.check_schema(RESULTS[command]())


def test_an_event_has_its_fields() -> None:
    assert list(event_schema()["properties"]) == [one.name for one in fields(Event)]
    assert "description" not in event_schema()


def test_a_result_has_each_measure_and_each_of_its_numbers() -> None:
    made = utility_schema()["properties"]
    assert list(made) == [*MEASURES, "workload"]
    assert utility_schema()["required"] == list(MEASURES)  # queries of the user are there if he asks them
    asked = made["workload"]["additionalProperties"]["properties"]
    assert list(asked) == [one.name for one in fields(QueryLoss)]
    assert made["records"]["description"] == "records in the input (records)"
    assert list(made["classifier"]["properties"]) == ["original", "release", "majority", "tested"]
    noise = made["noise"]["additionalProperties"]["properties"]
    assert list(noise["realized"]["properties"]) == ["relative", "zeros", "of_range"]


@pytest.mark.parametrize(
    "change",
    [
        {"records": [240]},
        {"classifier": {"original": 0.5}},
        {"noise": {"height": {"realized": {"relative": 1.0}, "expected": 1.0, "sse": 1.0}}},
    ],
)
def test_what_is_not_as_the_schema_says_is_refused(change: dict[str, object]) -> None:
    nothing = dict.fromkeys(MEASURES)
    validate(nothing, utility_schema())
    with pytest.raises(ValidationError):
        validate(nothing | change, utility_schema())
    with pytest.raises(ValidationError):
        validate({"records": 1}, utility_schema())
