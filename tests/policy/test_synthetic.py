"""The policy of a synthetic release: one method, copies, what attackers want to learn."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from anon_pipeline.policy.synthetic import SyntheticPolicy


def attributes(**changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": "people",
        "source": {"path": "people.csv"},
        "columns": {
            "age": {"bounds": [0, 99], "otherwise": 0},
            "city": {"values": ["Cork", "Dublin"], "otherwise": "Cork"},
        },
        "method": "copula",
    }
    found = {**said, **changes}
    return {key: one for key, one in found.items() if one is not None}


def test_defaults() -> None:
    policy = SyntheticPolicy.model_validate(attributes())
    assert (policy.method, policy.copies, policy.k, policy.leaf_records) == ("copula", 5, 10, 50)
    trees = SyntheticPolicy.model_validate(attributes(method="trees", leaf=30))
    assert (trees.method, trees.leaf_records) == ("trees", 30)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"method": None}, "method"),
        ({"method": "magic"}, "copula"),
        ({"leaf": 50}, "leaf: must be left out without method: trees"),
        ({"copies": 0}, "greater than or equal to 1"),
        ({"k": 1}, "greater than or equal to 2"),
        ({"sensitive": ["pay"]}, "sensitive: must name columns of columns"),
        ({"sensitive": ["age", "age"]}, "each once"),
        ({"budget": {"epsilon": 1}}, "budget: must be left out"),
        ({"method": "trees", "leaf": 5}, "at least k, 10"),
        ({"person": "city"}, "person: must not be one of columns"),
        (
            {"person": "id", "one_record_per_person": True},
            "one_record_per_person: must be left out with person",
        ),
        ({"one_record_per_person": False}, "one_record_per_person"),
        (
            {"columns": {"surname": {"values": [f"v{at}" for at in range(21)], "otherwise": "v0"}}},
            r"columns\.surname: must be left out, since it is named like",
        ),
        ({"gate": {"membership": 0.4}}, "greater than or equal to 0.5"),
        (
            {"columns": {"age": {"bounds": [0, 99], "otherwise": 0}}, "sensitive": ["age"]},
            "must know another column",
        ),
        (
            {"columns": {"age": {"bounds": [0, 99], "bins": 3, "otherwise": 0}}},
            "bins and weight must be left",
        ),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        SyntheticPolicy.model_validate(attributes(**changes))


def test_new_keys_change_no_digest() -> None:
    policy = SyntheticPolicy.model_validate(attributes())
    assert not {"person", "one_record_per_person"} & {*policy.model_dump(mode="json")}
    assert policy.person_column is None
    assert SyntheticPolicy.model_validate(attributes(person="id")).person_column == "id"


def test_keys_of_other_releases_are_named() -> None:
    left, problems = SyntheticPolicy.fit_attributes(attributes(epsilon=1, anonymize={"k": 5}))
    assert left == attributes() and len(problems) == 2
    assert problems[0].startswith("epsilon: must be left out of a synthetic release")
