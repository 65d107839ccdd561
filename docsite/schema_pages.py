"""The reference of the policy, from its JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from anon_pipeline.policy import json_schema

__all__ = ["policy_page"]

Schema = Mapping[str, Any]

_HEAD: Final = """# Policy, from the schema
Every key with its type, its bounds and its default, as `anon-pipeline schema` has them. What the keys
mean, with examples: [the policy, key by key](policy.md).

"""
_BOUNDS: Final = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "minLength": "at least {} characters",
    "minItems": "at least {}",
    "minProperties": "at least {}",
}


def policy_page() -> str:
    """Return the page: the sections in the order of the file, then what they are made of."""
    schema = json_schema()
    parts = schema.get("$defs", {})
    sections = schema["properties"]["attributes"]
    lines = ["## attributes", *_table(sections), ""]
    for name in sorted(parts):
        lines += [f"## {name}", parts[name].get("description", ""), "", *_table(parts[name]), ""]
    return _HEAD + "\n".join(lines)


def _table(schema: Schema) -> Iterator[str]:
    """Yield the lines of a table of the keys of a mapping."""
    required = set(schema.get("required", ()))
    if not schema.get("properties"):
        yield _kind(schema)
        return
    yield "| key | type | default | what |"
    yield "|---|---|---|---|"
    for key, value in schema["properties"].items():
        default = "**must be given**" if key in required else _default(value)
        yield f"| `{key}` | {_kind(value)} | {default} | {_cell(value.get('description', ''))} |"


def _default(value: Schema) -> str:
    if value.get("default") is None:
        return ""
    return f"`{json.dumps(value['default'], ensure_ascii=False)}`"


def _kind(value: Schema) -> str:
    """Say the type of a value, with links to the parts."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    alternatives = [*_alternatives(value)]
    if alternatives:
        return " or ".join(dict.fromkeys(map(_kind, alternatives)))
    if "const" in value or "enum" in value:
        values = value.get("enum", [value.get("const")])
        return ", ".join(f"`{_cell(str(one))}`" for one in values)
    if value.get("type") == "array":
        inner = value.get("items") or value.get("prefixItems")
        kinds = [_kind(one) for one in (inner if isinstance(inner, list) else [inner or {}])]
        return f"list of {' and '.join(dict.fromkeys(kinds))}{_bounds(value)}"
    if value.get("type") == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"name: {_kind(value['additionalProperties'])}"
    return f"{value.get('type', 'any')}{_bounds(value)}"


def _alternatives(value: Schema) -> Iterator[Schema]:
    """Yield what a choice is made between, also where `schema_choices` writes it as tests; null is none."""
    for several in ("anyOf", "oneOf", "allOf"):
        yield from (one for one in value.get(several, ()) if one.get("type") != "null")
    for one in (value[branch] for branch in ("then", "else") if branch in value):
        if "if" in one:
            yield from _alternatives(one)
        elif {"$ref", "type", "const", "enum", "anyOf"} & {*one}:
            yield one


def _bounds(value: Schema) -> str:
    said = [words.format(value[key]) for key, words in _BOUNDS.items() if key in value]
    return f", {', '.join(said)}" if said else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
