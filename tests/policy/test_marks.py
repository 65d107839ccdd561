"""Where a mark is declared, and what it says of its field."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel

from anon_pipeline.policy.fields import Strict
from anon_pipeline.policy.marks import (
    AFTER,
    LATER,
    OPEN,
    PRIVATE,
    SHOWN,
    TEXT,
    Below,
    Fits,
    Marks,
    field_marks,
    left_out,
    marks_of,
    misfits,
    models_in,
    sections_in,
)
from anon_pipeline.policy.model import Policy


def _models(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    if model in seen:
        return
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        for below in models_in(field.annotation):
            yield from _models(below, seen)


def test_every_path_of_the_policy_says_where_it_must_lie() -> None:
    """A field of type LocalPath without a mark would be confined, but perhaps to the wrong folder."""
    found = {}
    for model in _models(Policy, set()):
        for name, annotation in typing.get_type_hints(model, include_extras=True).items():
            if "_local" in repr(annotation):  # the validator of LocalPath
                found[f"{model.__name__}.{name}"] = marks_of(model.model_fields[name])
    assert {name: marks.folder for name, marks in found.items()} == {
        "CleanColumn.values_file": "hierarchies",
        "Source.path": "sources",
        "DuckdbSource.path": "sources",
        "DeltaSource.path": "sources",
        "Deidentify.key_file": "sources",
        "Sign.key_file": "sources",
        "PopulationLimits.path": "sources",
        "Table.table": "hierarchies",
        "Publish.to": "releases",
        "DeltaDestination.path": "releases",
    }
    assert not any(marks.shown == "whole" for marks in found.values())


def test_a_field_carries_the_rule_of_what_it_needs_of_other_sections() -> None:
    class Inside(Strict):
        other: Annotated[int, Fits(lambda value, sections: [f"needs {value}"] * sections["times"])] = 7

    class Section(Strict):
        below: Inside = Inside()
        named: Annotated[int | None, SHOWN, Fits(lambda value, sections: ["is not"], "columns")] = None

    def found(needs: Any) -> list[str]:
        return list(misfits("section", Section(), {"times": 2}, needs))

    assert found("nothing") == ["section.below.other: needs 7"] * 2
    assert found("columns") == ["section.named: is not"]
    assert found("every column") == []


def test_a_rule_of_a_section_in_a_list_or_mapping_is_asked() -> None:
    class Entry(Strict):
        at_most: Annotated[int, Fits(lambda value, sections: ["is too large"] if value > 1 else [])]

    class Section(Strict):
        listed: tuple[Entry, ...]
        named: dict[str, tuple[Entry, ...]]

    section = Section(
        listed=(Entry(at_most=1), Entry(at_most=2)),
        named={"a": (Entry(at_most=3),)},
    )
    assert list(misfits("section", section, {}, "nothing")) == [
        "section.listed.1.at_most: is too large",
        "section.named.a.0.at_most: is too large",
    ]


def test_sections_are_found_wherever_they_are() -> None:
    class Entry(Strict):
        number: int

    one, two = Entry(number=1), Entry(number=2)
    assert list(sections_in({"a": [one, "text"], "b": {"c": (two,)}}, "here")) == [
        ("here.a.0", one),
        ("here.b.c.0", two),
    ]
    assert list(sections_in(one, "here")) == [("here", one)]
    assert list(sections_in(("text", 1, None, b"x"), "here")) == []


def test_the_stricter_of_two_marks_holds() -> None:
    class Section(Strict):
        shown: Annotated[str, SHOWN] = ""
        after: Annotated[str, SHOWN, AFTER] = ""
        private: Annotated[str, PRIVATE, SHOWN, AFTER] = ""
        text: Annotated[str, TEXT] = ""
        path: Annotated[str, Below("hierarchies")] = ""
        unmarked: str = ""

    of = {name: field_marks(Section, name) for name in Section.model_fields}
    assert of["unmarked"] == Marks() == field_marks(Section, "no field")
    assert of["private"] == Marks(marked=True)  # whatever else is marked
    for marks in of.values():
        assert marks.below(OPEN) == marks
        assert (marks.below(of["private"]).shown, marks.below(of["private"]).binds) == ("not", True)
    assert of["after"].below(of["shown"]).binds and not of["after"].below(of["after"]).binds
    assert of["text"].below(of["after"]).folder is None  # of paths, only what is declared as one says more
    assert of["text"].below(of["path"]).folder == "hierarchies"


def test_what_came_later_is_left_out_where_it_has_its_default() -> None:
    class Section(Strict):
        first: int = 1
        later: Annotated[int, LATER] = 1

    assert [list(left_out(one)) for one in (Section(), Section(later=1), Section(later=2))] == [
        ["later"],
        ["later"],
        [],
    ]
