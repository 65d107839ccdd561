"""A parsed policy cannot be changed in any place, and says what it said before it was frozen."""

from __future__ import annotations

import copy
import datetime
import pickle
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from anon_pipeline.hierarchy.table_files import tree_levels
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.frozen_mapping import FrozenMapping, freeze, thaw
from anon_pipeline.policy.hierarchies import Tree
from tests.policy.everything import EVERYTHING, TREE
from tests.windows.conftest import stream_policy

SCALARS = (str, int, float, bool, type(None), datetime.date)


def _values(value: Any, where: str = "policy") -> Iterator[tuple[str, Any]]:
    """Yield everything that a policy is made of, with its place."""
    yield where, value
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _values(getattr(value, name), f"{where}.{name}")
    elif isinstance(value, Mapping):
        for name, below in value.items():
            yield from _values(below, f"{where}.{name}")
    elif isinstance(value, (tuple, list)):
        for i, below in enumerate(value):
            yield from _values(below, f"{where}[{i}]")


def _unchangeable(value: Any) -> bool:
    if isinstance(value, BaseModel):
        return value.model_config.get("frozen", False)
    return type(value) in (FrozenMapping, tuple) or isinstance(value, SCALARS)


def test_nothing_in_a_policy_can_be_changed() -> None:
    policy = policy_from({**EVERYTHING, "sample": {"share": 0.5}})
    places = dict(_values(policy))
    assert [where for where, value in places.items() if not _unchangeable(value)] == []
    sections = {name for name in Policy.model_fields if getattr(policy, name) is None}
    sections -= {"person", "rows_per_person"}  # a text and a number, which stand for what record_key is
    sections -= {"one_record_per_person"}  # true or nothing
    sections -= {"stream"}  # does not go with record_key
    assert _unchangeable(stream_policy().stream)
    assert sections == set(), "every section must be there to be looked at"
    assert len(places) > 120
    assert places["policy.columns.town.hierarchy.tree.England.South[0]"] == "Bath"


@pytest.mark.parametrize(
    "place",
    [
        "gate.t_closeness",
        "gate.l_diversity",
        "columns",
        "columns.town.hierarchy.tree",
        "columns.note.allow",
        "columns.zip.allow",
    ],
)
def test_a_mapping_of_a_policy_refuses_to_be_changed(place: str) -> None:
    policy = policy_from({**EVERYTHING, "sample": {"share": 0.5}})
    before, mapping = policy.digest, policy
    for name in place.split("."):
        mapping = mapping[name] if isinstance(mapping, Mapping) else getattr(mapping, name)
    with pytest.raises(TypeError):
        mapping["grade"] = 1.0  # type: ignore[index]
    for change in ("update", "pop", "clear", "setdefault", "popitem"):
        assert not hasattr(mapping, change)
    with pytest.raises(AttributeError):
        mapping._items = {}  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        del mapping._items  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        mapping._items["grade"] = 1.0  # type: ignore[attr-defined]
    assert policy.digest == before


def test_who_gave_the_attributes_cannot_change_the_policy_by_them() -> None:
    given = copy.deepcopy(EVERYTHING)
    policy = policy_from(given)
    before = policy.digest
    given["gate"]["t_closeness"]["grade"] = 1.0
    given["columns"]["town"]["hierarchy"]["tree"]["England"]["South"].append("London")
    given["columns"]["note"]["allow"]["telephone"] = "changed"
    given["columns"].clear()
    assert policy.digest == before
    assert policy == policy_from(EVERYTHING)


def test_limits_without_any_are_frozen_too() -> None:
    policy = policy_from({**EVERYTHING, "gate": {}})
    assert type(policy.gate.t_closeness) is type(policy.gate.l_diversity) is FrozenMapping
    assert policy.model_dump(mode="json")["gate"]["t_closeness"] == {}
    assert type(policy.columns["zip"].allow) is FrozenMapping
    assert "allow" not in policy.model_dump(mode="json")["columns"]["zip"]


def test_a_policy_is_dumped_and_read_back_as_plain_values() -> None:
    policy = policy_from({**EVERYTHING, "sample": {"share": 0.5}})
    for mode in ("json", "python"):
        dumped = policy.model_dump(mode=mode, exclude_none=True)
        assert type(dumped["columns"]) is type(dumped["gate"]["t_closeness"]) is dict
        assert dumped["columns"]["town"]["hierarchy"] == {"tree": TREE}
        assert type(dumped["columns"]["town"]["hierarchy"]["tree"]["England"]["South"]) is list
        assert policy_from(dumped) == policy
        assert policy_from(dumped).digest == policy.digest
    assert Policy.model_validate_json(policy.model_dump_json()) == policy


def test_the_schema_of_a_frozen_mapping_is_that_of_a_mapping() -> None:
    definitions = Policy.model_json_schema()["$defs"]
    assert definitions["Gate"]["properties"]["t_closeness"] == {
        "additionalProperties": {"minimum": 0, "maximum": 1, "type": "number"},
        "description": "Sensitive column → largest distance of a class to the whole input.",
        "propertyNames": {"minLength": 1},
        "title": "T Closeness",
        "type": "object",
    }
    assert definitions["Tree"]["properties"]["tree"] == {
        "additionalProperties": True,
        "propertyNames": {"minLength": 1},
        "title": "Tree",
        "type": "object",
    }


def test_a_policy_is_copied_pickled_and_hashed() -> None:
    policy = policy_from(EVERYTHING)
    for other in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy)), policy_from(EVERYTHING)):
        assert other == policy
        assert hash(other) == hash(policy)
        assert other.digest == policy.digest


def test_mistakes_in_a_mapping_are_told_as_ever() -> None:
    with pytest.raises(ValidationError) as caught:
        Policy.model_validate({**EVERYTHING, "gate": {"t_closeness": {"grade": 2}, "l_diversity": [1]}})
    told = {".".join(map(str, item["loc"])): item["type"] for item in caught.value.errors()}
    assert told == {"gate.t_closeness.grade": "less_than_equal", "gate.l_diversity": "dict_type"}
    with pytest.raises(ValidationError) as caught:
        Policy.model_validate({**EVERYTHING, "columns": {}})
    assert [item["type"] for item in caught.value.errors()] == ["too_short"]


def test_frozen_mappings_are_mappings() -> None:
    one = FrozenMapping({"a": 1, "b": 2})
    assert one == {"b": 2, "a": 1} == one
    assert one != {"a": 1}
    assert (repr(one), list(one), len(one), one["b"]) == ("{'a': 1, 'b': 2}", ["a", "b"], 2, 2)
    assert hash(one) == hash(FrozenMapping({"b": 2, "a": 1}))
    assert thaw(freeze(TREE)) == TREE


def test_a_frozen_tree_is_a_hierarchy() -> None:
    tree = Tree(tree=TREE).tree
    assert Tree(tree=tree).tree == tree
    assert [list(level) for level in tree_levels("town", tree)][1] == ["South", "North", "East", "Coast"]
