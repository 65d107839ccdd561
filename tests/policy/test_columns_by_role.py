"""The columns of a policy by their roles, in its order."""

from __future__ import annotations

from typing import Any

from anon_pipeline.policy import Policy, policy_from

COLUMNS: dict[str, dict[str, Any]] = {
    "name": {"role": "identifier"},
    "id": {"role": "identifier", "action": "hash"},
    "zip": {"role": "generalize", "hierarchy": {"mask": [1, 3]}},
    "age": {"role": "generalize", "hierarchy": {"intervals": [5, 10]}},
    "stay": {"role": "sensitive", "distance": "ordered", "round": 5},
    "answer": {"role": "perturb", "mechanism": "randomized_response", "values": ["no", "yes"]},
    "height": {"role": "perturb", "resolution": 0.1},
    "grade": {"role": "sensitive", "distance": "ordered", "order": ["low", "high"]},
    "note": {"role": "insensitive", "allow": {"email": "of a department"}},
}


def policy_of(**changed: Any) -> Policy:
    columns = {**COLUMNS, **changed}
    noise, key = {"epsilon": 1}, {"key_file": "key"}
    sections = {"columns": columns, "anonymize": {"k": 5}, "perturb": noise, "deidentify": key}
    return policy_from({"name": "clinic", "source": {"path": "a.csv"}, **sections})


def test_each_column_has_one_role() -> None:
    policy = policy_of()
    assert list(policy.identifiers) == ["name", "id"]
    assert list(policy.generalized) == ["zip", "age"]
    assert list(policy.perturbed) == ["height"]
    assert list(policy.categorical) == ["answer"]
    assert list(policy.sensitive) == ["stay", "grade"]
    assert list(policy.insensitive) == ["note"]


def test_noise_on_numbers_comes_before_that_on_categories() -> None:
    assert list(policy_of().noisy) == ["height", "answer"]


def test_what_is_released() -> None:
    policy = policy_of()
    assert policy.released == [name for name in COLUMNS if name != "name"]
    assert policy.unchanged == ["stay", "grade", "note"]
    assert list(policy.coarsened) == ["stay"]
    assert policy.allowed == [{"column": "note", "detector": "email", "reason": "of a department"}]


def test_columns_of_numbers() -> None:
    assert policy_of().numeric == ["age", "stay", "height"]
    numbers = {"role": "generalize", "hierarchy": {"numbers": True}}
    assert policy_of(zip=numbers).numeric == ["zip", "age", "stay", "height"]


def test_columns_whose_values_are_equally_far_apart_have_no_hierarchy() -> None:
    policy = policy_of()
    assert policy.equal_distance == ()
    columns = {**COLUMNS, "zip": {"role": "generalize"}}
    clustered = policy.model_dump(mode="json", exclude_defaults=True) | {
        "columns": columns,
        "anonymize": {"k": 5, "recoder": "mdav"},
    }
    assert policy_from(clustered).equal_distance == ("zip",)
