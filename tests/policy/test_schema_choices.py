"""The JSON Schema names the key that is wrong, and accepts what the model accepts."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
import yaml

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import policy_from
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.schema_choices import discriminate
from anon_pipeline.policy.templates import template

VALIDATOR = jsonschema.Draft202012Validator(Policy.model_json_schema())


def mistakes(document: Any) -> list[tuple[str, str]]:
    return [
        (".".join(str(step) for step in found.absolute_path), found.message)
        for found in VALIDATOR.iter_errors(document)
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "where", "says"),
    [
        ("{role: identifier,", "{rolle: identifier,", "columns.name", "'role' is a required property"),
        ("{role: identifier,", "{role: identifer,", "columns.name.role", "'identifer' is not one of"),
        ("action: drop", "action: droop", "columns.name.action", "'droop' is not one of ['drop', "),
        ("k: 10, r", "k: 1, r", "anonymize.k", "1 is less than the minimum of 2"),
        ("mask: [2, 3", "mask: [2, a", "columns.zip.hierarchy.mask.1", "'a' is not of type 'integer'"),
        ("mask: [2, 3", "masc: [2, 3", "columns.zip.hierarchy", "'masc' is not one of ['table', "),
        ("[year, dec", "[year, dek", "columns.birth_date.hierarchy.dates.1", "'dekade' is not one of"),
        ("distance: ordered", "distance: odd", "columns.systolic.distance", "'odd' is not one of"),
        ("resolution: 0.1", "resolution: 0", "columns.height_cm.resolution", "0 is less than or equal to"),
        ("resolution: 0.1", "values: [a]", "columns.height_cm", "('unit' was unexpected)"),
        ("epsilon: 8", "epsilon: x", "perturb.epsilon", "'x' is not of type 'number'"),
        ("epsilon: 8", "epsilonn: 8", "perturb", "('epsilonn' was unexpected)"),
        ("timezone: UTC", "timezone: 1", "schedule.timezone", "1 is not of type 'string'"),
    ],
)
def test_a_mistake_is_at_its_key(right: str, wrong: str, where: str, says: str) -> None:
    text = template("patients")
    assert mistakes(yaml.safe_load(text)["attributes"]) == []
    assert right in text
    found = mistakes(yaml.safe_load(text.replace(right, wrong, 1))["attributes"])
    assert [message for place, message in found if place == where and says in message], found
    assert not any("under any of the given" in message for _, message in found)


@pytest.mark.parametrize(
    ("column", "right"),
    [
        ({"role": "perturb", "unit": "cm", "resolution": 1}, True),
        ({"role": "perturb", "values": ["a", "b"]}, False),
        ({"role": "perturb", "values": ["a", "b"], "mechanism": "exponential"}, True),
        ({"role": "perturb", "values": ["a", "b"], "resolution": 1}, False),
        ({"role": "generalize", "hierarchy": None}, True),
        ({"role": "generalize", "hierarchy": {}}, False),
        ({"role": "generalize", "hierarchy": {"suppress": True}}, True),
        ("identifier", False),
        (None, False),
    ],
)
def test_each_kind_of_column_is_chosen_by_its_keys(column: Any, right: bool) -> None:
    document = yaml.safe_load(template("patients"))["attributes"]
    document["columns"]["height_cm"] = column
    assert VALIDATOR.is_valid(document) is right


@pytest.mark.parametrize(
    ("section", "value", "right"),
    [
        ("clean", {"currency": "CHF", "format": "%d/%m/%Y", "missing": "-"}, True),
        (
            "clean",
            {"currency": ["CHF", "Fr."], "missing": ["-", 9, 9.5]},
            True,
        ),
        ("clean", {"columns": {"birth_date": {"format": ["%d.%m.%Y", "%Y-%m-%d"]}}}, True),
        ("clean", {"values": {"m": 1, "f": "2"}}, True),
        ("clean", {"format": 5}, False),
        ("clean", {"missing": [True]}, False),
        ("source", {"asset": "customers"}, True),
        ("source", {"asset": ["warehouse", "customers"]}, True),
        ("source", {"asset": []}, False),
        ("zip", {"order": [1, 2, "more"]}, True),
        ("zip", {"order": []}, False),
        ("zip", {"tree": {"young": [1990, 1991], "old": [1950]}}, True),
    ],
)
def test_one_text_or_a_number_is_accepted_where_the_model_takes_it(
    section: str, value: Any, right: bool
) -> None:
    document = yaml.safe_load(template("patients"))["attributes"]
    if section == "zip":
        document["columns"]["zip"] = {"role": "generalize", "hierarchy": value}
    else:
        document[section] = value
    assert VALIDATOR.is_valid(document) is right
    if right:
        assert policy_from(document)
    else:
        with pytest.raises(PolicyError):
            policy_from(document)


def test_a_wrong_item_of_a_list_that_may_be_one_text_is_at_its_place() -> None:
    document = yaml.safe_load(template("patients"))["attributes"]
    document["clean"] = {"format": ["%d/%m/%Y", 5]}
    assert mistakes(document) == [("clean.format.1", "5 is not of type 'string'")]


def test_null_is_allowed_where_it_was_and_a_choice_of_plain_types_stays() -> None:
    schema = {"anyOf": [{"type": "integer", "ge": 2}, {"type": "null"}]}
    assert discriminate(schema) == {"if": {"type": "null"}, "else": {"type": "integer", "minimum": 2}}
    plain = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    assert discriminate(plain) == plain
