"""The digests that 0.1.0 gave to a policy: with them, manifests of version 1 verify although policies grew.

`version_1.json` holds the fields of every model of 0.1.0, with their defaults; it never changes again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from anon_pipeline.policy.model import Policy

_MAKING = ("name", "source", "columns", "deidentify", "anonymize", "perturb", "suppress", "record_key")


def digest_1(policy: Policy) -> str:
    """Return the digest that 0.1.0 gave to a policy file: `Policy.digest` of then.

    A policy that sets a key which 0.1.0 did not know, to something else than its default, made no release of
    version 1: it has no digest, and what is returned is empty.
    """
    if any(_newer(policy)):
        return ""
    return _digest(_as_then(policy, policy.model_dump(mode="json")))


def making_1(policy: Policy) -> str:
    """Return what 0.1.0 wrote as ``made_by`` into the facts: `Policy.making` of then."""
    whole = _as_then(policy, policy.model_dump(mode="json"))
    document = {section: whole[section] for section in _MAKING}
    diversity = {
        name: _as_then(limit, limit.model_dump(mode="json"))
        for name, limit in policy.recoding_limits["l_diversity"].items()
    }
    closeness = dict(policy.recoding_limits["t_closeness"])
    document["anonymize"] |= {"t_closeness": closeness, "l_diversity": diversity}
    return _digest(document)


def _as_then(value: Any, dumped: Any) -> Any:
    """Return the JSON that 0.1.0 made of a part of a policy, from the JSON that this version makes of it."""
    if isinstance(value, BaseModel):
        return dict(_fields(value, dumped))
    if isinstance(value, Mapping) and isinstance(dumped, dict):
        return {name: _as_then(below, dumped[name]) for name, below in value.items()}
    if isinstance(value, (list, tuple)) and isinstance(dumped, list):
        return [_as_then(one, other) for one, other in zip(value, dumped, strict=True)]
    return dumped


def _fields(model: BaseModel, dumped: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and JSON of each field that a model had, and of new ones that are not at their default."""
    known = _known_fields().get(type(model).__name__, {})
    for name, field in type(model).model_fields.items():
        given = name in model.model_fields_set
        value = getattr(model, name)
        if name in known and not given and "default" in known[name]:
            yield name, known[name]["default"]
        elif name in dumped and (
            name in known or (given and value != field.get_default(call_default_factory=True))
        ):
            yield name, _as_then(value, dumped[name])


def _newer(value: Any) -> Iterator[str]:
    """Yield the names of the keys that 0.1.0 did not know and that a policy sets."""
    if isinstance(value, BaseModel):
        known = _known_fields().get(type(value).__name__, {})
        for name, field in type(value).model_fields.items():
            below = getattr(value, name)
            set_to = name in value.model_fields_set and below != field.get_default(call_default_factory=True)
            if name not in known and set_to:
                yield name
            yield from _newer(below)
    elif isinstance(value, Mapping):
        for below in value.values():
            yield from _newer(below)
    elif isinstance(value, (list, tuple)):
        for below in value:
            yield from _newer(below)


@cache
def _known_fields() -> dict[str, dict[str, Any]]:
    read: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return read


def _digest(document: dict[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
