"""Keys that a policy does not have, but policies of another type do, or may be hoped to."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.release_kinds import RELEASE_KINDS

_PROMISES = {"release", "guarantee"}
"""Keys by which one may ask for another kind of release."""


def of_other_types(key: str, known: Iterable[str]) -> str:
    """Say of a key what it is in policies of other types: the same, nearly the same, or what they promise.

    Args:
        known: keys of this type.
    Returns:
        A sentence; empty: nothing.
    """
    kinds = RELEASE_KINDS.values()
    if key in _PROMISES:
        types = ", ".join(one.type for one in kinds)
        return f"What a release promises follows from its type, such as {types}."
    keys = {one.type: {one.name, *import_entry(one.policy).model_fields} for one in kinds}
    near = get_close_matches(key, {*known}.union(*keys.values()), n=1)
    having = [name for name, theirs in keys.items() if {*near} & theirs]
    if not having or near[0] in known:
        return ""
    return f"{'It' if near[0] == key else near[0]} is for policies with type: {' or '.join(having)}."
