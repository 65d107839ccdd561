"""Keys of the policy that a text names: a reader who writes them must not be refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from anon_pipeline.policy.model import json_schema

_DOTTED = re.compile(r"(?<![\w/.])([a-z_]+(?:\.[a-z_]+)+)(?![\w.]*\()")
_PAIR = re.compile(r"(?<![\w.])([a-z_]+): ([a-z_]+)\b")
_LIST = re.compile(r"\(([a-z_]+(?:, [a-z_]+)+)\)")
_UNDERSCORED = re.compile(r"(?<![\w.])([a-z]+(?:_[a-z]+)+)(?![\w.(])")


@cache
def _known() -> dict[str, set[str]]:
    """Return all keys of a policy, each with the words that the schema lists for it; empty: any."""
    found: dict[str, set[str]] = {}

    def words(node: Any) -> Iterator[str]:
        if isinstance(node, Mapping):
            listed = [*node.get("enum", ()), node.get("const")]
            yield from (str(one).lower() if one is True else str(one) for one in listed if one is not None)
            for below in node.values():
                yield from words(below)
        elif isinstance(node, list):
            for below in node:
                yield from words(below)

    def walk(node: Any) -> None:
        if isinstance(node, Mapping):
            for name, below in node.get("properties", {}).items():
                found.setdefault(name, set()).update(words(below))
            for below in node.values():
                walk(below)
        elif isinstance(node, list):
            for below in node:
                walk(below)

    walk(json_schema())
    return found


def unknown_keys(text: str, *, besides: frozenset[str] = frozenset()) -> list[str]:
    """Return what a text names as a key of the policy, or as a word for one, and the schema does not know.

    Args:
        besides: names that are no keys: of columns, of limits.
    """
    known = _known()
    named = [*re.findall(_UNDERSCORED, text)]
    named += [step for dotted in re.findall(_DOTTED, text) for step in dotted.split(".")]
    named += [word for listed in re.findall(_LIST, text) for word in listed.split(", ")]
    wrong = [name for name in named if name not in known and name not in besides]
    for key, word in re.findall(_PAIR, text):
        if key in known and known[key] and word not in known[key] and word not in ("the", "a", "each"):
            wrong.append(f"{key}: {word}")
    return wrong
