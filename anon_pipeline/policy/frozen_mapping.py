"""A mapping that cannot be changed, for the models of a policy: frozen models alone would not freeze it.

Decision: docs/adr/0013-what-was-published-in-columns-facts-by-rule.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, PlainSerializer, SerializerFunctionWrapHandler, WrapSerializer

_V = TypeVar("_V")


class FrozenMapping(Mapping[str, _V]):
    """A mapping of texts, in the order given, that nobody can change; equal to any mapping of equal items."""

    __slots__ = ("_items",)
    _items: Mapping[str, _V]

    def __init__(self, items: Mapping[str, _V] = MappingProxyType({})) -> None:
        object.__setattr__(self, "_items", MappingProxyType(dict(items)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a frozen mapping cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a frozen mapping cannot be changed")

    def __getitem__(self, key: str) -> _V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        """Look like the mapping that was given."""
        return repr(dict(self._items))

    def __reduce__(self) -> tuple[type[FrozenMapping[_V]], tuple[dict[str, _V]]]:
        """Pickle and copy as what it is made of."""
        return FrozenMapping, (dict(self._items),)


def freeze(value: Any) -> Any:
    """Return a value with all mappings and lists in it made unchangeable."""
    if isinstance(value, Mapping):
        return FrozenMapping({key: freeze(below) for key, below in value.items()})
    if isinstance(value, (list, tuple)):
        return tuple(freeze(below) for below in value)
    return value


def thaw(value: Any) -> Any:
    """Return the mappings and lists that `freeze` was given."""
    if isinstance(value, Mapping):
        return {key: thaw(below) for key, below in value.items()}
    if isinstance(value, tuple):
        return [thaw(below) for below in value]
    return value


def _as_dict(value: Mapping[str, Any], handler: SerializerFunctionWrapHandler) -> Any:
    return handler(dict(value))


Keyed = Annotated[Mapping[str, _V], AfterValidator(FrozenMapping), WrapSerializer(_as_dict)]
"""Field of a model: a mapping from texts to values of one type, frozen."""

FrozenTree = Annotated[Mapping[str, Any], AfterValidator(freeze), PlainSerializer(thaw)]
"""Field of a model: nested mappings and lists, frozen on every level."""
