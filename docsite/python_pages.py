"""The reference of the Python package: every public name, from signatures and docstrings, read by Griffe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

import griffe

import anon_pipeline

__all__ = ["python_page"]

_HEAD: Final = """# Python
The public names of `anon_pipeline`. Examples: [in a notebook](usage.md#in-a-notebook),
[in a suite of tests](ci.md).

"""
_SECTION: Final = re.compile(r"\n(?=(?:Args|Returns|Raises|Source|Yields):\n)")


def python_page() -> str:
    """Return the page: a section for each name of ``anon_pipeline.__all__``, classes with their members."""
    package = griffe.load("anon_pipeline", allow_inspection=False)
    lines: list[str] = []
    for name in anon_pipeline.__all__:
        home = import_module("anon_pipeline").__dict__["_HOMES"][name]
        found: Any = package[f"{home}.{name}"]
        found = found.final_target if found.is_alias else found
        lines += [f"## {name}", f"`{found.path}`", "", *_described(found, name)]
        if found.is_class and found.docstring and not found.path.startswith("anon_pipeline.policy.model"):
            for member in _methods(found):
                lines += [f"### {name}.{member.name}", *_described(member, member.name)]
    return _HEAD + "\n".join(lines)


def _methods(found: Any) -> Iterator[Any]:
    """Yield the public methods and properties of a class that have a docstring."""
    for member in found.members.values():
        plain = not member.name.startswith("_") and not member.is_alias
        if plain and member.docstring and (member.is_function or member.has_labels("property")):
            yield member


def _described(found: Any, name: str) -> Iterator[str]:
    if found.is_function:
        returns = f" -> {found.returns}" if found.returns else ""
        parameters = ", ".join(_parameter(one) for one in _shown(found))
        yield from ("```python", f"{name}({parameters}){returns}", "```", "")
    if found.docstring:
        value = _SECTION.sub("\n\n", found.docstring.value)
        for section in griffe.Docstring(value, parent=found).parse(
            "google", returns_named_value=False, warnings=False
        ):
            yield from _section(section)
            yield ""


def _shown(found: Any) -> Iterator[Any]:
    for one in found.parameters:
        if one.name not in {"self", "cls"}:
            yield one


def _parameter(one: Any) -> str:
    default = "" if one.default is None or one.kind.name.startswith("var") else f" = {one.default}"
    stars = {"var_positional": "*", "var_keyword": "**"}.get(one.kind.name, "")
    kind = f": {one.annotation}" if one.annotation else ""
    return f"{stars}{one.name}{kind}{default}"


def _section(section: Any) -> Iterator[str]:
    kind, value = section.kind.value, section.value
    if kind == "text":
        yield re.sub(r"(?m)^(\w+): (?=\S)", r"* `\1`: ", value).replace("\n* ", "\n\n* ", 1)
    elif kind == "parameters":
        yield from (f"* `{one.name}`: {_flat(one.description)}" for one in value)
    elif kind == "raises":
        yield from (f"* raises `{one.annotation}`: {_flat(one.description)}" for one in value)
    elif kind in {"returns", "yields"}:
        yield from (f"Returns: {_flat(one.description)}" for one in value)
    elif kind == "examples":
        yield from ("```python", *(text for _, text in value), "```")
    elif kind == "admonition":
        yield f"{value.kind.capitalize()}: {_flat(value.description)}"


def _flat(text: str) -> str:
    return " ".join(text.split())
