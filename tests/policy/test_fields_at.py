"""What may be written at a place of a policy."""

from __future__ import annotations

import pytest

from anon_pipeline.catalog.mechanisms import CATEGORY_CHANGES, CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.policy import Policy
from anon_pipeline.policy.fields_at import Place, choices_at, fields_at, is_mapping_of_numbers


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        (("deidentify",), ["key_env", "key_file"]),
        (("columns", "any", "identifier"), ["role", "action"]),
        (
            ("columns", "any", "generalize", "hierarchy", "intervals"),
            ["intervals", "anchor", "bottom", "top"],
        ),
        (("gate", "l_diversity", "any"), ["kind", "l", "c"]),
        (("acknowledged", 0), ["columns", "share", "who", "when", "why", "until"]),
        (("anonymize", "k"), []),
        (("columns", "any"), []),
        (("nothing", "here"), []),
    ],
)
def test_fields_of_a_section(place: Place, fields: list[str]) -> None:
    assert list(fields_at(Policy, place)) == fields


def test_choices_of_a_field() -> None:
    assert choices_at(Policy, ("perturb", "mechanism")) == list(MECHANISMS)
    of_categories = choices_at(Policy, ("columns", "any", "categories", "mechanism"))
    assert of_categories == [*CATEGORY_MECHANISMS, *CATEGORY_CHANGES]
    assert choices_at(Policy, ("anonymize", "k")) == []


def test_mappings_of_numbers() -> None:
    assert is_mapping_of_numbers(Policy, ("gate", "t_closeness"))
    assert not is_mapping_of_numbers(Policy, ("gate", "l_diversity"))
    assert not is_mapping_of_numbers(Policy, ("gate", "linking_risk"))
