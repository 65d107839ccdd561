"""Which fields a place of a policy has, by the models: what may be written where a mistake is."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, Tag
from pydantic.fields import FieldInfo

Place = tuple[int | str, ...]


def fields_at(model: type[BaseModel], place: Place) -> dict[str, FieldInfo]:
    """Return the fields of the section at a place; empty where there is no section, or several kinds of one.

    Args:
        place: as pydantic says it: keys, names of columns, positions in lists, tags of unions.

    >>> from anon_pipeline.policy.model import Policy
    >>> list(fields_at(Policy, ("budget",)))
    ['epsilon', 'per', 'window']
    """
    found = _models(_at(model, place))
    return dict(found[0].model_fields) if len(found) == 1 else {}


def choices_at(model: type[BaseModel], place: Place) -> list[Any]:
    """Return what a field may be, where it must be one of a few names."""
    return list(dict.fromkeys(_choices(_at(model, place))))


def is_mapping_of_numbers(model: type[BaseModel], place: Place) -> bool:
    """Tell whether a field takes a mapping from columns to numbers."""
    kinds = [
        typing.get_args(one)[1] for one in _bare(_at(model, place)) if typing.get_origin(one) is not None
    ]
    return any(number in (int, float) for kind in kinds for number in _bare(kind))


def _at(annotation: Any, place: Place) -> Any:
    for part in place:
        annotation = typing.Union[tuple(_below(annotation, part)) or (type(None),)]  # noqa: UP007
    return annotation


def _below(annotation: Any, part: int | str) -> Iterator[Any]:
    """Yield what stands below an annotation: at a key, at a position, or under a tag of a union."""
    for one in _tagged_member(annotation, part):
        yield one
        return
    for one in _bare(annotation):
        if isinstance(one, type) and issubclass(one, BaseModel):
            if part in one.model_fields:
                yield one.model_fields[str(part)].annotation
        elif (arguments := typing.get_args(one)) and typing.get_origin(one) is not Literal:
            yield arguments[-1] if issubclass(typing.get_origin(one), Mapping) else arguments[0]


def _tagged_member(annotation: Any, part: int | str) -> Iterator[Any]:
    """Yield the member of a union that has a tag."""
    marks = getattr(annotation, "__metadata__", ())
    if any(isinstance(mark, Tag) and mark.tag == part for mark in marks):
        yield typing.get_args(annotation)[0]
    elif _is_choice(annotation):
        for member in typing.get_args(annotation):
            yield from _tagged_member(member, part)


def _bare(annotation: Any) -> Iterator[Any]:
    """Yield what an annotation is made of, without its marks, and each of several."""
    if _is_choice(annotation):
        marked = hasattr(annotation, "__metadata__")
        for member in typing.get_args(annotation)[: 1 if marked else None]:
            yield from _bare(member)
    else:
        yield annotation


def _is_choice(annotation: Any) -> bool:
    origin = typing.get_origin(annotation)
    return (
        hasattr(annotation, "__metadata__") or origin is typing.Union or str(origin).endswith("UnionType'>")
    )


def _models(annotation: Any) -> list[type[BaseModel]]:
    return [one for one in _bare(annotation) if isinstance(one, type) and issubclass(one, BaseModel)]


def _choices(annotation: Any) -> Iterator[Any]:
    for one in _bare(annotation):
        if typing.get_origin(one) is Literal:
            yield from typing.get_args(one)
