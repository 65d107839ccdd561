"""A key that somebody adds and does not mark is private, binds the tables, and must not lead out."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from anon_pipeline import InputError, Locations, load_policy
from anon_pipeline.policy.fields import LocalPath, Strict
from anon_pipeline.policy.marks import (
    AFTER,
    COUNTED,
    SHOWN,
    Below,
    Fits,
    binding_fields,
    marks_of,
    misfits,
    named_paths,
    public_fields,
    without_paths,
)
from anon_pipeline.policy.model import Policy

ROOT = Path(__file__).resolve().parents[2]


class Inner(Strict):
    shown: Annotated[str, SHOWN] = Field("seen", min_length=1)
    listed: Annotated[tuple[str, ...], COUNTED] = ("a", "b")
    later: Annotated[str, SHOWN, AFTER] = "judged"
    file: Annotated[LocalPath | None, Below("hierarchies")] = None
    forgotten: str = "secret"


class Later(Strict):
    what: Annotated[int, AFTER] = 1


class Outer(Strict):
    name: Annotated[str, SHOWN] = "n"
    inner: Inner = Inner()
    many: dict[str, Inner] = Field(default_factory=dict)
    absent: Inner | None = None
    later: Later = Later()
    never: Later | None = None


def test_an_unmarked_field_is_private() -> None:
    model = Outer(inner=Inner(shown="x", listed=("a",), forgotten="y"), many={"m": Inner(forgotten="z")})
    assert public_fields(model) == {"inner": {"shown": "x", "listed": "(1 values)"}, "many": {"m": {}}}


def test_an_unmarked_field_binds_the_tables() -> None:
    found = binding_fields(Outer())
    assert found["inner"]["forgotten"] == "secret"
    assert "later" not in found["inner"]
    assert "absent" in found  # it could hold what binds
    assert not {"later", "never"} & set(found)


def test_an_unmarked_text_must_not_lead_out() -> None:
    model = Outer(inner=Inner(forgotten="../../key", file="h.csv"), many={"m": Inner(forgotten="/etc/key")})
    named = {one.where: (one.folder, one.path) for one in named_paths(model)}
    assert named == {
        "inner.forgotten": ("sources", "../../key"),
        "inner.file": ("hierarchies", "h.csv"),
        "many.m.forgotten": ("sources", "/etc/key"),
    }


def test_confine_asks_every_path(tmp_path: Path) -> None:
    class Stranger(Policy):
        forgotten: str = "fine"

    document = load_policy(ROOT / "assets/releases/patients/defs.yaml").model_dump(mode="json")
    folders = Locations(tmp_path, tmp_path, tmp_path, tmp_path)
    folders.confine(Stranger.model_validate({**document, "forgotten": "below/it"}))
    with pytest.raises(InputError, match="forgotten: must stay within the folder of sources"):
        folders.confine(Stranger.model_validate({**document, "forgotten": "../out"}))


def _models(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    if model in seen:
        return
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        for below in _within(field.annotation):
            yield from _models(below, seen)


def _within(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _within(part)


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
        "Deidentify.key_file": "sources",
        "Sign.key_file": "sources",
        "PopulationLimits.path": "sources",
        "Table.table": "hierarchies",
        "Publish.to": "releases",
    }
    assert not any(marks.shown == "whole" for marks in found.values())


def test_what_binds_and_what_is_public_of_a_whole_policy() -> None:
    """All sections by name, so that whoever adds one decides this here."""
    policy = load_policy(ROOT / "assets/releases/patients/defs.yaml")
    assert set(binding_fields(policy)) == {
        "name", "source", "columns", "deidentify", "record_key", "person", "rows_per_person", "anonymize",
        "perturb", "suppress",
    }  # fmt: skip
    assert set(public_fields(policy)) <= {
        "name", "columns", "record_key", "anonymize", "perturb", "suppress", "gate",
    }  # fmt: skip


def test_every_path_but_those_of_hierarchies_gets_a_stand_in() -> None:
    class Inner(Strict):
        file: Annotated[LocalPath, Below("releases")]
        table: Annotated[LocalPath, Below("hierarchies")]
        unmarked: str = "kept"

    class Outer(Strict):
        own: Annotated[LocalPath | None, Below("sources"), SHOWN] = None
        inner: Inner
        named: dict[str, Inner]

    inner = {"file": "private/a.csv", "table": "b.csv"}
    found = without_paths(Outer.model_validate({"own": "c", "inner": inner, "named": {"x": inner}}), "_there")
    blank = {"file": "_there", "table": "b.csv", "unmarked": "kept"}
    assert found == {"own": "_there", "inner": blank, "named": {"x": blank}}
    assert without_paths(Outer.model_validate({"inner": inner, "named": {}}), "_there") == {
        "inner": blank,
        "named": {},
    }


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
