"""The whole policy: its digest, its JSON Schema."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.base.spelling import is_plain, look_alikes, skeleton
from anon_pipeline.policy import TYPE, json_schema, parse_policy, policy_from
from tests.example_counts import examples_of

ATTRIBUTES: dict[str, Any] = {
    "name": "clinic",
    "source": {"path": "a.csv", "options": {"missing": ["?"]}},
    "columns": {
        "id": {"role": "identifier", "action": "hash"},
        "zip": {"role": "generalize", "hierarchy": {"mask": [1, 3]}},
        "born": {"role": "generalize", "hierarchy": {"dates": ["year", "decade"]}},
        "age": {"role": "generalize", "hierarchy": {"intervals": [5, 10], "anchor": 1, "top": 90}},
        "job": {"role": "generalize", "hierarchy": {"tree": {"a": {"b": ["c", 1]}, "d": {"e": ["f"]}}}},
        "race": {"role": "generalize", "hierarchy": {"table": "race.csv", "separator": ","}},
        "sex": {"role": "generalize", "hierarchy": {"suppress": True}},
        "height": {"role": "perturb", "resolution": 0.1, "output_bounds": [100, 250]},
        "grade": {"role": "sensitive", "distance": "ordered", "order": ["low", "high"]},
        "stay": {"role": "sensitive", "distance": "ordered"},
        "note": {"role": "insensitive"},
    },
    "deidentify": {"key_file": "key"},
    "anonymize": {"k": 5},
    "perturb": {"epsilon": 1.5},
    "gate": {"l_diversity": {"grade": {"kind": "recursive", "l": 2, "c": 3}}},
    "schedule": {"cron": "0 3 * * 1", "start": "2026-02-01"},
}
POLICY = policy_from(ATTRIBUTES)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in leaves(inner, (*path, key))]
    return [path]


def test_the_digest_is_the_sha256_of_canonical_json() -> None:
    """So that anybody can recompute the digest that a manifest names."""
    text = json.dumps(POLICY.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    assert POLICY.digest == hashlib.sha256(text.encode("ascii")).hexdigest()


def test_order_comments_and_spelled_out_defaults_do_not_change_the_digest() -> None:
    text = yaml.safe_dump({"type": TYPE, "attributes": ATTRIBUTES}, sort_keys=True)
    assert parse_policy("# a comment\n" + text).digest == POLICY.digest
    spelled = copy.deepcopy(ATTRIBUTES)
    spelled["anonymize"] |= {"recoder": "ola", "loss": "precision", "suppression_limit": 0.05}
    spelled["publish"] = {"format": "parquet", "to": None}
    spelled["suppress"] = {}
    spelled["columns"]["height"] |= {"weight": 1.0, "missing": "error", "unit": None}
    spelled["perturb"] = {"mechanism": "discrete_laplace", "epsilon": 1.50}
    assert policy_from(spelled).digest == POLICY.digest
    reversed_keys = dict(reversed(list(ATTRIBUTES.items())))
    reversed_keys["columns"] = dict(reversed(list(ATTRIBUTES["columns"].items())))
    assert policy_from(reversed_keys).digest == POLICY.digest


OTHER = {
    ("name",): "clinic2",
    ("source", "path"): "b.csv",
    ("source", "options", "missing"): ["-"],
    ("columns", "id", "action"): "mask",
    ("columns", "zip", "hierarchy", "mask"): [1, 4],
    ("columns", "born", "hierarchy", "dates"): ["month", "year"],
    ("columns", "age", "hierarchy", "intervals"): [5, 20],
    ("columns", "age", "hierarchy", "anchor"): 2,
    ("columns", "age", "hierarchy", "top"): 89,
    ("columns", "job", "hierarchy", "tree", "a", "b"): ["c", 2],
    ("columns", "race", "hierarchy", "table"): "other.csv",
    ("columns", "race", "hierarchy", "separator"): ";",
    ("columns", "height", "resolution"): 0.2,
    ("columns", "height", "output_bounds"): [100, 251],
    ("columns", "height", "missing"): "suppress",
    ("columns", "grade", "order"): ["high", "low"],
    ("columns", "note"): {"role": "sensitive"},
    ("columns", "more"): {"role": "insensitive"},
    ("deidentify", "key_file"): "key2",
    ("anonymize", "k"): 6,
    ("anonymize", "recoder"): "mondrian",
    ("perturb", "epsilon"): 1.25,
    ("suppress",): {"confidence": 0.9},
    ("gate", "k"): 5,
    ("gate", "l_diversity", "grade", "c"): 4,
    ("publish",): {"format": "csv"},
    ("schedule", "cron"): "0 4 * * 1",
    ("schedule", "start"): "2026-02-02",
}


@pytest.mark.parametrize("path", OTHER, ids=".".join)
def test_every_value_changes_the_digest(path: tuple[str, ...]) -> None:
    attributes = copy.deepcopy(ATTRIBUTES)
    inner = attributes
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = OTHER[path]
    assert policy_from(attributes).digest != POLICY.digest


@pytest.mark.parametrize("mode", ["python", "json"])
def test_a_dumped_policy_is_the_same_policy(mode: Any) -> None:
    again = policy_from(POLICY.model_dump(mode=mode))
    assert again.digest == POLICY.digest
    assert again == POLICY
    assert list(again.columns) == list(POLICY.columns)


def _taken(name: str, columns: dict[str, Any]) -> bool:
    return name in columns or bool(look_alikes([name], columns))


@given(
    k=st.integers(2, 10**6),
    epsilon=st.floats(1e-6, 1e6),
    names=st.lists(
        st.text(min_size=1).filter(lambda name: not name.startswith("_") and is_plain(name)),
        unique_by=skeleton,
        max_size=5,
    ),
)
@settings(max_examples=examples_of(50), deadline=None)
def test_any_policy_survives_yaml(k: int, epsilon: float, names: list[str]) -> None:
    attributes = copy.deepcopy(ATTRIBUTES)
    attributes["columns"] |= {
        name: {"role": "insensitive"} for name in names if not _taken(name, attributes["columns"])
    }
    attributes["anonymize"]["k"], attributes["perturb"]["epsilon"] = k, epsilon
    policy = policy_from(attributes)
    text = yaml.safe_dump({"type": TYPE, "attributes": policy.model_dump(mode="json")}, allow_unicode=False)
    assert parse_policy(text).digest == policy.digest


def test_the_smallest_class_of_the_gate_is_the_recoders_unless_it_has_its_own() -> None:
    assert POLICY.gate_k == 5
    stricter = copy.deepcopy(ATTRIBUTES)
    stricter["gate"]["k"] = 7
    assert policy_from(stricter).gate_k == 7


@pytest.mark.parametrize("name", ["", "a b", "1a", "../a", "a/b", "ä", "a-b", "a\n", "_a"])
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(PolicyError, match="name: "):
        policy_from({**ATTRIBUTES, "name": name})


def test_a_policy_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        POLICY.name = "other"


def test_the_schema_is_json_and_names_the_type() -> None:
    schema = json.loads(json.dumps(json_schema()))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["required"] == ["type", "attributes"]
    assert schema["properties"]["type"] == {"const": TYPE}
    assert "$defs" not in schema["properties"]["attributes"]


def document(path: tuple[str, ...] = (), key: str = "name", value: Any = "clinic") -> dict[str, Any]:
    whole = {"type": TYPE, "attributes": copy.deepcopy(ATTRIBUTES)}
    inner = whole["attributes"]
    for part in path:
        inner = inner[part]
    inner[key] = value
    return whole


@pytest.fixture
def valid() -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(json_schema())
    return jsonschema.Draft202012Validator(json_schema()).is_valid


def test_the_schema_accepts_the_policy(valid: Any) -> None:
    assert valid(document())
    assert valid({"type": TYPE, "attributes": POLICY.model_dump(mode="json")})


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ((), "extra", 1),
        (("source",), "extra", 1),
        (("source", "options"), "extra", 1),
        (("columns", "zip"), "extra", 1),
        (("columns", "zip", "hierarchy"), "extra", 1),
        (("anonymize",), "extra", 1),
        (("gate",), "extra", 1),
        (("schedule",), "extra", 1),
        (("anonymize",), "k", 1),
        (("anonymize",), "k", "four"),
        (("perturb",), "epsilon", 0),
        (("columns", "sex"), "role", "quasi"),
        (("columns",), "more", {}),
    ],
)
def test_the_schema_refuses(valid: Any, path: tuple[str, ...], key: str, value: Any) -> None:
    assert not valid(document(path, key, value))


def test_the_schema_refuses_what_stands_beside_the_attributes(valid: Any) -> None:
    assert not valid({**document(), "extra": 1})
    assert not valid({"attributes": document()["attributes"]})


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ({"budget": {"epsilon": 0}}, "budget"),
        ({"budget": {"epsilon": 3, "per": "person"}}, "budget"),
        ({"budget": {"epsilon": 3, "window": 0}}, "budget"),
        ({"budget": {"epsilon": True}}, "budget"),
        ({"dataset": "two words"}, "dataset"),
        ({"dataset": "../up"}, "dataset"),
    ],
)
def test_a_budget_and_a_dataset_must_be_sound(section: dict[str, object], says: str) -> None:
    document = POLICY.model_dump(mode="json") | section
    with pytest.raises(PolicyError, match=says):
        policy_from(document)


def test_budget_and_dataset_do_not_decide_what_the_tables_are() -> None:
    other = policy_from(POLICY.model_dump(mode="json") | {"budget": {"epsilon": 99}, "dataset": "people"})
    assert other.making == POLICY.making
    assert other.digest != POLICY.digest


def test_a_changed_copy_has_a_digest_of_its_own() -> None:
    before = POLICY.making
    changed = POLICY.model_copy(update={"anonymize": POLICY.anonymize.model_copy(update={"k": 77})})
    assert changed.making != before
    assert changed.making == policy_from(changed.model_dump(mode="json", exclude_defaults=True)).making
    assert POLICY.model_copy().making == before
