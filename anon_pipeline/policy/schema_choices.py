"""The JSON Schema of a policy, so that a validator names the key that is wrong.

Pydantic writes a choice between models as ``oneOf``, of which a validator of JSON Schema (`dg check yaml`,
an editor) only says that none fits. Here each choice is made first, by the key that decides it, and the
chosen model is then asked alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_BOUNDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}
_NULL = {"type": "null"}
_Schema = dict[str, Any]


def discriminate(schema: Mapping[str, Any]) -> _Schema:
    """Return a schema that accepts the same, and whose mistakes are at the key that is wrong.

    Args:
        schema: as pydantic writes it, with ``$defs``.
    """
    found: _Schema = _walk(schema, schema.get("$defs", {}))
    return found


def _walk(node: Any, defined: Mapping[str, _Schema]) -> Any:
    if isinstance(node, list):
        return [_walk(one, defined) for one in node]
    if not isinstance(node, Mapping):
        return node
    walked: _Schema = {
        _BOUNDS.get(str(key), str(key)) if isinstance(value, (int, float)) else str(key): _walk(
            value, defined
        )
        for key, value in node.items()
    }
    for key in ("anyOf", "oneOf"):
        if isinstance(walked.get(key), list):
            walked |= _choose(walked.pop(key), defined)
    return walked


def _choose(alternatives: Sequence[_Schema], defined: Mapping[str, _Schema]) -> _Schema:
    """Return what takes the place of alternatives: nothing is wrong with null, then the choice is made."""
    rest = [one for one in alternatives if one != _NULL]
    models = [defined.get(str(one.get("$ref", "")).rpartition("/")[2]) for one in rest]
    if len(rest) == 1:
        choice = rest[0]
    elif (one_or_more := _one_or_more(rest)) is not None:
        choice = one_or_more
    elif any(model is None for model in models):
        choice = {"anyOf": rest}
    else:
        choice = _by_key(rest, [model for model in models if model is not None])
    return choice if len(rest) == len(alternatives) else {"if": _NULL, "else": choice}


def _one_or_more(alternatives: Sequence[_Schema]) -> _Schema | None:
    """Return the choice between a list and one value in place of it, by which of them is given."""
    lists = [one for one in alternatives if one.get("type") == "array"]
    others = [one for one in alternatives if one not in lists]
    if (len(lists), len(others)) != (1, 1):
        return None
    return _chain([{"type": "array"}], lists, others[0])


def _by_key(refs: Sequence[_Schema], models: Sequence[_Schema]) -> _Schema:
    """Return a choice between models: by the value of a key, such as ``role``, or by a key of their own."""
    named = [_constants(model) for model in models]
    key = next((key for key in named[0] if all(key in one for one in named)), None)
    if key is None:
        own = [_own_keys(i, models, required=True)[0] for i in range(len(models))]
        tests: list[_Schema] = [{"required": [name]} for name in own]
        otherwise: _Schema = {"propertyNames": {"enum": own}, "minProperties": 1}
        return {"type": "object", **_chain(tests, refs, otherwise)}
    values = list(dict.fromkeys(one[key] for one in named))
    branches = []
    for value in values:
        same = [i for i, one in enumerate(named) if one[key] == value]
        branches.append(_among([refs[i] for i in same], [models[i] for i in same]))
    tests = [{"properties": {key: {"const": value}}, "required": [key]} for value in values]
    otherwise = {"properties": {key: {"enum": values}}, "required": [key]}
    return {"type": "object", **_chain(tests, branches, otherwise)}


def _among(refs: Sequence[_Schema], models: Sequence[_Schema]) -> _Schema:
    """Return a choice between models of one role: the first one, unless another's own keys are there."""
    tests: list[_Schema] = []
    for i in range(1, len(models)):
        tests.append({"anyOf": [{"required": [name]} for name in _own_keys(i, models)]})
        tests[-1]["anyOf"] += [
            {"required": [name], "properties": {name: {"enum": values}}}
            for name, values in _own_values(models[i], models[0])
        ]
    return _chain(tests, refs[1:], refs[0])


def _chain(tests: Sequence[_Schema], branches: Sequence[_Schema], otherwise: _Schema) -> _Schema:
    chained = otherwise
    for test, branch in zip(reversed(tests), reversed(branches), strict=True):
        chained = {"if": test, "then": branch, "else": chained}
    return chained


def _constants(model: _Schema) -> dict[str, Any]:
    """Return the keys that a model demands with one value."""
    properties = model.get("properties", {})
    return {key: properties[key]["const"] for key in model.get("required", ()) if "const" in properties[key]}


def _own_keys(i: int, models: Sequence[_Schema], *, required: bool = False) -> list[str]:
    """Return the keys of a model that no other has."""
    others = {key for j, model in enumerate(models) if j != i for key in model["properties"]}
    keys = models[i].get("required", []) if required else models[i]["properties"]
    return [key for key in keys if key not in others]


def _own_values(model: _Schema, other: _Schema) -> list[tuple[str, list[Any]]]:
    """Return the keys that both models have, with the values that one of them alone takes."""
    shared = [key for key in model["properties"] if key in other["properties"]]
    own = {key: _values(model["properties"][key]) - _values(other["properties"][key]) for key in shared}
    return [(key, sorted(values)) for key, values in own.items() if values]


def _values(entry: _Schema) -> set[Any]:
    found = {entry["const"]} if "const" in entry else set(entry.get("enum", ()))
    return found.union(*(_values(one) for one in entry.get("anyOf", ())))
