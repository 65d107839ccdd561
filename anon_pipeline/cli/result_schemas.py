"""Schemas of results that a command prints field by field: they are read from the results' own types."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

RESULTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "ledger export": ("anon_pipeline.ledger.chain", "Event"),
        "utility": ("anon_pipeline.utility.results", "Utility"),
    }
)
"""Command → module and dataclass of what it prints; of `ledger export` that is each line."""


def result_schema(command: str) -> dict[str, Any]:
    """Return the JSON Schema of a command's result, without its docstrings, which speak of Python.

    Raises:
        KeyError: the command prints no such result.
    """
    from pydantic import TypeAdapter  # noqa: PLC0415 - with the result's module, most of a second

    module, name = RESULTS[command]
    made = TypeAdapter(getattr(import_module(module), name)).json_schema(mode="serialization")
    for part in (made, *made.get("$defs", {}).values()):
        part.pop("description", None)
    return made
