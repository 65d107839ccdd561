"""What marks say of a whole policy: what is public of it, what binds the private tables, the paths in it.

A section without marks of its own is what its fields are. The marks of a field that holds sections, one or
many, are a ceiling for all that is below it: nothing there is less strict. A list or a mapping is a value of
its own in addition to the sections in it: its keys and texts are as private, binding and confined as its
    field.
"""

from __future__ import annotations

import os
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from enum import Enum
from numbers import Number
from typing import Any

from pydantic import BaseModel

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy.marks import OPEN, Folder, Marks, field_marks, is_list, sections_in


@dataclass(frozen=True, slots=True)
class Named:
    """A path that a policy names.

    where: key of the policy, such as ``columns.age.hierarchy.table``.
    folder: that it is relative to.
    path: as the policy has it.
    """

    where: str
    folder: Folder
    path: str


def public_fields(
    policy: BaseModel, *, defaults: bool = False, counted: Callable[[Any], Any] | None = None
) -> dict[str, Any]:
    """Return what may be public of a policy.

    Args:
        defaults: whether to spell out what was left to its default.
        counted: what takes the place of a value that is marked as counted. None: a remark for people, of a
            list how many values it has.
    """

    def public_value(marks: Marks, value: Any) -> Any:
        """Return what may be shown of a field, or that nothing may."""
        if marks.shown != "counted":
            return value if marks.shown == "whole" else _NOTHING
        return None if value is None else (counted or _remark)(value)

    return _document(policy, policy.model_dump(mode="json", exclude_defaults=not defaults), public_value)


def _remark(value: Any) -> str:
    return f"({len(value)} values)" if isinstance(value, list) else "(not shown here)"


def binding_fields(policy: BaseModel) -> dict[str, Any]:
    """Return what decides the private tables that are made by a policy."""

    def binding_value(marks: Marks, value: Any) -> Any:
        """Return a field that decides private tables, or nothing."""
        return value if marks.binds else _NOTHING

    return _document(policy, policy.model_dump(mode="json"), binding_value)


def without_paths(model: BaseModel, stand_in: str) -> dict[str, Any]:
    """Return the document of a section, a stand-in for each path but those of hierarchy tables."""

    def pathless_value(marks: Marks, value: Any) -> Any:
        """Return a field, or the stand-in where it is a path."""
        return stand_in if marks.is_path and marks.folder != "hierarchies" else value

    return _document(model, model.model_dump(mode="json", exclude_none=True), pathless_value)


def named_paths(policy: BaseModel) -> Iterator[Named]:
    """Yield every path that a policy names, and every unmarked text, which could be one.

    Raises:
        PolicyError: a value that may or may not be a path.
    """
    yield from _paths_of(policy, (), OPEN)


class _Nothing:
    """Stands for a value that is left out."""


_NOTHING = _Nothing()
_Keeps = Callable[[Marks, Any], Any]
"""What is kept of a value with marks: the value, what takes its place, or `_NOTHING`."""


def _document(model: BaseModel, document: Mapping[str, Any], keeps: _Keeps) -> dict[str, Any]:
    found = _section(model, document, keeps, OPEN)
    return {} if isinstance(found, _Nothing) else found


def _section(model: BaseModel, document: Mapping[str, Any], keeps: _Keeps, above: Marks) -> Any:
    """Return the part of a section's document that marks let through; nothing where nothing is left."""
    found = {}
    for name, value in document.items():
        marks, held = field_marks(type(model), name), getattr(model, name)
        kept = _absent(model, name, keeps, above) if held is None else _keep(marks, held, value, keeps, above)
        if not isinstance(kept, _Nothing):
            found[name] = kept
    return found or _NOTHING


def _keep(marks: Marks, held: Any, value: Any, keeps: _Keeps, above: Marks) -> Any:
    """Return what is kept of a value.

    Args:
        marks: of its field.
        held: the value in the model; `value` is what its document has.
        above: marks of the fields that it is in.
    """
    here, section = marks.below(above), isinstance(held, BaseModel)
    own = value if section and not marks.marked else keeps(here, value)
    if own is not value and not isinstance(own, _Nothing):
        return own  # another value is in its place
    if section:
        return _section(held, value, keeps, here if marks.marked else above)
    if next(sections_in(held, ""), None) is None:
        return own
    inside = above if marks.marked else replace(above, shown="not")  # its keys and length are not public
    return _many(
        held, value, isinstance(own, _Nothing), lambda one, its: _keep(marks, one, its, keeps, inside)
    )


def _many(held: Any, value: Any, sparse: bool, kept: Callable[[Any, Any], Any]) -> Any:
    """Return what is kept of a list or mapping with sections in it.

    Args:
        sparse: whether entries of which nothing is kept are left out; else an empty section stands for each.
    """
    if isinstance(held, Mapping):
        mapped = {
            key: kept(one, below) for one, (key, below) in zip(held.values(), value.items(), strict=True)
        }
        left = {key: below for key, below in mapped.items() if not isinstance(below, _Nothing)}
        return (left or _NOTHING) if sparse else {key: left.get(key, {}) for key in mapped}
    listed = [kept(one, below) for one, below in zip(held, value, strict=True)]
    if sparse and all(isinstance(one, _Nothing) for one in listed):
        return _NOTHING
    return [{} if isinstance(one, _Nothing) else one for one in listed]


def _absent(model: BaseModel, name: str, keeps: _Keeps, above: Marks) -> Any:
    """Return what is kept of a value that is not set: of a section None, if any field of it would be kept."""
    marks, field = field_marks(type(model), name), type(model).model_fields.get(name)
    here = marks.below(above)
    sections = [] if field is None else _sections_of(field.annotation)
    if marks.marked or not sections:
        own = keeps(here, None)
        if not (isinstance(own, _Nothing) and sections):
            return own
    inside = here if marks.marked else above
    return None if any(_lets(section, keeps, inside) for section in sections) else _NOTHING


def _sections_of(annotation: Any) -> list[type[BaseModel]]:
    """Return the sections that a value may be, not those that it may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    choice = typing.get_origin(annotation) in (typing.Union, types.UnionType, typing.Annotated)
    parts = typing.get_args(annotation) if choice else ()
    return [model for part in parts for model in _sections_of(part)]


def _lets(section: type[BaseModel], keeps: _Keeps, above: Marks) -> bool:
    """Tell whether a section would have anything that is let through."""
    marks = (field_marks(section, name).below(above) for name in section.model_fields)
    return any(not isinstance(keeps(one, None), _Nothing) for one in marks)


def _paths_of(model: BaseModel, where: tuple[str, ...], above: Marks) -> Iterator[Named]:
    for name in (*type(model).model_fields, *(model.model_extra or ())):
        yield from _paths_in(getattr(model, name), (*where, name), field_marks(type(model), name), above)


def _paths_in(held: Any, where: tuple[str, ...], marks: Marks, above: Marks) -> Iterator[Named]:
    """Yield the paths of a field's value: its own texts, and what the sections in it name."""
    here = marks.below(above)
    if (folder := here.folder) is not None:
        yield from (Named(".".join(where), folder, text) for text in _texts_in(held, where))
    inside = here if marks.marked else above
    for place, section in sections_in(held, ".".join(where)):
        yield from _paths_of(section, (place,), inside)


_NO_TEXT = (type(None), Number, date, time, timedelta, BaseModel)  # what cannot be a path; or says it itself


def _texts_in(held: Any, where: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts of a value but those of sections in it."""
    if isinstance(held, Enum):
        held = held.value
    if isinstance(held, str):
        yield held
    elif isinstance(held, (bytes, os.PathLike)):
        yield os.fsdecode(held)
    elif isinstance(held, Mapping):
        for key, below in held.items():
            yield from _texts_in(key, where)
            yield from _texts_in(below, where)
    elif is_list(held):
        for below in held:
            yield from _texts_in(below, where)
    elif not isinstance(held, _NO_TEXT):
        raise PolicyError(
            f"{'.'.join(where)}: must hold texts, numbers, dates, lists, mappings or sections, got "
            f"{type(held).__name__}, which may hold a path. Mark its field."
        )
