"""The gate's model with a key for each limit of a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, create_model

from anon_pipeline.base.errors import PluginError
from anon_pipeline.catalog.entries import LimitKey
from anon_pipeline.policy.fields import Strict
from anon_pipeline.policy.marks import LATER


def with_limits(gate: type[Strict], keys: Mapping[str, LimitKey]) -> type[Strict]:
    """Return the model of the gate with a key for each limit; the same model where there are none.

    Each key has the mark `LATER`: the digest of a policy that does not use a plugin is what it is without it.

    Args:
        keys: of limits, by name.
    Raises:
        PluginError: a field that pydantic cannot make, or that would hide an attribute of every section.
    """
    if not keys:
        return gate
    fields: dict[str, Any] = {}
    for key in keys.values():
        if hasattr(gate, key.name):
            raise PluginError(f"the limit {key.name} must have another name: sections of the policy use it.")
        try:
            fields[key.name] = (Annotated[key.field, LATER], Field(None, description=key.description))
            create_model(gate.__name__, __base__=Strict, **{key.name: fields[key.name]})
        except Exception as error:  # noqa: BLE001 - pydantic asks the plugin's types, which can raise anything
            wrong = type(error).__name__
        else:
            continue
        raise PluginError(
            f"the limit {key.name} must have a field for pydantic, got {wrong}. Correct the plugin."
        )
    return create_model(
        gate.__name__, __base__=gate, __module__=gate.__module__, __doc__=gate.__doc__, **fields
    )
