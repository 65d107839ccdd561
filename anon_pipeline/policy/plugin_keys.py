"""Models of sections with a key for each entry of a table, among them the entries of plugins."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import Field, create_model

from anon_pipeline.base.errors import PluginError
from anon_pipeline.catalog.entries import LimitKey, SourceKind
from anon_pipeline.policy.fields import Strict
from anon_pipeline.policy.marks import LATER


def with_keys(
    section: type[Strict],
    what: str,
    entries: Mapping[str, LimitKey | SourceKind],
    *,
    plugins: Collection[str],
    words: str | None = None,
    first: bool = False,
) -> type[Strict]:
    """Return the model of a section with a key for each entry; the same model where there are none.

    The key of a plugin has the mark `LATER`: the digest of a policy that does not use the plugin is what it
    is without it.

    Args:
        what: the entries are, for messages.
        plugins: names of the entries that are plugins'.
        words: for the JSON Schema, in place of the section's own.
        first: whether the keys come before the section's own, where keys are listed.
    Raises:
        PluginError: a field that pydantic cannot make, or that would hide an attribute of the section.
    """
    if not entries:
        return section
    fields = {name: _field(section, f"the {what} {name}", entries[name]) for name in plugins}
    fields |= {
        name: (one.field, _described_field(one)) for name, one in entries.items() if name not in fields
    }
    ordered: Any = {name: fields[name] for name in entries}
    known: dict[str, Any] = {"__module__": section.__module__, "__doc__": words or section.__doc__}
    if first:
        keys = create_model(section.__name__, __base__=Strict, **ordered)
        return create_model(section.__name__, __base__=(section, keys), **known)
    return create_model(section.__name__, __base__=section, **known, **ordered)


def _described_field(entry: LimitKey | SourceKind) -> Any:
    return Field(None, description=entry.description)


def _field(section: type[Strict], what: str, entry: LimitKey | SourceKind) -> tuple[Any, Any]:
    """Return the field of a plugin's entry, which is tried in a section of its own first."""
    if hasattr(section, entry.name):
        raise PluginError(f"{what} must have another name: sections of the policy use it.")
    try:
        field = (Annotated[entry.field, LATER], _described_field(entry))
        tried: Any = {entry.name: field}
        create_model(section.__name__, __base__=Strict, **tried)
    except Exception as error:  # noqa: BLE001 - pydantic asks the plugin's types, which can raise anything
        wrong = type(error).__name__
    else:
        return field
    raise PluginError(f"{what} must have a field for pydantic, got {wrong}. Correct the plugin.")
