"""The policy of a bucketized release: slices, a sensitive column, l."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from anon_pipeline.policy.bucketized_release import BucketizedPolicy


def attributes(**changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": "people",
        "source": {"path": "people.csv"},
        "columns": {
            "age": {"bounds": [0, 99], "otherwise": 0},
            "city": {"values": ["Cork", "Dublin"], "otherwise": "Cork"},
            "illness": {"values": ["flu", "gout", "none"], "otherwise": "none"},
        },
        "slices": [["age", "city"], ["illness"]],
        "sensitive": "illness",
        "l": 2,
    }
    return said | changes


def test_defaults() -> None:
    policy = BucketizedPolicy.model_validate(attributes())
    assert (policy.k, policy.l, policy.gate.guessed) == (2, 2, 0.5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"slices": [["age", "city", "illness"]]}, "at least 2"),
        ({"slices": [["age"], ["illness"]]}, "each column of columns exactly once"),
        ({"slices": [["age", "city"], ["city", "illness"]]}, "each column of columns exactly once"),
        ({"slices": [["illness"], ["age", "city"]]}, "sensitive: must be in the last slice"),
        ({"sensitive": "city"}, "sensitive: must be in the last slice"),
        ({"l": 1}, "greater than or equal to 2"),
        ({"budget": {"epsilon": 1}}, "budget: must be left out"),
        ({"gate": {"guessed": 0}}, "greater than 0"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        BucketizedPolicy.model_validate(attributes(**changes))


@pytest.mark.parametrize("name", ["ssn", "phone", "surname", "street", "lat"])
def test_columns_named_like_identifiers_are_refused_unless_they_have_few_values(name: str) -> None:
    slices = [["age", "city", name], ["illness"]]
    many = attributes()["columns"] | {name: {"bounds": [0, 999_999], "otherwise": 0}}
    with pytest.raises(ValidationError, match=rf"columns\.{name}: must be left out, since it is named like"):
        BucketizedPolicy.model_validate(attributes(columns=many, slices=slices))
    few = attributes()["columns"] | {name: {"values": ["yes", "no"], "otherwise": "no"}}
    BucketizedPolicy.model_validate(attributes(columns=few, slices=slices))
    born = attributes()["columns"] | {"birth_date": {"bounds": [1900, 2026], "otherwise": 1900}}
    BucketizedPolicy.model_validate(
        attributes(columns=born, slices=[["age", "city", "birth_date"], ["illness"]])
    )


def test_columns_have_no_weight_bins_or_reserved_name() -> None:
    columns = attributes()["columns"]
    binned = {"bounds": [0, 99], "bins": 5, "otherwise": 0}
    for wrong in (
        {"columns": columns | {"age": binned}},
        {"columns": columns | {"age": columns["age"] | {"weight": 2}}},
    ):
        with pytest.raises(ValidationError, match=r"columns\.age: weight must be left out"):
            BucketizedPolicy.model_validate(attributes(**wrong))
    named = {"bucket": columns["age"], "illness": columns["illness"]}
    with pytest.raises(ValidationError, match=r"columns\.bucket: must have another name"):
        BucketizedPolicy.model_validate(attributes(columns=named, slices=[["bucket"], ["illness"]]))
    numbers = {"age": columns["age"], "pay": binned}
    BucketizedPolicy.model_validate(attributes(columns=numbers, slices=[["age"], ["pay"]], sensitive="pay"))


def test_other_secrets_are_columns_and_can_have_bins() -> None:
    columns = attributes()["columns"] | {"pay": {"bounds": [0, 99], "bins": 5, "otherwise": 0}}
    three = {"columns": columns, "slices": [["age", "city"], ["pay"], ["illness"]]}
    policy = BucketizedPolicy.model_validate(attributes(**three, gate={"guessed_of": {"pay": 0.3}}))
    assert (policy.gate.guessed, policy.gate.guessed_of) == (0.5, {"pay": 0.3})
    for wrong in ("illness", "height"):
        with pytest.raises(
            ValidationError, match=r"gate\.guessed_of: must name columns of columns other than"
        ):
            BucketizedPolicy.model_validate(
                attributes(**three, gate={"guessed_of": {wrong: 0.3, "pay": 0.3}})
            )
    with pytest.raises(ValidationError, match=r"columns\.pay: weight must be left out"):
        BucketizedPolicy.model_validate(attributes(**three))


def test_no_other_secrets_change_no_digest() -> None:
    assert "guessed_of" not in BucketizedPolicy.model_validate(attributes()).model_dump(mode="json")["gate"]


def test_keys_of_other_releases_are_named() -> None:
    left, problems = BucketizedPolicy.fit_attributes(attributes(perturb={"epsilon": 1}))
    assert left == attributes()
    assert problems == ["perturb: must be left out of a bucketized release: no noise is added"]
