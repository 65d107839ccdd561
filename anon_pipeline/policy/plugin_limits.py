"""The gate's model with a key for each limit of a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, create_model, model_serializer

from anon_pipeline.base.errors import PluginError
from anon_pipeline.catalog.entries import LimitKey
from anon_pipeline.policy.fields import Strict


def with_limits(gate: type[Strict], keys: Mapping[str, LimitKey]) -> type[Strict]:
    """Return the model of the gate with a key for each limit; the same model where there are none.

    A key that is not set is left out of documents: the digest of a policy that does not use a plugin is what
    it is without the plugin.

    Args:
        keys: of limits, by name.
    Raises:
        PluginError: a field that pydantic cannot make, or that would hide an attribute of every section.
    """
    if not keys:
        return gate
    base: Any = gate

    class Extended(base):
        @model_serializer(mode="wrap")
        def _without_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
            document: dict[str, Any] = handler(self)
            return {name: value for name, value in document.items() if name not in keys or value is not None}

    for key in keys.values():
        if hasattr(gate, key.name):
            raise PluginError(f"the limit {key.name} must have another name: sections of the policy use it.")
        try:
            create_model(gate.__name__, __base__=Strict, **{key.name: (key.field, None)})  # type: ignore[call-overload]
        except Exception as error:  # noqa: BLE001 - pydantic asks the plugin's types, which can raise anything
            wrong = type(error).__name__
        else:
            continue
        raise PluginError(
            f"the limit {key.name} must have a field for pydantic, got {wrong}. Correct the plugin."
        )
    fields: Any = {key.name: (key.field, Field(None, description=key.description)) for key in keys.values()}
    return create_model(
        gate.__name__, __base__=Extended, __module__=gate.__module__, __doc__=gate.__doc__, **fields
    )
