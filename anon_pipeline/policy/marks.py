"""Marks of policy fields: which are paths, which may be public, which do not influence the private tables.

A mark is part of the field's declaration, within ``Annotated``. A field without marks gets the strictest
treatment: the public report does not show it, tables that were made with another value of it are refused, and
a text in it that could be a path must stay within the folder of sources. So a new key whose marks were
forgotten is neither published nor ignored, and cannot point outside of the project.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from pydantic import BaseModel
from pydantic.fields import FieldInfo

Folder = Literal["sources", "hierarchies", "releases"]
_M = TypeVar("_M")


@dataclass(frozen=True, slots=True)
class _Shown:
    """The field may be public: as it is, or as the number of its values."""

    counted: bool


@dataclass(frozen=True, slots=True)
class _After:
    """The field decides nothing of the private tables: it is used after them."""


@dataclass(frozen=True, slots=True)
class _Text:
    """The text is never used as a path."""


@dataclass(frozen=True, slots=True)
class Below:
    """The field is a path, which must stay below a folder of the deployment.

    folder: one of `Locations`.
    """

    folder: Folder


@dataclass(frozen=True, slots=True)
class Names:
    """The keys of the field are names of columns.

    role: that these columns must have.
    """

    role: Literal["sensitive", "generalize"]


@dataclass(frozen=True, slots=True)
class _Noisy:
    """The field needs a perturb column with numbers."""


Needs = Literal["columns", "every column", "nothing"]
"""What must have been parsed before a rule can be asked: the mapping of columns, every one of them."""


@dataclass(frozen=True, slots=True)
class Fits:
    """The field must fit other sections of the policy.

    broken: from its value and the parsed sections to what is wrong, without the name of the field.
    needs: what must have been parsed; a section that did not parse is absent, a column is None.
    """

    broken: Callable[[Any, Mapping[str, Any]], Iterable[str]]
    needs: Needs = "nothing"


@dataclass(frozen=True, slots=True)
class BeforeMaking:
    """The field must fit the policy where a release is made; one that is out is verified all the same.

    broken: place of the function from its value and the policy to what is wrong, without the name of the
        field and without a full stop at the end.
    """

    broken: str


NEEDS_NOISE = _Noisy()
SHOWN, COUNTED, AFTER, TEXT = _Shown(counted=False), _Shown(counted=True), _After(), _Text()


@dataclass(frozen=True, slots=True)
class Marks:
    """What is marked of one field.

    shown: what the public report has of it.
    binds: whether it decides what the private tables are.
    folder: that a text of it must stay below, as a path; None: it is no path.
    is_path: whether it is declared as a path, and not only treated as one.
    marked: whether anything is marked at all.
    """

    shown: Literal["not", "counted", "whole"] = "not"
    binds: bool = True
    folder: Folder | None = "sources"
    is_path: bool = False
    marked: bool = False


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


@cache
def field_marks(model: type[BaseModel], name: str) -> Marks:
    """Return the marks of a model's field; a walk over a policy asks for some hundred of them."""
    return marks_of(model.model_fields[name])


def marks_of(field: FieldInfo) -> Marks:
    """Return the marks of a field; the strictest where it has none."""
    found = [mark for mark in field.metadata if isinstance(mark, (_Shown, _After, _Text, Below))]
    shown = next((mark for mark in found if isinstance(mark, _Shown)), None)
    below = next((mark for mark in found if isinstance(mark, Below)), None)
    no_path = below is None and (shown is not None or TEXT in found)
    folder: Folder | None = "sources" if below is None else below.folder
    return Marks(
        "not" if shown is None else "counted" if shown.counted else "whole",
        AFTER not in found,
        None if no_path else folder,
        below is not None,
        bool(found),
    )


def named_columns(model: BaseModel) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the fields of a section that name columns: field, the role they must have, the names."""
    for name, field in type(model).model_fields.items():
        for mark in field.metadata:
            if isinstance(mark, Names):
                yield name, mark.role, list(getattr(model, name) or ())


def needs_noise(model: BaseModel) -> list[str]:
    """Name the fields of a section that are set and need a perturb column with numbers."""
    marked = [name for name, field in type(model).model_fields.items() if NEEDS_NOISE in field.metadata]
    return [name for name in marked if getattr(model, name) is not None]


def misfits(where: str, model: BaseModel, sections: Mapping[str, Any], needs: Needs) -> Iterator[str]:
    """Yield which fields of a section, and of the sections in it, do not fit other sections, by `Fits`."""
    for here, value, mark in marked_values(where, model, Fits):
        if mark.needs == needs:
            yield from (f"{here}: {problem}" for problem in mark.broken(value, sections))


def marked_values(where: str, model: BaseModel, kind: type[_M]) -> Iterator[tuple[str, Any, _M]]:
    """Yield the fields of a section, and of the sections in it, that have a mark: key, value, mark."""
    for name, field in type(model).model_fields.items():
        here, value = f"{where}.{name}", getattr(model, name)
        yield from ((here, value, mark) for mark in field.metadata if isinstance(mark, kind))
        if isinstance(value, BaseModel):
            yield from marked_values(here, value, kind)


def public_fields(
    policy: BaseModel, *, defaults: bool = False, counted: Callable[[Any], Any] | None = None
) -> dict[str, Any]:
    """Return what may be public of a policy.

    Args:
        defaults: whether to spell out what was left to its default.
        counted: what takes the place of a value that is marked as counted. None: a remark for people, of a
            list how many values it has.
    """

    def shown(marks: Marks, value: Any) -> Any:
        if marks.shown != "counted":
            return value if marks.shown == "whole" else _NOTHING
        return None if value is None else (counted or _remark)(value)

    document = policy.model_dump(mode="json", exclude_defaults=not defaults)
    found: dict[str, Any] = _walked(policy, document, shown)
    return found


def _remark(value: Any) -> str:
    return f"({len(value)} values)" if isinstance(value, list) else "(not shown here)"


def binding_fields(policy: BaseModel) -> dict[str, Any]:
    """Return what decides the private tables that are made by a policy."""
    found: dict[str, Any] = _walked(
        policy, policy.model_dump(mode="json"), lambda marks, value: value if marks.binds else _NOTHING
    )
    return found


def without_paths(model: BaseModel, stand_in: str) -> dict[str, Any]:
    """Return the document of a section, a stand-in for each path but those of hierarchy tables."""

    def shown(marks: Marks, value: Any) -> Any:
        return stand_in if marks.is_path and marks.folder != "hierarchies" else value

    found: dict[str, Any] = _walked(model, model.model_dump(mode="json", exclude_none=True), shown)
    return found


def named_paths(policy: BaseModel) -> Iterator[Named]:
    """Yield every path that a policy names, and every unmarked text, which could be one."""
    yield from _paths(policy, ())


class _Nothing:
    """Stands for a value that is left out."""


_NOTHING = _Nothing()
_Keeps = Callable[[Marks, Any], Any]


def _walked(model: BaseModel, document: Mapping[str, Any], keeps: _Keeps) -> Any:
    """Return the part of a document that marks let through; a section of which nothing is left is dropped."""
    found = {}
    for name, value in document.items():
        field = type(model).model_fields[name]
        kept = _kept(field, field_marks(type(model), name), getattr(model, name), value, keeps)
        if not isinstance(kept, _Nothing):
            found[name] = kept
    return found if found or not document else _NOTHING


def _kept(field: FieldInfo, marks: Marks, held: Any, value: Any, keeps: _Keeps) -> Any:
    if isinstance(held, BaseModel) and not marks.marked:
        return _walked(held, value, keeps)
    if _holds_models(held) and not marks.marked:
        walked = {key: _walked(held[key], below, keeps) for key, below in value.items()}
        return {key: {} if isinstance(below, _Nothing) else below for key, below in walked.items()}
    below = models_in(field.annotation)
    if held is None and below and not marks.marked:  # kept if any field of what is not there would be
        return value if any(_lets(model, keeps) for model in below) else _NOTHING
    return keeps(marks, value)


def _lets(model: type[BaseModel], keeps: _Keeps) -> bool:
    """Tell whether a section would have anything that is let through."""
    return any(not isinstance(keeps(field_marks(model, name), None), _Nothing) for name in model.model_fields)


def _holds_models(held: Any) -> bool:
    return (
        isinstance(held, Mapping) and bool(held) and all(isinstance(one, BaseModel) for one in held.values())
    )


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that an annotation is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in models_in(part)]


def _paths(model: BaseModel, where: tuple[str, ...]) -> Iterator[Named]:
    for name in type(model).model_fields:
        held, here, marks = getattr(model, name), (*where, name), field_marks(type(model), name)
        if isinstance(held, BaseModel):
            yield from _paths(held, here)
        elif _holds_models(held):
            for key, below in held.items():
                yield from _paths(below, (*here, key))
        elif marks.folder is not None:
            for text in _texts_in(held):
                yield Named(".".join(here), marks.folder, text)


def _texts_in(held: Any) -> Iterator[str]:
    if isinstance(held, str):
        yield held
    elif isinstance(held, Mapping):
        for value in held.values():
            yield from _texts_in(value)
    elif isinstance(held, (list, tuple)):
        for value in held:
            yield from _texts_in(value)
