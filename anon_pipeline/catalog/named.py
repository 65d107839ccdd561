"""Names of kinds as the policy accepts them, and the code behind an entry."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Literal


def one_of(table: Mapping[str, Any]) -> Any:
    """Return the type of a policy's field that names a kind: one of the table's names, in its order."""
    return Literal[tuple(table)]


@cache
def code(place: str) -> Any:
    """Import what an entry names.

    Args:
        place: ``module:name``.
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
