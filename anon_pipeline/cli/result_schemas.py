"""Schemas of results that a command prints whole: they are read from what declares the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any


def event_schema() -> dict[str, Any]:
    """Return the JSON Schema of an event of the ledger, from its fields."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only who asks for it

    from anon_pipeline.ledger.chain import Event  # noqa: PLC0415

    made = TypeAdapter(Event).json_schema(mode="serialization")
    del made["description"]  # the docstring, which speaks of Python
    return made


def utility_schema() -> dict[str, Any]:
    """Return the JSON Schema of a result on utility, from the measures and the places of their numbers."""
    from anon_pipeline.utility.measures import MEASURES  # noqa: PLC0415 - with numba, a second
    from anon_pipeline.utility.sql_workload import QueryLoss  # noqa: PLC0415

    properties: dict[str, Any] = {}
    for measure in MEASURES.values():
        places: dict[str, Any] = {}
        for number in measure.numbers:
            below = places
            *before, last = number.path.split(".") if number.path else [""]
            for step in before:
                below = below.setdefault(step, {})
            unit = f" ({number.unit})" if number.unit else ""
            below[last] = _leaf(f"{number.words}{unit}")
        properties[measure.name] = places[""] if "" in places else _within(places)
    required = [*properties]
    losses = _within({field.name: _leaf("see docs/utility.md") for field in fields(QueryLoss)})
    properties["workload"] = {"type": "object", "additionalProperties": losses}
    return {"type": "object", "required": required, "properties": properties}


RESULTS: Mapping[str, Callable[[], dict[str, Any]]] = MappingProxyType(
    {"ledger export": event_schema, "utility": utility_schema}
)
"""Command → what makes the schema of what it prints; of `ledger export` that is each line."""


def _leaf(words: str) -> dict[str, Any]:
    """Return the schema of a number, of a name, or of what there was nothing to measure of."""
    return {"type": ["number", "string", "null"], "description": words}


def _within(places: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of what has numbers in it, by name, or at ``*`` for each of a column or quantile."""
    made = {name: below if "description" in below else _within(below) for name, below in places.items()}
    if "*" in made:
        return {"type": ["object", "array", "null"], "additionalProperties": made["*"], "items": made["*"]}
    return {"type": ["object", "null"], "required": [*made], "properties": made}
