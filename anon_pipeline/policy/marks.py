"""Marks of policy fields: which are paths, which may be public, which do not influence the private tables.

A mark is part of the field's declaration, within ``Annotated``. A field without marks gets the strictest
treatment: the public report does not show it, tables that were made with another value of it are refused, and
a text in it that could be a path must stay within the folder of sources. So a new key whose marks were
forgotten is neither published nor ignored, and cannot point outside of the project.

A field that holds sections may have marks, too. They are a ceiling for what is below and never a floor: a
field in such a section that has no marks of its own gets the strictest treatment all the same, see
`policy.walks`. Decisions: docs/adr/0040-kinds-are-entries.md, docs/adr/0063-a-new-key-changes-no-digest.md.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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
class _Private:
    """The field is neither public nor without influence, as one without marks; nor is anything below it."""


@dataclass(frozen=True, slots=True)
class Later:
    """The key came after releases were made: documents leave it out where it has its default.

    So the digest of a policy without the key stays what it was. Every field that is declared from now on has
    it; one without would change the digests of all policies.

    beside: a field of the same section that was added with it; both are left out together.
    """

    beside: str | None = None


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
LATER, PRIVATE = Later(), _Private()


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

    def below(self, above: Marks) -> Marks:
        """Return the marks of a field in a section of a field with other marks: the stricter of both."""
        return Marks(
            min(self.shown, above.shown, key=_STRICTEST_FIRST.index),
            self.binds or above.binds,
            above.folder if above.is_path and not self.is_path else self.folder,
            self.is_path or above.is_path,
            self.marked,
        )


_STRICTEST_FIRST = ("not", "counted", "whole")
OPEN = Marks("whole", binds=False, folder=None)
"""What is above the fields of a whole policy: nothing that makes them stricter than they are."""


@cache
def field_marks(model: type[BaseModel], name: str) -> Marks:
    """Return the marks of a model's field; the strictest of a key that is none of its fields."""
    field = model.model_fields.get(name)  # a walk over a policy asks for some hundred of them
    return Marks() if field is None else marks_of(field)


def marks_of(field: FieldInfo) -> Marks:
    """Return the marks of a field; the strictest where it has none."""
    found = [mark for mark in field.metadata if isinstance(mark, _TREATED)]
    private = PRIVATE in found
    shown = None if private else next((mark for mark in found if isinstance(mark, _Shown)), None)
    below = next((mark for mark in found if isinstance(mark, Below)), None)
    no_path = below is None and (shown is not None or TEXT in found)
    folder: Folder | None = "sources" if below is None else below.folder
    return Marks(
        "not" if shown is None else "counted" if shown.counted else "whole",
        private or AFTER not in found,
        None if no_path else folder,
        below is not None,
        bool(found),
    )


_TREATED = (_Shown, _After, _Text, _Private, Below)


def left_out(model: BaseModel) -> Iterator[str]:
    """Yield the fields that documents of a section leave out: they came later, and have their default."""
    for name, beside in _later(type(model)):
        own = (name,) if beside is None else (name, beside)
        if all(getattr(model, one) == _default(type(model), one) for one in own):
            yield name


@cache
def _later(model: type[BaseModel]) -> tuple[tuple[str, str | None], ...]:
    return tuple(
        (name, mark.beside)
        for name, field in model.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, Later)
    )


@cache
def _default(model: type[BaseModel], name: str) -> Any:
    return model.model_fields[name].get_default(call_default_factory=True)


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
        for place, below in sections_in(value, here):
            yield from marked_values(place, below, kind)


def sections_in(value: Any, where: str) -> Iterator[tuple[str, BaseModel]]:
    """Yield the sections that a value is or holds, in lists and mappings, with their places.

    Args:
        where: place of the value.
    """
    if value is None or isinstance(value, (str, int, float)):  # most are; the others are asked for longer
        return
    if isinstance(value, BaseModel):
        yield where, value
    elif isinstance(value, Mapping):
        for key, below in value.items():
            yield from sections_in(below, f"{where}.{key}")
    elif is_list(value):
        for place, below in enumerate(value):
            yield from sections_in(below, f"{where}.{place}")


def is_list(value: Any) -> bool:
    """Tell whether a value is a list of any kind: neither a text nor a mapping."""
    return isinstance(value, Collection) and not isinstance(value, (str, bytes, bytearray, Mapping))


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that an annotation is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in models_in(part)]
