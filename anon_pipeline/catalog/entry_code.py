"""Names of kinds as the policy accepts them, and the code of an entry."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Literal

from anon_pipeline.base.errors import PluginError

_PACKAGE = __name__.partition(".")[0]


def one_of(table: Mapping[str, Any]) -> Any:
    """Return the type of a policy's field that names a kind: one of the table's names, in its order."""
    return Literal[tuple(table)]


def is_plugin(place: str) -> bool:
    """Tell whether the code at a place is a plugin's."""
    return place.partition(".")[0] != _PACKAGE


@cache
def import_entry(place: str, *kinds: type) -> Any:
    """Import what an entry names.

    Args:
        place: ``module:name``.
        kinds: types that it may be of; none: any.
    Raises:
        PluginError: code of a plugin that cannot be imported, or is of another type.
    """
    module, _, name = place.partition(":")
    try:
        found = getattr(import_module(module), name)
    except Exception as error:
        if not is_plugin(place):
            raise
        wrong = f"be importable, got {type(error).__name__}"
    else:
        if not kinds or isinstance(found, kinds):
            return found
        wrong = f"be a {' or '.join(kind.__name__ for kind in kinds)}, got {type(found).__name__}"
    raise PluginError(f"{place} of a plugin must {wrong}. Correct the plugin.")
